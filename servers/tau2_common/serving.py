"""A domain's tools as an MCP server: every call goes to a method of that name, its text comes back.

Arguments reach the method as they came, valid or not: the schemas are what a model is shown, and
the words in which a tool refuses are part of what it does. Beside the tools the server has

- the resource ``state://hash``: the SHA-256 of the database as it is now,
- the resource ``policy://NAME``: what an agent has to go by,
- where it was started with ``--reset-tool NAME``, a tool of that name which it does not list: it
  makes the database what it was at the start,
- with ``--unlisted-tool NAME``, a tool of the domain that is carried out and not listed: recordings
  of another revision of the leaderboard may call one.

Any other tool that is not listed is not found, though the domain may have it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from .shapes import Schema
from .wording import words_of

HASH_URI: Final = "state://hash"


class Tools(Protocol):
    """What a domain brings along."""

    HINTS: ClassVar[Mapping[str, ToolAnnotations]]
    """Every tool by name: each is a method of that name."""
    OUTPUTS: ClassVar[Mapping[str, Schema]]
    """The schema of the result of each tool that returns a record."""

    @property
    def store(self) -> Kept:
        """What they work on."""


class Kept(Protocol):
    """A state that is compared and taken back."""

    def digest(self) -> str:
        """Return what is equal for equal states alone."""

    def reset(self) -> None:
        """Undo every change since loading."""


@runtime_checkable
class TwoSided(Protocol):
    """Tools of two sides: a task prepares what both find, and asks what became of it."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Carry out a tool."""

    def prepare(self, calls: Any) -> None:
        """Carry out what a task does before its conversation."""

    def read_state(self, uri: str) -> str | None:
        """Return the answer to a question about the state; ``None`` for any other URI."""


PREPARATION: Final = "state/prepare"
"""The unlisted tool that carries out what a task does before its conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """What a server shows of itself."""

    name: str
    """The domain."""
    title: str
    """The domain in a few words."""
    listing: Sequence[Mapping[str, Any]]
    """Each tool's name, description and parameters, as models see them."""
    policy: str | None = None
    """What an agent has to go by."""
    reset_tool: str | None = None
    """The name of the unlisted tool that undoes everything; ``None`` where there is none."""
    unlisted_tools: Sequence[str] = ()
    """Tools of the domain that are carried out and not listed."""


def make_server(tools: Tools, face: Face) -> Server[Any]:
    """Return a server of ``tools``."""
    offered = [
        Tool(
            name=entry["name"],
            description=entry["description"],
            input_schema=dict(entry["parameters"]),
            output_schema=tools.OUTPUTS.get(entry["name"]),
            annotations=tools.HINTS.get(entry["name"]),
        )
        for entry in face.listing
    ]
    carried_out = {*face.unlisted_tools, *(tool.name for tool in offered)}
    policy, policy_uri = face.policy, f"policy://{face.name}"

    async def list_tools(
        _: ServerRequestContext[Any], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=offered)

    async def call_tool(
        _: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        if params.name == face.reset_tool:
            tools.store.reset()
            return CallToolResult(content=[TextContent(type="text", text="null")])
        if params.name == PREPARATION and isinstance(tools, TwoSided):
            tools.prepare((params.arguments or {}).get("calls", ()))
            return CallToolResult(content=[TextContent(type="text", text="null")])
        text, is_error = _not_found(params.name), True
        if params.name in carried_out:
            text, is_error = answer(tools, params.name, params.arguments or {})
        structured = json.loads(text) if params.name in tools.OUTPUTS and not is_error else None
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=structured,
            is_error=is_error,
        )

    async def list_resources(
        _: ServerRequestContext[Any], __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        listed = [
            Resource(
                uri=HASH_URI,
                name="hash",
                description="SHA-256 of the database.",
                mime_type="text/plain",
            )
        ]
        if policy is not None:
            about = "What an agent of this domain has to go by."
            listed.append(
                Resource(
                    uri=policy_uri, name="policy", description=about, mime_type="text/markdown"
                )
            )
        return ListResourcesResult(resources=listed)

    async def read_resource(
        _: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        match str(params.uri):
            case uri if uri == HASH_URI:
                text, kind = tools.store.digest(), "text/plain"
            case uri if uri == policy_uri and policy is not None:
                text, kind = policy, "text/markdown"
            case uri if isinstance(tools, TwoSided) and (found := tools.read_state(uri)):
                text, kind = found, "application/json"
            case uri:
                raise MCPError(INVALID_PARAMS, f"there is no resource {uri}")
        return ReadResourceResult(
            contents=[TextResourceContents(uri=uri, text=text, mime_type=kind)]
        )

    return Server(
        face.name,
        title=face.title,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def answer(tools: Tools, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """Call a tool; return what its caller reads, and whether that is an error."""
    if name not in tools.HINTS:
        return _not_found(name), True
    try:
        result = (
            tools.call(name, arguments)
            if isinstance(tools, TwoSided)
            else getattr(tools, name)(**arguments)
        )
        return (result if isinstance(result, str) else json.dumps(result)), False
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a call, its caller reads why
        # Half of a surrogate pair among the arguments could not be sent back.
        return f"Error: {words_of(error)}".encode("utf-8", "replace").decode(), True


def _not_found(name: str) -> str:
    return f"Error: Tool '{name}' not found."
