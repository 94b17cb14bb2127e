"""The older form of HTTP, one event stream beside requests, on servers that do it badly."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest

from harness.base.errors import ServerError
from harness.sessions.pool import open_sessions
from harness.types import Outcome, ServerSpec
from tests.clock import BOUND_S, PATIENT_S
from tests.sessions.http_servers import Running, running
from tests.sessions.servers import call, calls_until_answered

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    with running() as server:
        yield server


def over_events(shop: Running, path: str = "sse", **settings: float) -> ServerSpec:
    return shop.at(path, transport="sse", protocol="legacy", **settings)


@pytest.mark.parametrize(
    ("tool", "outcome", "text"),
    [
        ("403", "denied", "the server answered HTTP 403 Forbidden: status 403"),
        ("404", "tool_error", "the server answered HTTP 404 Not Found: status 404"),
        ("500", "server_lost", "server 'shop' answered HTTP 500 Internal Server Error: status 500"),
        (
            "reset",
            "server_lost",
            "server 'shop' broke off before it had answered: Connection reset by peer",
        ),
        ("bad_event", "timeout", "no answer within 0.2 s"),
        ("large", "ok", "xxx"),
    ],
)
async def test_whatever_http_answers_has_an_outcome_and_the_next_call_is_well(
    shop: Running, tool: str, outcome: Outcome, text: str
) -> None:
    timeout_s = 0.2 if outcome == "timeout" else PATIENT_S
    before = len(shop.seen("post"))
    async with (
        open_sessions() as pool,
        pool.lend_session(over_events(shop, call_timeout_s=timeout_s), None) as session,
    ):
        made = await call(session, tool)
        assert (made.outcome, made.refusal) == (
            outcome,
            "http_status" if outcome == "denied" else None,
        )
        assert text in made.text
        more = await calls_until_answered(session)
    calls = [
        request["params"]["name"]
        for request in shop.seen("post")[before:]
        if request["method"] == "tools/call"
    ]
    assert calls == [tool, *["echo"] * more]


async def test_a_forgotten_session_is_a_loss_and_the_next_loan_opens_another(
    shop: Running,
) -> None:
    spec = over_events(shop)
    async with open_sessions() as pool:
        async with pool.lend_session(spec, None) as session:
            made = await call(session, "expire")
            said = "server 'shop' answered HTTP 404: Could not find session"
            assert (made.outcome, made.text.replace(" Not Found", "")) == ("server_lost", said)
            assert session.loss_reason == made.text
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"


async def test_a_server_can_finish_what_it_says_to_a_message(shop: Running) -> None:
    before = len(shop.seen("post"))
    async with open_sessions() as pool, pool.lend_session(over_events(shop), None) as session:
        for _ in range(5):
            await call(session, "echo")
    ports = [request["port"] for request in shop.seen("post")[before:]]
    assert len(set(ports)) < len(ports)  # an answer that is not read to its end costs a connection


async def test_a_stream_that_ends_is_a_loss_and_the_next_loan_opens_another(shop: Running) -> None:
    spec = over_events(shop)
    async with open_sessions() as pool:
        async with pool.lend_session(spec, None) as session:
            made = await call(session, "no_event")
            assert (made.outcome, made.text) == (
                "server_lost",
                "server 'shop' closed its event stream",
            )
            assert session.loss_reason == made.text
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.parametrize(
    ("path", "timeout_s", "text"),
    [
        (
            "sse-foreign",
            PATIENT_S,
            (
                "it asks to post requests to another server, http://localhost:PORT/post, which is "
                "not done"
            ),
        ),
        ("sse-silent", 0.2, "did not complete the handshake within 0.2 s of its start"),
    ],
)
async def test_a_stream_that_leads_nowhere_is_told(
    shop: Running, path: str, timeout_s: float, text: str
) -> None:
    async with open_sessions() as pool:
        with anyio.fail_after(BOUND_S), pytest.raises(ServerError) as caught:
            async with pool.lend_session(over_events(shop, path, start_timeout_s=timeout_s), None):
                pass
    assert text.replace("PORT", str(shop.port)) in str(caught.value)
