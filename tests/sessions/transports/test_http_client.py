"""HTTP headers that repeat parts of a message, and errors in plain words."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.methods import CLIENT_REQUESTS

from harness.base.transports import url_text
from harness.sessions.transports.http_client import build_status_fault, extract_text
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.routing_headers import RoutingHeaders

TOOL = {
    "name": "search",
    "inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "text": {"type": "string"},
        },
    },
}


def test_the_newest_revision_repeats_what_a_schema_marks() -> None:
    routing = RoutingHeaders("2026-07-28")
    routing.learn_tools([TOOL, {"name": "broken"}, None])
    call = {"name": "search", "arguments": {"region": "EU", "text": "x"}}
    assert routing.build_headers("tools/call", call) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "search",
        "Mcp-Param-Region": "EU",
    }
    assert routing.build_headers("tools/list", {}) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/list",
    }


def test_older_revisions_say_only_their_own_name() -> None:
    routing = RoutingHeaders("2025-11-25")
    routing.learn_tools([TOOL])
    assert routing.build_headers("tools/call", {"name": "search"}) == {
        "mcp-protocol-version": "2025-11-25"
    }
    assert RoutingHeaders(None).build_headers("initialize", {}) == {}


TEXTS = st.text() | st.sampled_from(["näme\r\nX: y", " greet ", "=?base64?eA==?=", "♥", ""])
METHODS = sorted(name for name, _ in CLIENT_REQUESTS)


@given(st.sampled_from(METHODS), TEXTS, TEXTS)
def test_a_server_finds_in_the_headers_of_any_request_what_its_body_says(
    method: str, name: str, uri: str
) -> None:
    meta = {
        PROTOCOL_VERSION_META_KEY: "2026-07-28",
        CLIENT_CAPABILITIES_META_KEY: {},
    }
    params = {"name": name, "uri": uri, "cursor": name, "_meta": meta}
    headers = RoutingHeaders("2026-07-28").build_headers(method, params)
    assert all(value.isascii() and value.isprintable() for value in headers.values())
    request = {"method": method, "params": params}
    told = classify_inbound_request(request, headers=headers)
    assert isinstance(told, InboundModernRoute), told


@pytest.mark.parametrize("params", [{}, {"name": 5, "uri": None}, {"name": None, "uri": ["x"]}])
@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read", "tools/list"])
def test_what_is_no_name_is_in_no_header(method: str, params: dict[str, Any]) -> None:
    assert "mcp-name" not in RoutingHeaders("2026-07-28").build_headers(method, params)


def test_arguments_stand_in_headers_of_a_call_alone() -> None:
    routing = RoutingHeaders("2026-07-28")
    routing.learn_tools([TOOL])
    named = {"name": "search", "arguments": {"region": "EU"}}
    assert "Mcp-Param-Region" not in routing.build_headers("prompts/get", named)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error":"invalid_token"}', '{"error":"invalid_token"}'),
        (
            b"<html><script>let a = 1 < 2;</script><body><h1>502</h1>\n<p>Bad  gateway</p>",
            "502 Bad gateway",
        ),
        (b"1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"", ""),
    ],
)
def test_an_error_is_told_in_words(body: bytes, words: str) -> None:
    assert extract_text(body) == words


def test_a_long_error_is_cut_and_an_empty_one_says_what_its_header_says() -> None:
    request = httpx2.Request("POST", "https://example.com/mcp")
    response = httpx2.Response(401, headers={"www-authenticate": "Bearer"}, request=request)
    assert str(build_status_fault(response, b"")) == "answered HTTP 401 Unauthorized: Bearer"
    assert len(str(build_status_fault(response, b"x" * 100_000))) < 400


def test_what_may_be_a_secret_is_not_shown() -> None:
    assert (
        url_text(httpx2.URL("https://u:p@example.com:8443/a?k=v#f")) == "https://example.com:8443/a"
    )


@pytest.mark.parametrize(
    ("status", "refuses", "blames"),
    [
        *[(401, True, False), (403, True, False)],
        *[(400, False, True), (404, False, True), (413, False, True)],
        *[
            (429, False, False),
            (500, False, False),
            (503, False, False),
            (307, False, False),
            (None, False, False),
        ],
    ],
)
def test_a_status_is_about_who_asks_or_what_was_asked_or_neither(
    status: int | None, refuses: bool, blames: bool
) -> None:
    fault = HttpFault("", status=status)
    assert (fault.is_refusal, fault.blames_the_request) == (refuses, blames)
