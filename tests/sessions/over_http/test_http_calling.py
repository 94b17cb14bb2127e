"""Calls over HTTP that go wrong.

Each has an outcome, is sent once, and does no harm to the others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import anyio
import pytest

from harness.base.errors import RequestRefused, UsageError
from harness.sessions.pool import open_sessions
from harness.sessions.session import TracedSession, TraceIds
from harness.sessions.transports import http_client as web
from harness.types import IdentitySpec, Outcome
from tests.clock import BOUND_S
from tests.sessions.http_servers import Running, free_port, running
from tests.sessions.servers import call, calls_until_answered

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.mark.parametrize(
    ("tool", "outcome", "text"),
    [
        ("401", "denied", "the server answered HTTP 401 Unauthorized: status 401"),
        ("403", "denied", "the server answered HTTP 403 Forbidden: status 403"),
        ("refused", "denied", "the server answered HTTP 403 Forbidden: only for admins"),
        (
            "stall_error",
            "denied",
            'the server answered HTTP 401 Unauthorized: Bearer error="invalid_token"',
        ),
        ("400", "tool_error", "the server answered HTTP 400: status 400"),
        ("404", "tool_error", "the server answered HTTP 404 Not Found: status 404"),
        ("500", "server_lost", "server 'shop' answered HTTP 500 Internal Server Error: status 500"),
        ("502", "server_lost", "server 'shop' answered HTTP 502 Bad Gateway: status 502"),
        (
            "loud",
            "server_lost",
            "server 'shop' answered HTTP 500 Internal Server Error: Sorry Nothing to see here",
        ),
        ("own_error", "tool_error", "the query is wrong"),
        (
            "reset",
            "server_lost",
            "server 'shop' broke off before it had answered: Connection reset by peer",
        ),
        (
            "elsewhere",
            "server_lost",
            "a redirect to http://localhost:PORT/good, which is not followed",
        ),
        (
            "as_get",
            "server_lost",
            "a redirect to http://127.0.0.1:PORT/good, which is not followed",
        ),
        (
            "garbage",
            "invalid_result",
            "the server's answer is not a JSON-RPC 2.0 answer: {not json",
        ),
        (
            "html",
            "invalid_result",
            "not a JSON-RPC 2.0 answer: HTTP 200 with content of type 'text/html'",
        ),
        ("untyped", "invalid_result", "not a JSON-RPC 2.0 answer: content without a type"),
        (
            "null_result",
            "invalid_result",
            'not a JSON-RPC 2.0 answer: {"jsonrpc": "2.0", "result": null}',
        ),
        ("accepted", "server_lost", "server 'shop' answered HTTP 202 Accepted"),
        ("empty_batch", "invalid_result", "the server's answer is not a JSON-RPC 2.0 answer: []"),
        (
            "notified",
            "invalid_result",
            'not a JSON-RPC 2.0 answer: {"jsonrpc": "2.0", "method": "notifications/progress"',
        ),
        ("bad_event", "invalid_result", "not a JSON-RPC 2.0 answer: {not json"),
        ("no_event", "server_lost", "server 'shop' ended its event stream without an answer"),
        ("never_resumed", "server_lost", "server 'shop' ended its event stream without an answer"),
        ("bomb", "invalid_result", "not a JSON-RPC 2.0 answer"),
    ],
)
async def test_whatever_http_answers_has_an_outcome_and_the_next_call_is_well(
    shop: Running, tool: str, outcome: Outcome, text: str
) -> None:
    path = f"good?{tool}"
    async with open_sessions() as pool, pool.lend_session(shop.at(path), None) as session:
        with anyio.fail_after(BOUND_S):
            made = await call(session, tool)
        assert (made.outcome, made.refusal) == (
            outcome,
            "http_status" if outcome == "denied" else None,
        )
        assert text.replace("PORT", str(shop.port)) in made.text
        assert "secret" not in made.text
        assert session.loss_reason is None
        assert (await call(session, "echo")).outcome == "ok"
    sent = [
        request["params"]["name"]
        for request in shop.seen(path)
        if request.get("method") == "tools/call"
    ]
    assert sent == [tool, "echo"]


@pytest.mark.parametrize("tool", ["stall", "stall_body", "drip"])
@pytest.mark.parametrize("protocol", ["2026-07-28", "legacy"])
async def test_an_answer_that_never_ends_is_a_timeout(
    shop: Running, tool: str, protocol: str
) -> None:
    path = f"good?{tool}-{protocol}"
    spec = shop.at(path, call_timeout_s=0.2, protocol=protocol)
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, tool)).outcome == "timeout"
        more = await calls_until_answered(session)
    methods = [request.get("method") for request in shop.seen(path)]
    assert methods.count("tools/call") == 1 + more
    assert methods.count("notifications/cancelled") == (more if protocol == "legacy" else 0)


async def test_a_server_that_does_not_take_a_cancellation_holds_nobody_up(shop: Running) -> None:
    spec = shop.at("deaf", call_timeout_s=0.2, protocol="legacy")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, "stall")).outcome == "timeout"
        await calls_until_answered(session)


@pytest.mark.parametrize(
    ("tool", "limit"), [("endless", "answered with more than 8 MB"), ("endless_event", "8000000")]
)
async def test_an_answer_without_end_is_cut_off(
    shop: Running, tool: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "MAX_MESSAGE_BYTES", 8_000_000)
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        made = await call(session, tool)
        assert made.outcome == "server_lost"
        assert limit in made.text
        assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.slow
async def test_a_result_of_20_mb_is_cut_with_a_notice(shop: Running) -> None:
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        with anyio.fail_after(BOUND_S):
            made = await call(session, "large")
    assert made.outcome == "ok"
    assert made.result_bytes > 20_000_000
    assert len(made.text) < 101_000


async def test_answers_are_read_as_leniently_as_over_stdio(shop: Running) -> None:
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        assert (await call(session, "not_a_number")).structured == {"x": "NaN"}
        assert (await call(session, "wrong_id")).text == "mine all the same"


async def test_an_answer_in_events_is_taken_though_the_stream_stays_open(shop: Running) -> None:
    def answered() -> list[object]:
        return [
            request["result"]
            for request in shop.seen("good?events")
            if request.get("id") == "theirs"
        ]

    spec = shop.at("good?events", protocol="legacy")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        with anyio.fail_after(BOUND_S):
            assert (await call(session, "in_events")).text == "at last"
            while not answered():  # noqa: ASYNC110 - only the server knows, in another process
                await anyio.sleep(0.01)
    assert answered() == [{}]


@pytest.mark.parametrize("tool", ["resumable", "broken"])
async def test_the_rest_of_a_stream_is_asked_for_and_the_call_is_not_sent_again(
    shop: Running, tool: str
) -> None:
    path = f"good?resume-{tool}"
    async with open_sessions() as pool, pool.lend_session(shop.at(path), None) as session:
        with anyio.fail_after(BOUND_S):
            assert (await call(session, tool)).text == "resumed"
    verbs = [request["verb"] for request in shop.seen(path)]
    # The server's description, the list, the call, the rest of its answer.
    assert verbs == ["POST", "POST", "POST", "GET"]


async def test_a_reset_harms_no_other_call(shop: Running) -> None:
    made = {}
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:

        async def make(tool: str) -> None:
            made[tool] = (await call(session, tool)).outcome

        async with anyio.create_task_group() as tasks:
            for tool in ("in_events", "reset", "large", "cut_body", "echo"):
                tasks.start_soon(make, tool)
    assert made == {
        "in_events": "ok",
        "reset": "server_lost",
        "large": "ok",
        "cut_body": "server_lost",
        "echo": "ok",
    }


async def test_an_expired_session_is_a_loss_and_the_next_loan_has_a_new_one(shop: Running) -> None:
    spec = shop.at("sessions", protocol="legacy")
    async with open_sessions() as pool:
        async with pool.lend_session(spec, None) as session:
            made = await call(session, "expire")
            assert made.outcome == "server_lost"
            assert made.text == "server 'shop' answered HTTP 404 Not Found: Session not found"
            assert session.loss_reason == made.text
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"
    methods = [request.get("method") or request["verb"] for request in shop.seen("sessions")]
    assert methods.count("initialize") == 2
    assert methods.count("tools/call") == 2
    assert methods[-1] == "DELETE"
    assert methods.count("DELETE") == 1  # of the session that was still known


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("expire_in_200", "no longer knows the session: Session not found"),
        ("expire_in_event", "no longer knows the session: session expired"),
        ("expire_as_refusal", "answered HTTP 401 Unauthorized: Unauthorized: Session not found"),
        (
            "expire_as_bad_request",
            'answered HTTP 400: {"error": "Bad Request: No valid session ID provided"}',
        ),
    ],
)
async def test_an_expired_session_in_another_form_is_a_loss_too(
    shop: Running, tool: str, words: str
) -> None:
    spec = shop.at("sessions", protocol="legacy")
    async with open_sessions() as pool:
        async with pool.lend_session(spec, None) as session:
            made = await call(session, tool)
            assert (made.outcome, made.text) == (
                "server_lost",
                f"server 'shop' {words}",
            )
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.parametrize(
    ("path", "tool", "outcome"),
    [
        ("sessions", "unauthorized_in_200", "denied"),
        ("sessions", "login_expired", "denied"),
        ("sessions", "no_such_resource", "tool_error"),
        ("good", "expire_in_200", "tool_error"),
        ("good", "expire_as_refusal", "denied"),
        ("good", "expire_as_bad_request", "tool_error"),
    ],
)
async def test_what_does_not_say_that_of_a_session_is_the_servers_answer(
    shop: Running, path: str, tool: str, outcome: str
) -> None:
    spec = shop.at(path, protocol="legacy")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, tool)).outcome == outcome
        assert session.loss_reason is None


async def test_a_server_that_takes_its_time_for_the_end_of_the_handshake_gets_it(
    shop: Running,
) -> None:
    spec = shop.at("slow_start", protocol="legacy")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.parametrize(
    ("tool", "text"), [("marked_events", "behind a mark"), ("two_messages", "glued")]
)
async def test_a_byte_order_mark_and_a_second_message_hide_no_answer(
    shop: Running, tool: str, text: str
) -> None:
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        assert (await call(session, tool)).text == text


async def test_a_traced_call_carries_its_context_and_tells_how_it_was_sent(shop: Running) -> None:
    spec = shop.at("sessions?traced", protocol="legacy")
    ids = TraceIds("run-1", "trial-1")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        made = await call(TracedSession(session, ids), "echo")
        plain = await call(session, "echo")
    sent, other = (one for one in shop.seen("sessions?traced") if one.get("method") == "tools/call")
    assert made.wire is not None
    assert made.wire.id == str(sent["id"])
    assert made.wire.session == sent["headers"]["mcp-session-id"]
    assert (made.wire.protocol, made.wire.transport) == ("2025-11-25", "tcp")
    told = sent["params"]["_meta"]
    assert told == {
        "traceparent": ids.format_traceparent(ids.derive_call_span(made.reply, made.request_id))
    }
    assert plain.wire is not None
    assert plain.wire.session is None  # it would let in whoever reads the log
    assert "_meta" not in other["params"]


async def test_every_request_carries_what_was_configured_and_what_was_agreed(shop: Running) -> None:
    spec = shop.at("sessions?headers", protocol="legacy", headers={"X-Api-Key": "k-271828"})
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        made = await call(session, "echo")
    assert made.structured is not None
    headers = made.structured["headers"]
    assert headers["x-api-key"] == "k-271828"
    assert headers["mcp-protocol-version"] == "2025-11-25"
    assert headers["mcp-session-id"]
    assert {"x-api-key"} <= set.intersection(
        *(set(each["headers"]) for each in shop.seen("sessions?headers"))
    )


async def test_a_user_is_told_in_headers_and_nobody_leaves_none(shop: Running) -> None:
    identity = IdentitySpec(
        via="header",
        settings={"headers": {"X-Role": "{role}", "X-Chief": "{chief}", "X-Name": "{name}"}},
    )
    spec = shop.at("good?who", identity=identity, headers={"x-name": "nobody"})
    async with open_sessions() as pool:
        for user in ({"role": "analyst", "chief": None, "name": "Zo\xeb"}, {"role": "admin"}, None):
            async with pool.lend_session(spec, user) as session:
                await call(session, "echo")
    told = [
        [request["headers"].get(name) for name in ("x-role", "x-chief", "x-name")]
        for request in shop.seen("good?who")
    ]
    # Each user asks for the server's description, lists the tools, and calls one.
    assert (
        told
        == [["analyst", None, "Zo\xeb"]] * 3
        + [["admin", None, "nobody"]] * 3
        + [[None, None, "nobody"]] * 3
    )


async def test_a_user_is_told_in_the_url_beside_its_own_parameters(shop: Running) -> None:
    templates = {"role": "{role}", "chief": "{chief}", "name": "{name}"}
    identity = IdentitySpec(via="query", settings={"parameters": templates})
    spec = shop.at("good?asked&x=%2F&name=nobody", identity=identity)
    async with open_sessions() as pool:
        for user in ({"role": "a&b", "chief": None, "name": "Zoë"}, None):
            async with pool.lend_session(spec, user) as session:
                await call(session, "echo")
    told = [request["path"] for request in shop.seen("good?asked")]
    assert (
        told
        == ["/good?asked&x=%2F&role=a%26b&name=Zo%C3%AB"] * 3
        + ["/good?asked&x=%2F&name=nobody"] * 3
    )


async def test_a_user_who_cannot_stand_in_a_header_is_refused_before_anything_is_sent(
    shop: Running,
) -> None:
    spec = shop.at(
        "good?injection",
        identity=IdentitySpec(via="header", settings={"headers": {"X-Role": "{role}"}}),
    )
    async with open_sessions() as pool:
        for role in ("admin\r\nX-Admin: yes", "адмін", "\0", " admin"):
            with pytest.raises(
                UsageError, match="the header 'X-Role' of this user_context cannot be sent"
            ):
                async with pool.lend_session(spec, {"role": role}):
                    pass
    assert shop.seen("good?injection") == []


async def test_the_newest_revision_repeats_method_and_name_in_headers(shop: Running) -> None:
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        made = await call(session, "echo")
    assert made.structured is not None
    headers = made.structured["headers"]
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert (headers["mcp-method"], headers["mcp-name"]) == ("tools/call", "echo")


async def test_a_redirect_within_the_server_is_followed(shop: Running) -> None:
    async with open_sessions() as pool, pool.lend_session(shop.at("next_door"), None) as session:
        assert (await call(session, "echo")).outcome == "ok"


async def test_a_user_and_password_in_the_url_are_sent_as_such_and_never_shown(
    shop: Running,
) -> None:
    url = f"http://ada:l%40velace@127.0.0.1:{shop.port}/good?key=271828"
    async with open_sessions() as pool, pool.lend_session(shop.at("", url=url), None) as session:
        made = await call(session, "echo")
        refused = await call(session, "500")
    assert made.structured is not None
    assert made.structured["headers"]["authorization"] == "Basic YWRhOmxAdmVsYWNl"
    assert "271828" not in refused.text


async def test_a_proxy_of_the_environment_does_not_come_between_us_and_this_machine(
    shop: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert "HTTP_PROXY" in os.environ
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.parametrize("tool", ["403", "refused"])
async def test_a_request_that_is_no_call_is_refused_by_status_as_a_call_is(
    shop: Running, tool: str
) -> None:
    async with open_sessions() as pool, pool.lend_session(shop.at("good"), None) as session:
        with pytest.raises(RequestRefused, match="HTTP 403 Forbidden") as refused:
            await session.send_request("tools/call", {"name": tool, "arguments": {}})
        assert (refused.value.code, session.loss_reason) == (403, None)
