"""The surface of a server by identity: tools, instructions, resources, prompts; and its changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, Problem
from harness.descriptions.locking.schema_changes import ChangeKind, compare_schemas
from harness.types import JsonObject, Location, Tool, ToolList, dataclass

LOCK_VERSION = 1
"""The version of the file's form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceChange:
    """One thing that is not as the file says."""

    kind: ChangeKind
    """What it does to whoever uses the server."""
    identity: str
    """Who sees it."""
    part: str
    """What has changed: ``tool get_order``, ``instructions``, ``prompt greet`` …"""
    words: str
    """How."""
    line: int | None = None
    """The line of the file about this part, if it has one."""

    @property
    def sentence(self) -> str:
        """The change in one line."""
        return f"{self.identity}: {self.part}: {self.words}"


def describe_surface(
    tools: ToolList, resources: list[Any], templates: list[Any], prompts: list[Any]
) -> JsonObject:
    """Return what one identity sees, sorted, as JSON."""
    return {
        "instructions": dict(sorted(tools.instructions.items())),
        "tools": {tool.name: _describe_tool(tool) for tool in sorted(tools.tools, key=_get_name)},
        "resources": _index(resources, "uri"),
        "resource_templates": _index(templates, "uriTemplate"),
        "prompts": _index(prompts, "name"),
    }


def _get_name(tool: Tool) -> str:
    return tool.name


def _describe_tool(tool: Tool) -> JsonObject:
    annotations = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    parts = {
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {name: hint for name, hint in annotations.items() if hint is not None},
    }
    return {name: part for name, part in parts.items() if part not in (None, {})}


def _index(items: list[Any], key: str) -> dict[str, Any]:
    named = {str(item[key]): item for item in items if isinstance(item, Mapping) and key in item}
    return {
        name: {part: value for part, value in item.items() if part not in (key, "_meta")}
        for name, item in sorted(named.items())
    }


def dump_lock(server: str, surfaces: Mapping[str, JsonObject]) -> str:
    """Return the file: the same surfaces give the same text, a line for each fact."""
    document = {"harness_lock": LOCK_VERSION, "server": server, "identities": dict(surfaces)}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_lock(path: Path) -> tuple[dict[str, Any], str]:
    """Return the surfaces in the file by identity, and its text.

    Raises:
        InvalidInput: there is no such file, or it is none of `dump_lock`.
    """
    at = Location(file=str(path))
    meant = f"Write it with: harness lock --file {path}"
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except FileNotFoundError:
        problem = Problem(at=at, message="there is no such file.", meant=meant)
        raise InvalidInput([problem]) from None
    except (OSError, ValueError, RecursionError) as error:
        problem = Problem(at=at, message=f"this is no lock file: {error}", meant=meant)
        raise InvalidInput([problem]) from error
    identities = document.get("identities") if isinstance(document, dict) else None
    if not isinstance(identities, dict) or document.get("harness_lock") != LOCK_VERSION:
        message = f"this is no lock file of version {LOCK_VERSION}."
        raise InvalidInput([Problem(at=at, message=message, meant=meant)])
    return identities, text


def compare_surfaces(
    old: Mapping[str, JsonObject], new: Mapping[str, JsonObject], text: str = ""
) -> Iterator[SurfaceChange]:
    """Yield every change of what identities see; ``text`` is the file of the ``old`` ones."""
    lines = text.splitlines()
    for identity in sorted({*old, *new}):
        if identity not in new:
            yield SurfaceChange(kind="breaking", identity=identity, part="identity", words="gone")
        elif identity not in old:
            yield SurfaceChange(kind="compatible", identity=identity, part="identity", words="new")
        else:
            begin = _find_line(lines, identity, 0) or 0
            for kind, part, name, words in _compare_identity(old[identity], new[identity]):
                yield SurfaceChange(
                    kind=kind,
                    identity=identity,
                    part=f"{part} {name}".strip(),
                    words=words,
                    line=_find_line(lines, name or part, begin),
                )


def _find_line(lines: list[str], name: str, begin: int) -> int | None:
    sought = f"{json.dumps(name, ensure_ascii=False)}:"
    found = (at for at in range(begin, len(lines)) if lines[at].strip().startswith(sought))
    return next((at + 1 for at in found), None)


_Change = tuple[ChangeKind, str, str, str]


def _compare_identity(old: JsonObject, new: JsonObject) -> Iterator[_Change]:
    if old.get("instructions") != new.get("instructions"):
        yield "wording", "instructions", "", "changed"
    for key, noun in (
        ("tools", "tool"),
        ("resources", "resource"),
        ("resource_templates", "resource template"),
        ("prompts", "prompt"),
    ):
        was, now = old.get(key) or {}, new.get(key) or {}
        for name in sorted({*was, *now}):
            if name not in now:
                yield "breaking", noun, name, "was removed"
            elif name not in was:
                yield "compatible", noun, name, "is new"
            elif was[name] != now[name]:
                compare = _compare_tools if key == "tools" else _compare_items
                yield from (
                    (kind, noun, name, said) for kind, said in compare(was[name], now[name])
                )


def _compare_tools(old: JsonObject, new: JsonObject) -> Iterator[tuple[ChangeKind, str]]:
    for key in ("title", "description"):
        if old.get(key) != new.get(key):
            yield "wording", f"{key} changed"
    yield from compare_schemas(
        old.get("inputSchema", {}), new.get("inputSchema", {}), "arguments", is_input=True
    )
    was, now = old.get("outputSchema"), new.get("outputSchema")
    if was is not None and now is None:
        yield "breaking", "outputSchema was removed"
    elif was is None and now is not None:
        yield "compatible", "outputSchema is new"
    elif was is not None and now is not None:
        yield from compare_schemas(was, now, "result", is_input=False)
    hints = (old.get("annotations", {}), new.get("annotations", {}))
    # What a client may do without asking depends on these two promises.
    for hint, promise in (("readOnlyHint", True), ("destructiveHint", False)):
        before, after = (one.get(hint) for one in hints)
        if before != after:
            words = f"{hint} was {_show_hint(before)}, is {_show_hint(after)}"
            yield "breaking" if before is promise else "compatible", words


def _show_hint(value: Any) -> str:
    return "absent" if value is None else json.dumps(value)


def _compare_items(old: JsonObject, new: JsonObject) -> Iterator[tuple[ChangeKind, str]]:
    was, now = (
        {one["name"]: bool(one.get("required")) for one in item.get("arguments") or ()}
        for item in (old, new)
    )
    for name in sorted(was.keys() | now.keys()):
        if name not in now:
            yield "breaking", f"argument {name} was removed"
        elif now[name] and not was.get(name, False):
            yield (
                "breaking",
                f"argument {name} is {'new and' if name not in was else 'now'} required",
            )
        elif name not in was or was[name] != now[name]:
            yield "compatible", f"argument {name} is {'new' if name not in was else 'optional now'}"
    for key in sorted((old.keys() | new.keys()) - {"arguments"}):
        if old.get(key) != new.get(key):
            words = key in ("description", "title", "name", "icons", "annotations", "size")
            yield "wording" if words else "breaking", f"{key} changed"
