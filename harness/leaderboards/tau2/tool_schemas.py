"""Tool schemas of a domain, read from the leaderboard's source, which is parsed and never run.

The leaderboard has no file of schemas: it derives them from each tool's signature and docstring.
Here they are derived from the source text: the names and types of the parameters, the first part of
the docstring, and its ``Args:``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.base import UsageError

_SECTION: Final = re.compile(r"(Args|Returns|Return|Raises|Yields|Note|Notes|Example|Examples):\s*")
_ARGUMENT: Final = re.compile(r" {4}(\w+)(?: \([^)]*\))?: ?(.*)")
_TYPES: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_CLOSED: Final = "BaseModelNoExtra"
"""The base of records that take no other fields."""
_ANY_OBJECT: Final = {"additionalProperties": True, "type": "object"}

Schema = dict[str, Any]


def build_tool_schemas(tools: str, data_model: str) -> list[Schema]:
    """Return ``{name, description, parameters}`` for each tool of a domain, in source order.

    Args:
        tools: the text of the domain's ``tools.py``.
        data_model: the text of its ``data_model.py``.

    Raises:
        UsageError: the source does not have the leaderboard's form.
    """
    try:
        types = _RecordTypes(ast.parse(data_model))
        return [_build_tool_schema(method, types) for method in _iterate_methods(ast.parse(tools))]
    except (SyntaxError, KeyError, ValueError) as error:
        message = f"the tools in the source of tau2-bench cannot be read: {error}"
        raise UsageError(message) from error


def _iterate_methods(module: ast.Module) -> Iterator[ast.FunctionDef]:
    classes = (node for node in module.body if isinstance(node, ast.ClassDef))
    for part in (part for node in classes for part in node.body):
        if isinstance(part, ast.FunctionDef) and any(map(_marks_a_tool, part.decorator_list)):
            yield part


def _marks_a_tool(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(func=ast.Name(id="is_tool" | "is_discoverable_tool")):
            return True
    return False


def _build_tool_schema(method: ast.FunctionDef, types: _RecordTypes) -> Schema:
    description, arguments = _split_docstring(ast.get_docstring(method, clean=False) or "")
    used: dict[str, Schema] = {}
    properties = {}
    # Without the first, which is the object itself.
    named = method.args.args[1:]
    # In Python, parameters with a default come last.
    defaults = dict(zip(reversed(named), reversed(method.args.defaults), strict=False))
    for parameter in named:
        assert parameter.annotation is not None
        told = {"description": arguments[parameter.arg]} if parameter.arg in arguments else {}
        shape = types.build_schema(parameter.annotation, used)
        if parameter in defaults:
            shape["default"] = ast.literal_eval(defaults[parameter])
        properties[parameter.arg] = {**told, **shape, "title": _format_title(parameter.arg)}
    parameters: Schema = {"properties": properties, "title": "parameters", "type": "object"}
    required = list(properties)[: len(properties) - len(method.args.defaults)]
    if required:
        parameters["required"] = required
    if used:
        parameters["$defs"] = used
    return {"name": method.name, "description": description, "parameters": parameters}


class _RecordTypes:
    """The types of a domain's records."""

    def __init__(self, module: ast.Module) -> None:
        self._classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        self._aliases = {
            target.id: node.value
            for node in module.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def build_schema(self, annotation: ast.expr, used: dict[str, Schema]) -> Schema:
        """Return the schema of a type; the records that it refers to are added to ``used``."""
        match annotation:
            case ast.Name(id=name):
                return self._build_named_schema(name, used)
            case ast.Subscript(value=ast.Name(id="List" | "list"), slice=item):
                return {"items": self.build_schema(item, used), "type": "array"}
            case ast.Subscript(value=ast.Name(id="Literal"), slice=options):
                listed = options.elts if isinstance(options, ast.Tuple) else [options]
                return {"enum": list(map(ast.literal_eval, listed)), "type": "string"}
            case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=options)):
                return {"anyOf": [self.build_schema(option, used) for option in options]}
            case ast.Subscript(value=ast.Name(id="Optional"), slice=item):
                return {"anyOf": [self.build_schema(item, used), {"type": "null"}]}
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return {"anyOf": [self.build_schema(left, used), self.build_schema(right, used)]}
            case _:
                raise ValueError(f"unknown type {ast.unparse(annotation)}")

    def _build_named_schema(self, name: str, used: dict[str, Schema]) -> Schema:
        if name in _TYPES:
            return {"type": _TYPES[name]}
        if name == "dict":
            return dict(_ANY_OBJECT)
        if name in self._aliases:
            return self.build_schema(self._aliases[name], used)
        used.setdefault(name, self._build_record_schema(self._classes[name], used))
        return {"$ref": f"#/$defs/{name}"}

    def _build_record_schema(self, node: ast.ClassDef, used: dict[str, Schema]) -> Schema:
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        if "Enum" in bases:
            members = (part for part in node.body if isinstance(part, ast.Assign))
            values = [ast.literal_eval(member.value) for member in members]
            return {"enum": values, "title": node.name, "type": "string"}
        properties: dict[str, Schema] = {}
        required = []
        for field in node.body:
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name, title = field.target.id, _format_title(field.target.id)
            shape = self.build_schema(field.annotation, used)
            default = self._read_default(field.value)
            required += [] if default else [name]
            properties[name] = {**_read_description(field.value), **shape, **default}
            # A record or an enumeration has a title of its own.
            if "$ref" not in shape or not default:
                properties[name]["title"] = title
        about = ast.get_docstring(node)
        described = {} if about is None else {"description": about}
        closed = {"additionalProperties": False} if _CLOSED in bases else {}
        shape = {"properties": properties, **({"required": required} if required else {})}
        return {**described, **closed, **shape, "title": node.name, "type": "object"}

    def _read_default(self, value: ast.expr | None) -> Schema:
        """Return the default of a field, if it has one."""
        match value:
            case ast.Call(func=ast.Name(id="Field"), args=[ast.Constant(value=found)]):
                return {} if found is ... else {"default": found}
            case ast.Call(args=[ast.Attribute(value=ast.Name(id=name), attr=member)]):
                return {"default": self._read_member(name, member)}
        return {}

    def _read_member(self, name: str, member: str) -> Any:
        for part in self._classes[name].body:
            match part:
                case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == member:
                    return ast.literal_eval(value)
        raise ValueError(f"{name} has no member {member}")


def _read_description(value: ast.expr | None) -> Mapping[str, str]:
    for keyword in value.keywords if isinstance(value, ast.Call) else []:
        if keyword.arg == "description":
            return {"description": ast.literal_eval(keyword.value)}
    return {}


def _format_title(name: str) -> str:
    return name.replace("_", " ").title()


def _split_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return a docstring's first line, the rest of its description, and that of each argument."""
    parts: dict[str, list[str]] = {"": []}
    section = ""
    for line in inspect.cleandoc(docstring).splitlines():
        heading = _SECTION.fullmatch(line)
        if heading:
            section = heading[1]
        else:
            parts.setdefault(section, []).append(line)
    first, _, rest = "\n".join(parts[""]).strip().partition("\n")
    description = f"{first}\n\n{rest.strip()}" if rest.strip() else first
    arguments: dict[str, list[str]] = {}
    for line in parts.get("Args", ()):
        found = _ARGUMENT.fullmatch(line)
        if found:
            arguments[found[1]] = [found[2].strip()]
        elif line.strip() and arguments:
            # A further line belongs to the argument before it.
            arguments[next(reversed(arguments))].append(line.strip())
    return description, {name: "\n".join(lines) for name, lines in arguments.items()}
