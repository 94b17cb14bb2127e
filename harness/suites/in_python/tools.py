"""The tools of a suite in Python: plain functions, or mappings with a handler.

This module reads them; `harness.suites.in_python.server` serves them, in a process of its own.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

from harness.base import InvalidValue, UsageError
from harness.judging import get_entry
from harness.types import Isolation, JsonObject, ServerSpec, TransportSpec, dataclass

_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTool:
    """A tool implemented by a function."""

    name: str
    """Its name for the model."""
    function: Callable[..., Any]
    """Its implementation; may be a coroutine function."""
    description: str = ""
    """Its description for the model."""
    input_schema: JsonObject | None = None
    """JSON Schema of its arguments; ``None`` derives it from the function's signature."""


def read_tools(given: Any) -> tuple[PythonTool, ...]:
    """Return the tools that a case or ``default_tools()`` lists.

    Raises:
        InvalidValue: one of them is neither a function nor a mapping with a handler, or two have
        the same name.
    """
    if given is None:
        return ()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise InvalidValue(f"expected a list of functions, found {type(given).__name__}")
    tools = tuple(_read_tool(tool, number) for number, tool in enumerate(given, start=1))
    names = [tool.name for tool in tools]
    # The server would silently keep only one of them.
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidValue(f"the tool {twice!r} is listed twice")
    return tools


def _read_tool(given: Any, number: int) -> PythonTool:
    if callable(given):
        name = getattr(given, "__name__", "")
        if not name.isidentifier():  # a lambda, or a partial function
            message = f"tool number {number} has no name of its own"
            raise InvalidValue(message, meant="Write it with def, or as {'name': …, 'handler': …}.")
        return PythonTool(name=name, function=given, description=cleandoc(given.__doc__ or ""))
    name, handler = get_entry(given, "name"), get_entry(given, "handler")
    if not isinstance(name, str) or not name or not callable(handler):
        message = f"tool number {number} is a {type(given).__name__} without a name and a handler"
        meant = "Give a function, or {'name': …, 'description': …, 'handler': …}."
        raise InvalidValue(message, meant=meant)
    schemas = (get_entry(given, key) for key in _SCHEMA_KEYS)
    schema = next((one for one in schemas if one is not None), None)
    if schema is not None and not isinstance(schema, Mapping):
        kind = type(schema).__name__
        raise InvalidValue(f"the input_schema of tool {name!r} is a {kind}, not a mapping")
    description = get_entry(given, "description") or cleandoc(handler.__doc__ or "")
    return PythonTool(name=name, function=handler, description=description, input_schema=schema)


def build_tool_server(
    name: str, isolation: Isolation, reference: str | None, case: str | None = None
) -> ServerSpec:
    """Return the server of a suite's default tools, or of the tools of one of its cases.

    ``reference`` names the suite; without it, the server has no tools.

    Its process has the same module path as this one. The working directory is added only when the
    suite is imported, so that no file in it can replace a module of harness.
    """
    # `-P` keeps the folder out of the child's path, and PYTHONPATH would bring it in again.
    here = {"", str(Path.cwd())}
    path = os.pathsep.join(entry for entry in sys.path if entry not in here)
    whose = () if reference is None else filter(None, (reference, case))
    return ServerSpec(
        name=name,
        transport=TransportSpec(
            command=sys.executable,
            args=("-P", "-m", "harness.suites.in_python.server", *whose),
            env={"PYTHONPATH": path},
        ),
        isolation=isolation,
    )


def load_tools(target: Any, case: str | None) -> tuple[PythonTool, ...]:
    """Return the default tools of a Python suite, or those of its case of that name."""
    suite: Any = target() if inspect.isclass(target) else target
    if case is None:
        return default_tools(suite)
    given = next((given for given in suite.cases() if str(get_entry(given, "id")) == case), None)
    if given is None:
        raise UsageError(
            f"the suite has no case {case!r} here: every call of cases() must give the same cases"
        )
    return read_tools(get_entry(given, "tools"))


def default_tools(suite: Any) -> tuple[PythonTool, ...]:
    """Return the tools of a case that names none."""
    default = getattr(suite, "default_tools", None)
    return read_tools(default() if default is not None else None)
