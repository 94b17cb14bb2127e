"""Tells errors about the writing of a request from answers to what it asks.

A server that rejects a request as it was written has decided nothing about the caller.
"""

from __future__ import annotations

from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION

from harness.base import RequestRejected

_OF_THE_WRITING = frozenset({HEADER_MISMATCH, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION})
"""Codes for headers that differ from the body, text that is no JSON, and a foreign revision.

INVALID_REQUEST is none of them: servers use it for requests that they do not want."""


def is_rejection(error: MCPError, method: str) -> bool:
    """Whether ``error`` is about the writing of a request of ``method``.

    Some servers do not parse numbers that JSON allows: in a call, whose arguments are the caller's,
    that is about these.
    """
    return error.code in _OF_THE_WRITING and (error.code, method) != (PARSE_ERROR, "tools/call")


def build_rejection(error: MCPError, method: str, said: str, data: object) -> RequestRejected:
    """Return the exception for such an error; ``said`` and ``data`` are its own, without tokens."""
    return RequestRejected(
        f"server rejected the request {method} as harness wrote it: {said} (code {error.code})",
        code=error.code,
        said=said,
        data=data,
    )
