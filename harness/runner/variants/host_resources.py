"""Tools by which a host gives its model the server's resources: one lists them, one reads them.

The host makes the requests, not the server's tools, so these calls are recorded apart
(`AssistantMessage.host_calls`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio

from harness.base import RequestRejected, ServerError
from harness.sessions import (
    Session,
    describe_failure,
    limit_text,
    list_entries,
    read_resource,
)
from harness.types import (
    LIST_RESOURCES,
    READ_RESOURCE,
    JsonObject,
    Outcome,
    Tool,
    ToolCall,
    ToolRequest,
)

RESOURCE_TOOLS = (
    Tool(
        name=LIST_RESOURCES,
        description=(
            "List the resources that the MCP server offers: documents and data that can be read by "
            f"their URI with {READ_RESOURCE}. A template stands for many of them: put values into "
            "the braces of its URI."
        ),
        input_schema={"type": "object", "properties": {}},
        read_only=True,
    ),
    Tool(
        name=READ_RESOURCE,
        description="Read a resource of the MCP server.",
        input_schema={
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "URI of the resource."}},
            "required": ["uri"],
        },
        read_only=True,
    ),
)
"""Named as in Codex."""

_LISTS = {
    "resources": ("resources/list", "uri"),
    "resourceTemplates": ("resources/templates/list", "uriTemplate"),
}
_TOLD = ("name", "title", "description", "mimeType")
"""What a model is told of a resource beside its address."""


async def call_host_tool(
    session: Session, request: ToolRequest, *, reply: int, epoch: float
) -> ToolCall:
    """Return the record of a call of one of `RESOURCE_TOOLS`, made through ``session``."""
    begun = anyio.current_time()
    facts: dict[str, Any] = {}
    outcome: Outcome
    if request.tool == LIST_RESOURCES:
        outcome, text = await _list_resources(session)
    elif isinstance(uri := request.arguments.get("uri"), str) and uri:
        try:
            read = await read_resource(session, uri, reply=reply, epoch=epoch)
            outcome, text = _OUTCOMES[read.outcome], read.text
            facts = {"media": read.media, "result_sha256": read.sha256}
        except RequestRejected as error:
            outcome, text = "server_lost", str(error)
    else:
        outcome, text = "invalid_arguments", "'uri' must be the URI of a resource."
    ended = anyio.current_time()
    return ToolCall(
        tool=request.tool,
        arguments=request.arguments,
        request_id=request.id,
        outcome=outcome,
        text=text,
        reply=reply,
        started_s=round(begun - epoch, 6),
        duration_s=round(ended - begun, 6),
        result_bytes=len(text.encode("utf-8", "replace")),
        **facts,
    )


_OUTCOMES: Mapping[str, Outcome] = {
    "ok": "ok",
    "refused": "tool_error",
    "failed": "invalid_result",
}


async def _list_resources(session: Session) -> tuple[Outcome, str]:
    """Return how listing ended, and the lists as JSON for the model, or why there are none."""
    listed: dict[str, list[JsonObject]] = {}
    for key, (method, address) in _LISTS.items():
        try:
            entries = await list_entries(session, method, key)
        except ServerError as error:
            how, why = describe_failure(error)
            return _OUTCOMES[how], f"The resources could not be listed: {why}"
        listed[key] = [
            {name: entry[name] for name in (address, *_TOLD) if isinstance(entry.get(name), str)}
            for entry in entries
        ]
    return "ok", limit_text(json.dumps({key: each for key, each in listed.items() if each}))
