"""Serves a suite's own tools.

``python -m harness.suites.in_python.server [my.module:Suite [CASE]]``

The tools run in a process of their own, as on every server, so that they can be ended and their
output does not mix with the protocol. The model gets the text of a tool's exception.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import InvalidSignature, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict, PydanticUserError

from harness.base import HarnessError, UsageError, blame, find
from harness.suites.in_python.tools import PythonTool, tools_of


def make_server(reference: str | None, case: str | None = None) -> MCPServer[Any]:
    """Return a server with the tools of a suite, or of one of its cases.

    Raises:
        HarnessError: the suite cannot be found, or a function cannot be a tool.
    """
    tools = () if reference is None else tools_of(find(reference), case)
    return MCPServer(
        reference or "no tools", tools=[_tool(tool) for tool in tools], log_level="ERROR"
    )


class _AnyArguments(ArgModelBase):
    """Arguments of a tool whose JSON Schema the suite gives."""

    model_config = ConfigDict(extra="allow")

    def model_dump_one_level(self) -> dict[str, Any]:
        """Return the arguments unchanged."""
        return dict(self.model_extra or {})


def _tool(tool: PythonTool) -> Tool:
    if tool.input_schema is None:
        try:
            return Tool.from_function(
                _telling(tool.function), tool.name, description=tool.description
            )
        except (InvalidSignature, PydanticUserError, NameError, TypeError) as error:
            raise UsageError(f"the function {tool.name!r} cannot be a tool: {error}") from error
    return Tool(
        fn=_telling(_by_name(tool)),
        name=tool.name,
        title=None,
        description=tool.description,
        context_kwarg=None,
        annotations=None,
        parameters=dict(tool.input_schema),
        fn_metadata=FuncMetadata(arg_model=_AnyArguments),
        is_async=inspect.iscoroutinefunction(tool.function),
    )


def _by_name(tool: PythonTool) -> Callable[..., Any]:
    """Return the handler as a function of named arguments.

    A handler whose only parameter is none of these names gets all arguments as one mapping.
    """
    assert tool.input_schema is not None
    parameters = list(inspect.signature(tool.function).parameters.values())
    known = tool.input_schema.get("properties", {})
    sole = len(parameters) == 1 and parameters[0].kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    if not sole or parameters[0].name in known:
        return tool.function

    @wraps(tool.function)
    def with_all(**arguments: Any) -> Any:
        return tool.function(arguments)

    return with_all


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` with its exceptions reported to the model and, in full, on stderr."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def telling_async(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except Exception as error:
                raise _told(error) from error

        return telling_async

    @wraps(function)
    def telling(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise _told(error) from error

    return telling


def _told(error: Exception) -> Exception:
    if isinstance(error, MCPError | ToolError):
        return error
    traceback.print_exception(error)
    return ToolError(f"{type(error).__name__}: {error}")


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return 2 if the suite cannot be served."""
    try:
        server = make_server(arguments[0], *arguments[1:2]) if arguments else make_server(None)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a suite's own code may raise anything
        sys.stderr.write(f"{blame(error)}\n")
        return 2
    asyncio.run(server.run_stdio_async())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
