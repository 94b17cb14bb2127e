"""Reads a policy file as `Policies`; an error has the line.

The file is YAML with three optional sections::

    attributes: {role: string, permissions: strings}     # what conditions may ask of `user`
    input:                                               # before the tool runs
      - tools: [delete_customer]                         # names, or `all`
        action: hide                                     # or deny
        condition: user.role != 'admin'                  # CEL over user and (deny only) args
        reason: Only an administrator may delete a customer.
    output:                                              # on its result
      - tools: all
        action: filter_fields                            # or mask_fields, deny
        fields: [email, phone]
        condition: user.role != 'admin'                  # CEL over user, args and result

Everything is checked against the server's tools before the first request: unknown keys, tools,
fields, arguments and attributes, CEL syntax, and whether a result without its filtered or with its
masked fields still obeys the tool's output schema.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, cast, get_args

import yaml

from .errors import CannotStart
from .policy import Action, AttributeType, Condition, Policies, Rule
from .shapes import ToolShape

_SECTIONS = ("attributes", "input", "output")
_KEYS = ("tools", "action", "condition", "reason", "fields")
_ACTIONS: Mapping[str, tuple[Action, ...]] = {
    "input": ("deny", "hide"),
    "output": ("deny", "filter_fields", "mask_fields"),
}
_UNAVAILABLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("input", "hide"): ("args", "result"),
    ("input", "deny"): ("result",),
}
"""(section, action) → variables that do not exist yet when such a condition is asked."""

_STRING_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_MEMBER = re.compile(r"\b(user|args)\s*\.\s*(\w+)")


class PolicyError(CannotStart):
    """A policy file that cannot be used; its text names file and line."""


def load_policies(path: Path, tools: Mapping[str, ToolShape]) -> Policies:
    """Read the policy file at ``path`` for a server that offers ``tools``.

    An empty file holds no rules.

    Raises:
        PolicyError: it cannot be read or means something that the server does not have.
    """
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: the policy file cannot be read: {error}") from error
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise PolicyError(f"{path}{line}: not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise PolicyError(f"{path}: not YAML: {error}") from error
    except RecursionError as error:
        raise PolicyError(f"{path}: the policy file nests too deeply") from error
    return _Reader(path, tools).policies(root)


class _Reader:
    def __init__(self, path: Path, tools: Mapping[str, ToolShape]) -> None:
        self._path = path
        self._tools = tools
        self._attributes: dict[str, AttributeType] = {}

    def policies(self, root: yaml.Node | None) -> Policies:
        if root is None or (isinstance(root, yaml.ScalarNode) and root.value == ""):
            return Policies()
        sections = self._mapping(root, _SECTIONS, "the policy file")
        if "attributes" in sections:
            self._attributes = self._read_attributes(sections["attributes"])
        rules = {
            side: tuple(self._rule(node, side) for node in self._list(sections[side], side))
            for side in ("input", "output")
            if side in sections
        }
        return Policies(
            attributes=self._attributes,
            input=rules.get("input", ()),
            output=rules.get("output", ()),
        )

    def _read_attributes(self, node: yaml.Node) -> dict[str, AttributeType]:
        return {
            name: cast("AttributeType", self._one_of(kind, get_args(AttributeType), "type"))
            for name, kind in self._mapping(node, None, "attributes").items()
        }

    def _rule(self, node: yaml.Node, side: str) -> Rule:
        parts = self._mapping(node, _KEYS, "a rule")
        for key in ("tools", "action", "condition"):
            if key not in parts:
                self._fail(node, f"a rule needs {key!r}")
        action = cast(
            "Action", self._one_of(parts["action"], _ACTIONS[side], f"action of an {side} rule")
        )
        redacts = action in ("filter_fields", "mask_fields")
        if redacts != ("fields" in parts):
            self._fail(
                node, f"a rule with action {action!r} {'needs' if redacts else 'takes no'} 'fields'"
            )
        if redacts == ("reason" in parts):
            self._fail(
                node,
                f"a rule with action {action!r} {'takes no' if redacts else 'needs a'} 'reason'",
            )
        tools = self._tool_names(parts["tools"])
        return Rule(
            action=action,
            tools=frozenset(tools),
            condition=self._condition(parts["condition"], side, action, tools),
            reason=self._string(parts["reason"]) if "reason" in parts else "",
            fields=self._fields(parts["fields"], action, tools) if redacts else frozenset(),
        )

    def _tool_names(self, node: yaml.Node) -> list[str]:
        if isinstance(node, yaml.ScalarNode) and node.value == "all":
            return list(self._tools)
        return [self._one_of(item, self._tools, "tool") for item in self._list(node, "tools")]

    def _condition(
        self, node: yaml.Node, side: str, action: Action, tools: Sequence[str]
    ) -> Condition:
        source = self._string(node)
        try:
            condition = Condition(source)
        except ValueError as error:
            return self._fail(
                node, f"the condition is not CEL that is supported: {str(error).splitlines()[0]}"
            )
        for name in _UNAVAILABLE.get((side, action), ()):
            if name in condition.names:
                self._fail(
                    node,
                    f"the condition of an {side} rule with action {action!r} cannot use {name!r}",
                )
        known = {
            "user": set(self._attributes),
            "args": set().union(*(self._tools[tool].parameters for tool in tools)),
        }
        what = {
            "user": "attribute (declare it under 'attributes')",
            "args": "argument of these tools",
        }
        for variable, member in _MEMBER.findall(_STRING_LITERAL.sub("''", source)):
            if member not in known[variable]:
                self._unknown(
                    node,
                    what[variable],
                    f"{variable}.{member}",
                    [f"{variable}.{m}" for m in known[variable]],
                )
        return condition

    def _fields(self, node: yaml.Node, action: Action, tools: Sequence[str]) -> frozenset[str]:
        shapes = [self._tools[tool].fields for tool in tools]
        known = set().union(*shapes)
        names = [
            self._one_of(item, known, "result field of these tools")
            for item in self._list(node, "fields")
        ]
        for item, name in zip(self._list(node, "fields"), names, strict=True):
            for shape in (fields[name] for fields in shapes if name in fields):
                if action == "filter_fields" and not shape.optional:
                    self._fail(item, f"{name!r} cannot be filtered: the output schema requires it")
                if action == "mask_fields" and not shape.text:
                    self._fail(
                        item,
                        f"{name!r} cannot be masked: the output schema does not take any text for "
                        "it",
                    )
        return frozenset(names)

    def _mapping(
        self, node: yaml.Node, known: Sequence[str] | None, what: str
    ) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            self._fail(node, f"{what} must be a mapping of keys to values")
        parts: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            key = (
                self._string(key_node)
                if known is None
                else self._one_of(key_node, known, f"key of {what}")
            )
            if key in parts:
                self._fail(key_node, f"{key!r} stands twice")
            parts[key] = value
        return parts

    def _list(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self._fail(node, f"{what!r} must be a list with at least one entry")
        return list(node.value)

    def _string(self, node: yaml.Node) -> str:
        if (
            not isinstance(node, yaml.ScalarNode)
            or node.tag != "tag:yaml.org,2002:str"
            or not node.value.strip()
        ):
            self._fail(node, "a text is expected here; put quotes around it if it is one")
        return str(node.value)

    def _one_of(self, node: yaml.Node, options: Iterable[str], what: str) -> str:
        value = self._string(node)
        if value not in (known := list(options)):
            self._unknown(node, what, value, known)
        return value

    def _unknown(self, node: yaml.Node, what: str, value: str, known: Iterable[str]) -> NoReturn:
        options = sorted(known)
        near = difflib.get_close_matches(value, options, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(options) or 'none'}"
        self._fail(node, f"unknown {what}: {value!r}; {advice}")

    def _fail(self, node: yaml.Node, message: str) -> NoReturn:
        raise PolicyError(f"{self._path}:{node.start_mark.line + 1}: {message}")
