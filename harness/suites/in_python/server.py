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

from harness.base import HarnessError, UsageError, format_error, import_object
from harness.suites.in_python.tools import PythonTool, load_tools


def make_server(reference: str | None, case: str | None = None) -> MCPServer[Any]:
    """Return a server with the tools of a suite, or of one of its cases.

    Raises:
        HarnessError: the suite cannot be found, or a function cannot be a tool.
    """
    tools = () if reference is None else load_tools(import_object(reference), case)
    return MCPServer(
        reference or "no tools", tools=[_describe_tool(tool) for tool in tools], log_level="ERROR"
    )


class _AnyArguments(ArgModelBase):
    """Arguments of a tool whose JSON Schema the suite gives."""

    model_config = ConfigDict(extra="allow")

    def model_dump_one_level(self) -> dict[str, Any]:
        """Return the arguments unchanged."""
        return dict(self.model_extra or {})


def _describe_tool(tool: PythonTool) -> Tool:
    if tool.input_schema is None:
        try:
            # The SDK derives the schema from the signature.
            return Tool.from_function(
                _report_exceptions(tool.function), tool.name, description=tool.description
            )
        except (InvalidSignature, PydanticUserError, NameError, TypeError) as error:
            raise UsageError(f"the function {tool.name!r} cannot be a tool: {error}") from error
    return Tool(
        fn=_report_exceptions(_accept_named_arguments(tool)),
        name=tool.name,
        title=None,
        description=tool.description,
        context_kwarg=None,
        annotations=None,
        parameters=dict(tool.input_schema),
        # It takes anything: a model of the schema would convert or drop what was sent.
        fn_metadata=FuncMetadata(arg_model=_AnyArguments),
        is_async=inspect.iscoroutinefunction(tool.function),
    )


def _accept_named_arguments(tool: PythonTool) -> Callable[..., Any]:
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
    # A parameter with the name of a property takes that property alone.
    if not sole or parameters[0].name in known:
        return tool.function

    @wraps(tool.function)
    def call_by_name(**arguments: Any) -> Any:
        return tool.function(arguments)

    return call_by_name


def _report_exceptions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` with its exceptions reported to the model and, in full, on stderr."""
    # Two wrappers: the SDK looks at the function to know whether it has to be awaited.
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call_reporting_async(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except Exception as error:
                raise _report_exception(error) from error

        return call_reporting_async

    @wraps(function)
    def call_reporting(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise _report_exception(error) from error

    return call_reporting


def _report_exception(error: Exception) -> Exception:
    # The tool chose these words for the model itself.
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
        sys.stderr.write(f"{format_error(error)}\n")
        return 2
    asyncio.run(server.run_stdio_async())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
