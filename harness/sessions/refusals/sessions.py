"""Distinguishes a server that refuses a caller a session from one that cannot open any.

A refusal must be explicit: HTTP 401 or 403, or a JSON-RPC error with the code or the words of a
refusal, as for a call. Any other failure is a failure of the server, also a request that it rejects
as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from mcp.shared.exceptions import MCPError

from harness.base import NotAdmitted, ServerError, search_pattern
from harness.sessions.refusals.codes import has_refusal_code
from harness.sessions.refusals.words import OPERATING_SYSTEM, REFUSED
from harness.sessions.transports.rejected_requests import is_rejection

_READ_CHARS = 2_000
"""Characters of an error that are examined."""


def build_step_error(error: MCPError, step: str, refusals: Sequence[str] = ()) -> ServerError:
    """Return the exception for an ``error`` in a ``step`` of opening a session.

    ``refusals`` are regular expressions of the server's own words for refusing a caller.
    """
    words = f"refused {step}: {error.message} (code {error.code})"
    if not is_rejection(error, step) and _is_caller_refused(error, refusals):
        return NotAdmitted(words, status=error.code)
    return ServerError(words)


def _is_caller_refused(error: MCPError, refusals: Sequence[str]) -> bool:
    data = "" if error.data in (None, "") else json.dumps(error.data, default=str)
    text = f"{error.message} {data}"[:_READ_CHARS]
    return (
        # The code itself may be 401 or 403.
        has_refusal_code(error.data, {"code": error.code})
        or any(search_pattern(pattern, text) for pattern in refusals)
        or (REFUSED.search(text) is not None and OPERATING_SYSTEM.search(text) is None)
    )
