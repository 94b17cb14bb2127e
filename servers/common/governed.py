"""An MCP server whose every tool list, call and result passes its policies.

No tool can bypass the check: `GovernedServer` applies `Policies` to each ``tools/list`` and
``tools/call``, for the identity of that request. Policies see arguments after validation, as the
tool will, so that ``"include_pii": "true"`` is judged as the ``true`` it becomes.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, TextContent
from mcp_types import Tool as ListedTool
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from .identity import ANONYMOUS, Identity, identify
from .policy import Denied, Policies

_USER: ContextVar[Identity] = ContextVar("user", default=ANONYMOUS)
"""Who sent the request that is being served."""


def current_user() -> Identity:
    """Return the caller of the request in progress, for a tool that keeps users' data apart."""
    return _USER.get()


class GovernedServer(MCPServer[Any]):
    """An `MCPServer` of tools with structured results, under `Policies`."""

    def __init__(
        self,
        name: str,
        *,
        title: str,
        instructions: str,
        tools: Sequence[Tool],
        policies: Policies,
        environ: Mapping[str, str],
    ) -> None:
        """Serve ``tools``.

        Requests without an identity of their own are those of the user in ``environ``.
        """
        self._offered = {tool.name: tool for tool in tools}
        self._policies = policies
        self._environ = environ
        self._user_of_request: Callable[[Any], Identity] | None = None
        for tool in tools:
            tool.parameters["additionalProperties"] = False
        super().__init__(
            name,
            title=title,
            instructions=instructions,
            tools=list(tools),
            log_level="WARNING",
            middleware=[self._identify],
        )

    def believe_only(self, user_of_request: Callable[[Any], Identity]) -> None:
        """Let ``user_of_request`` name the caller of an HTTP request.

        ``_meta`` and the environment no longer count.
        """
        self._user_of_request = user_of_request

    async def _identify(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if self._user_of_request is None:
            _USER.set(identify(ctx.meta, self._environ))
        else:
            _USER.set(ANONYMOUS if ctx.request is None else self._user_of_request(ctx.request))
        return await call_next(ctx)

    async def list_tools(self) -> list[ListedTool]:
        """Return the tools that exist for the user who asks."""
        return [
            tool
            for tool in await super().list_tools()
            if not self._policies.hides(tool.name, _USER.get())
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool as the user who asks.

        Whatever goes wrong is a result that the model can read.
        """
        user = _USER.get()
        if name not in self._offered:
            return _error(f"Unknown tool: {name}")
        tool = self._offered[name]
        try:
            self._policies.check_tool(name, user)
            args = _validated(tool, arguments)
            self._policies.check_call(name, user, args)
            result = await super().call_tool(name, arguments, context)
            if isinstance(result, InputRequiredResult):
                return result  # a question to the user, before anything is done
            assert isinstance(result, CallToolResult)
            return _success(self._policies.govern(name, user, args, result.structured_content))
        except Denied as denied:
            return _error(f"Access denied: {denied}")
        except UnexpectedToolError:
            raise
        except ToolError as error:
            # The SDK wraps a tool's own ToolError in one that repeats the tool's name.
            return _error(str(error.__cause__ if isinstance(error.__cause__, ToolError) else error))


def _validated(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``arguments`` as the tool will get them, as JSON values, with defaults filled in.

    Raises:
        ToolError: they do not fit; the text names arguments and never repeats a value.
    """
    known = tool.parameters["properties"]
    problems = []
    for name in arguments.keys() - known.keys():
        near = difflib.get_close_matches(name, known, n=1)
        problems.append(f"unknown argument {name}" + (f", did you mean {near[0]}?" if near else ""))
    try:
        validated = tool.fn_metadata.validate_arguments(dict(arguments))
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            where = ".".join(str(step) for step in problem["loc"])
            problems.append(f"{where}: {problem['msg'].removeprefix('Value error, ')}")
    if problems:
        raise ToolError(f"Invalid arguments for {tool.name}: {'; '.join(sorted(problems))}")
    values: dict[str, Any] = to_jsonable_python(validated)
    return values


def _success(structured: Any) -> CallToolResult:
    text = json.dumps(structured, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structured
    )


def _error(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
