"""What a user may do: rules with CEL conditions, applied to tool lists, calls and results.

A rule withholds something; everything else is allowed. A rule does not apply only if its condition
is exactly ``false``: a condition that raises, or that is anything but a boolean, applies the rule,
and so does one that asks for an attribute that is missing, null or of another type than the policy
file declares (`Policies` withholds it, and CEL raises). Rules are pure: they see the user, the
validated arguments and, on the way out, the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .condition import parse_condition
from .identity import Identity

Action: TypeAlias = Literal["deny", "hide", "filter_fields", "mask_fields"]
"""``deny``: the call is refused. ``hide``: the tool is not listed, and a call to it is refused.
``filter_fields``: fields are left out of the result. ``mask_fields``: their values are replaced."""

AttributeType: TypeAlias = Literal["string", "strings", "number", "boolean"]
"""What an attribute of the user must be to exist for a condition."""

MASK = "[masked]"
"""What stands in place of a masked value."""

_IS: Mapping[AttributeType, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "strings": lambda value: (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    ),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
}


class Denied(Exception):
    """A rule refuses; its text is the reason, fit to be shown."""


class Condition:
    """A compiled CEL expression that is trusted only when it says ``false``."""

    def __init__(self, source: str) -> None:
        """Compile ``source``.

        Raises:
            ValueError: it is not CEL, or more of CEL than `condition` supports.
        """
        self.source = source
        self._evaluate, self.names = parse_condition(source)

    def is_false(self, variables: Mapping[str, Any]) -> bool:
        """Return whether the expression is exactly ``false``; an error of any sort is not."""
        try:
            return self._evaluate(variables) is False
        except Exception:  # noqa: BLE001  # the boundary that fails closed: whatever went wrong, it is not a "no"
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One restriction."""

    action: Action
    """What it does."""
    tools: frozenset[str]
    """The tools that it is about."""
    condition: Condition
    """It applies unless this is false."""
    reason: str = ""
    """Why, in words for the model and its user (``deny`` and ``hide``)."""
    fields: frozenset[str] = frozenset()
    """Names of result fields, wherever they stand in the result (``filter_fields``,
    ``mask_fields``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """All rules of a server. No rules, no restrictions."""

    attributes: Mapping[str, AttributeType] = field(default_factory=dict)
    """The attributes that conditions may ask of ``user``, and their types."""
    input: Sequence[Rule] = ()
    """``hide`` and ``deny``, decided before a tool runs."""
    output: Sequence[Rule] = ()
    """``deny``, ``filter_fields`` and ``mask_fields``, decided on its result."""

    def hides(self, tool: str, user: Identity) -> bool:
        """Return whether ``tool`` does not exist for ``user``."""
        return any(_applying("hide", self.input, tool, self._user(user)))

    def check_tool(self, tool: str, user: Identity) -> None:
        """Let a call pass to a tool that exists for ``user``, whatever its arguments.

        Raises:
            Denied: the tool is hidden from the user.
        """
        _refuse("hide", self.input, tool, self._user(user))

    def check_call(self, tool: str, user: Identity, args: Mapping[str, Any]) -> None:
        """Return if a call with ``args`` is allowed (JSON values, validated, defaults filled in).

        Raises:
            Denied: a rule refuses the call.
        """
        _refuse("deny", self.input, tool, {**self._user(user), "args": dict(args)})

    def govern(self, tool: str, user: Identity, args: Mapping[str, Any], result: Any) -> Any:
        """Return ``result`` (JSON) as ``user`` may see it.

        Raises:
            Denied: a rule refuses to give out this result.
        """
        variables = {**self._user(user), "args": dict(args), "result": result}
        _refuse("deny", self.output, tool, variables)
        dropped, masked = (
            {
                name
                for rule in _applying(action, self.output, tool, variables)
                for name in rule.fields
            }
            for action in ("filter_fields", "mask_fields")
        )
        return _redact(result, dropped, masked)

    def _user(self, user: Identity) -> dict[str, Any]:
        """Return what conditions see of the user: declared attributes of the declared type."""
        return {
            "user": {
                name: user[name]
                for name, kind in self.attributes.items()
                if name in user and _IS[kind](user[name])
            }
        }


def _applying(
    action: Action, rules: Sequence[Rule], tool: str, variables: Mapping[str, Any]
) -> Iterator[Rule]:
    for rule in rules:
        if rule.action == action and tool in rule.tools and not rule.condition.is_false(variables):
            yield rule


def _refuse(action: Action, rules: Sequence[Rule], tool: str, variables: Mapping[str, Any]) -> None:
    for rule in _applying(action, rules, tool, variables):
        raise Denied(rule.reason)


def _redact(value: Any, dropped: set[str], masked: set[str]) -> Any:
    """Return ``value`` without ``dropped`` fields and with ``masked`` ones hidden, at any depth."""
    if isinstance(value, dict):
        return {
            name: MASK if name in masked else _redact(part, dropped, masked)
            for name, part in value.items()
            if name not in dropped
        }
    if isinstance(value, list):
        return [_redact(part, dropped, masked) for part in value]
    return value
