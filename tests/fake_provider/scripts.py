"""Scripts by name, for the fake provider as a process."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tests.fake_provider.incoming import Incoming, Json
from tests.fake_provider.steps import Script, Step, call, calls, say, status

CALLS_AT_ONCE = 4
LONG_TURNS = 8


def agent(request: Incoming) -> Step:
    """Call the first tool once, then answer with its result."""
    if request.turn == 0 and request.tools:
        return call(*_first_call(request))
    return say(f"Done: {_results(request)}")


def parallel(request: Incoming) -> Step:
    """Call the first tool four times in one reply, then answer with the results."""
    if request.turn == 0 and request.tools:
        return calls(*[_first_call(request)] * CALLS_AT_ONCE)
    return say(f"Done: {_results(request)}")


def long(request: Incoming) -> Step:
    """Call the first tool in eight turns, one after the other, then answer."""
    if request.turn < LONG_TURNS and request.tools:
        return call(*_first_call(request))
    return say(f"Done: {_results(request)}")


SCRIPTS: dict[str, Script] = {
    "say": lambda _: say("Hello."),
    "agent": agent,
    "parallel": parallel,
    "long": long,
    "overloaded": lambda _: status(529),
}
"""Name → script."""


def find_script(name: str) -> Script:
    """Return the script of that name, or the one that ``module:attribute`` leads to.

    Raises:
        KeyError: there is none of that name.
    """
    if ":" not in name:
        return SCRIPTS[name]
    module, attribute = name.split(":")
    script: Script = getattr(import_module(module), attribute)
    return script


def minimal(schema: Json) -> Any:
    """Return a small value that fits ``schema``, as far as plain types, enums and defaults go."""
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("anyOf"):
        return minimal(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: minimal(properties.get(name, {})) for name in schema.get("required", ())}
    plain = _PLAIN.get(kind) if isinstance(kind, str) else None
    return plain(schema) if plain else "x"


_PLAIN: dict[str, Callable[[Json], Any]] = {
    "integer": lambda schema: schema.get("minimum", 1),
    "number": lambda schema: schema.get("minimum", 1),
    "boolean": lambda _: False,
    "array": lambda _: [],
    "null": lambda _: None,
}


def _first_call(request: Incoming) -> tuple[str, Json]:
    name, tool = next(iter(request.tools.items()))
    arguments: Json = minimal({"type": "object", **tool.schema})
    return name, arguments


def _results(request: Incoming) -> str:
    return "; ".join(result.text for result in request.tool_results) or "nothing to do"
