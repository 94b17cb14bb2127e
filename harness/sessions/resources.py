"""Resources, read for a model as a host reads them."""

from __future__ import annotations

from dataclasses import replace

import anyio

from harness.base import RequestRefused, RequestRejected, ServerError
from harness.sessions.result_content import render_result
from harness.sessions.session import Session
from harness.types import JsonObject, ResourceRead


async def read_resource(session: Session, uri: str, *, reply: int, epoch: float) -> ResourceRead:
    """Return the content of a resource, or why there is none.

    ``epoch`` is the start of the trial on the clock of `anyio.current_time`.

    Raises:
        RequestRejected: the server did not take the request as harness wrote it.
    """
    from harness.sessions.refusals import is_breakdown  # loads the MCP SDK

    begun = anyio.current_time()
    try:
        read = _render(uri, await session.send_request("resources/read", {"uri": uri}))
    except RequestRejected:
        raise
    except RequestRefused as error:
        words = f"{error.said} (code {error.code})"
        broke = is_breakdown(error)
        read = ResourceRead(uri=uri, outcome="failed" if broke else "refused", text=words)
    except ServerError as error:
        read = ResourceRead(uri=uri, outcome="failed", text=str(error))
    ended = anyio.current_time()
    return replace(
        read, reply=reply, started_s=round(begun - epoch, 6), duration_s=round(ended - begun, 6)
    )


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
