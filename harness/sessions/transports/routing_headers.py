"""HTTP headers that repeat parts of a request's body, so that gateways need not read it."""

from __future__ import annotations

from typing import Any

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from harness.types import JsonObject


class RoutingHeaders:
    """Makes the headers of one connection's requests; the newest revision requires them."""

    def __init__(self, version: str | None) -> None:
        """``version`` is the agreed revision; ``None`` before the agreement."""
        self._version = version
        self._repeats = version in MODERN_PROTOCOL_VERSIONS
        self._parameters: dict[str, dict[tuple[str, ...], str]] = {}

    def learn_tools(self, tools: Any) -> None:
        """Record which arguments the schemas of ``tools`` require in headers."""
        if not self._repeats or not isinstance(tools, list):
            return
        for tool in tools:
            match tool:
                # Tools with invalid annotations are not offered, so their arguments are never sent.
                case {"name": str(name), "inputSchema": dict(schema)} if (
                    find_invalid_x_mcp_header(schema) is None
                ):
                    self._parameters[name] = x_mcp_header_map(schema)

    def build_headers(self, method: str, params: JsonObject) -> dict[str, str]:
        """Return the headers of a request."""
        if self._version is None:
            return {}
        # Revision 2025-06-18 and later ones of the handshake want this header as well.
        headers = {MCP_PROTOCOL_VERSION_HEADER: self._version}
        if self._repeats:
            headers[MCP_METHOD_HEADER] = method
            name = params.get(NAME_BEARING_METHODS.get(method, ""))
            if isinstance(name, str):
                headers[MCP_NAME_HEADER] = encode_header_value(name)
                if method == "tools/call":
                    headers |= mcp_param_headers(
                        self._parameters.get(name, {}), params.get("arguments") or {}
                    )
        return headers
