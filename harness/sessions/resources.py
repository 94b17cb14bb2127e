"""Resources, listed and read for a model as a host does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import anyio

from harness.base import RequestRefused, RequestRejected, ServerError
from harness.sessions.result_content import render_result
from harness.sessions.session import Session, get_next_cursor
from harness.types import JsonObject, ReadOutcome, ResourceRead

_PAGES = 100
"""Most pages of a list that are read: a server may page for ever."""


async def read_resource(session: Session, uri: str, *, reply: int, epoch: float) -> ResourceRead:
    """Return the content of a resource, or why there is none.

    ``epoch`` is the start of the trial on the clock of `anyio.current_time`.

    Raises:
        RequestRejected: the server did not take the request as harness wrote it.
    """
    begun = anyio.current_time()
    try:
        read = _render(uri, await session.send_request("resources/read", {"uri": uri}))
    except RequestRejected:
        raise
    except ServerError as error:
        outcome, words = describe_failure(error)
        read = ResourceRead(uri=uri, outcome=outcome, text=words)
    ended = anyio.current_time()
    return replace(
        read, reply=reply, started_s=round(begun - epoch, 6), duration_s=round(ended - begun, 6)
    )


def describe_failure(error: ServerError) -> tuple[ReadOutcome, str]:
    """Return how a request ended that has no result, and why."""
    from harness.sessions.refusals import is_breakdown  # loads the MCP SDK

    if not isinstance(error, RequestRefused):
        return "failed", str(error)
    return "failed" if is_breakdown(error) else "refused", f"{error.said} (code {error.code})"


async def list_entries(session: Session, method: str, key: str) -> list[JsonObject]:
    """Return the entries of a list of the server, of at most `_PAGES` pages; none if it has none.

    Raises:
        RequestRefused: the server does not give this user the list.
        ServerError: it was not answered in time, or the server is gone.
    """
    from mcp_types import METHOD_NOT_FOUND  # loads the MCP SDK

    found: list[JsonObject] = []
    params: JsonObject = {}
    for _ in range(_PAGES):
        try:
            page = await session.send_request(method, params)
        except RequestRefused as error:
            if error.code == METHOD_NOT_FOUND:
                break
            raise
        entries = page.get(key)
        found += (
            [one for one in entries if isinstance(one, Mapping)]
            if isinstance(entries, list)
            else []
        )
        cursor = get_next_cursor(page)
        if cursor is None:
            break
        params = {"cursor": cursor}
    return found


def _render(uri: str, result: JsonObject) -> ResourceRead:
    parts = result.get("contents")
    if result.get("resultType", "complete") != "complete":
        why = "the server asks for more input first"
    elif not isinstance(parts, list):
        why = "the answer has no list 'contents'"
    else:
        # The form in which results embed resources: a model reads both in the same way.
        blocks = [{"type": "resource", "resource": part} for part in parts]
        shown = render_result({"content": blocks})
        if not shown.problems:
            text = shown.text or f"[resource {uri} is empty]"
            return ResourceRead(uri=uri, text=text, media=shown.media, sha256=shown.sha256)
        why = shown.problems[0]
    return ResourceRead(uri=uri, outcome="failed", text=f"not a result of MCP: {why}")
