"""A server over HTTP that takes only so much: who waits, how long, and what is sent again."""

from __future__ import annotations

import anyio
import pytest

from harness.base.errors import ServerError
from harness.sessions.pool import open_sessions
from harness.sessions.transports.throttle import MAX_RETRIES, find_limit
from harness.types import ToolCall, ToolRequest
from tests.clock import BOUND_S
from tests.sessions.busy_server import Asked, TurnedAway, after, busy
from tests.sessions.servers import call
from tests.support import a_server

pytestmark = pytest.mark.anyio

SOON = TurnedAway(headers={"retry-after": "0.05"})
LATER = TurnedAway(headers={"retry-after": "600"})


@pytest.mark.parametrize("away", [SOON, TurnedAway(503, {"retry-after": "0.05"}), TurnedAway(429)])
async def test_a_call_that_came_too_early_is_made_again(away: TurnedAway) -> None:
    with busy(after(2, away)) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            made = await call(session, "echo")
    assert (made.outcome, made.text) == ("ok", "done")
    assert [one.turned_away for one in server.calls()] == [True, True, False]


async def test_the_wait_is_that_which_the_server_asks_for_and_no_part_of_the_call() -> None:
    away = TurnedAway(headers={"retry-after": "0.5"})
    with busy(after(1, away)) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            made = await call(session, "echo")
    first, second = server.calls()
    assert second.at_s - first.at_s >= 0.5
    assert made.waited_s >= 0.49
    assert made.started_s >= 0.49


async def test_a_call_that_found_its_turn_at_once_has_not_waited() -> None:
    with busy(after(0, SOON)) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            made = await call(session, "echo")
    assert made.waited_s == 0


@pytest.mark.slow
async def test_the_wait_is_no_part_of_the_time_that_a_call_may_take() -> None:
    with busy(after(1, TurnedAway(headers={"retry-after": "1.5"}))) as server:
        spec = server.spec(call_timeout_s=1.0)
        async with open_sessions() as pool, pool.lend_session(spec, None) as session:
            made = await call(session, "echo")
    assert made.outcome in {"ok", "timeout"}  # a busy machine may take a second for the call itself
    assert [one.turned_away for one in server.calls()] == [True, False]


async def test_a_503_that_names_no_time_is_not_made_again() -> None:
    with busy(after(1, TurnedAway(503))) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            made = await call(session, "echo")
    assert made.outcome == "server_lost"
    assert "answered HTTP 503 Service Unavailable: slow down" in made.text
    assert len(server.calls()) == 1


async def test_a_server_that_always_turns_away_is_asked_a_few_times() -> None:
    with busy(after(100, SOON)) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            made = await call(session, "echo")
            assert session.loss_reason is None
    assert made.outcome == "server_lost"
    assert "answered HTTP 429 Too Many Requests: slow down (4 attempts)" in made.text
    assert len(server.calls()) == 1 + MAX_RETRIES


async def test_a_wait_that_outlasts_the_trial_is_not_begun() -> None:
    with busy(after(100, LATER)) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            first = await call(session, "echo")
            second = await call(session, "echo")
    assert "slow down; the next attempt may start in 600 s, but the trial ends in" in first.text
    assert "was not asked: it asked all trials to wait" in second.text
    assert (second.outcome, second.duration_s) == ("server_lost", 0)
    assert len(server.calls()) == 1


@pytest.mark.slow
async def test_a_cooldown_holds_for_every_user_and_every_new_session() -> None:
    with busy(after(1, TurnedAway(headers={"retry-after": "1"}))) as server:
        async with (
            open_sessions() as pool,
            pool.lend_session(server.spec(), {"user": "ann"}) as first,
        ):
            request = ToolRequest(id="1", tool="echo", arguments={})
            with anyio.move_on_after(0.9):  # too short for the wait, which is not begun
                await first.call(request, reply=1, epoch=anyio.current_time())
            async with pool.lend_session(server.spec(), {"user": "bob"}) as second:
                made = await call(second, "echo")
    away, *others = server.calls()
    assert made.outcome == "ok"
    assert len(others) == 1
    assert [one for one in server.asked if away.at_s < one.at_s < away.at_s + 0.99] == []


async def test_a_start_that_came_too_early_is_tried_again() -> None:
    def verdict(method: str, before: list[Asked]) -> TurnedAway | None:
        return SOON if sum(one.method == method for one in before) < 1 else None

    with busy(verdict) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            assert [tool.name for tool in session.tools.tools] == ["echo"]


async def test_a_start_that_may_come_only_much_later_fails_and_says_so_each_time() -> None:
    def verdict(method: str, before: list[Asked]) -> TurnedAway | None:
        return LATER if method == "initialize" else None

    with busy(verdict) as server:
        async with open_sessions() as pool:
            for _ in range(5):
                with pytest.raises(ServerError, match=r"wait|slow down") as raised:
                    async with pool.lend_session(server.spec(start_timeout_s=30.0), None):
                        pass
                assert "the next attempt may start in" in str(raised.value)
                assert "its start ends in" in str(raised.value)
                assert "not tried again" not in str(raised.value)
    assert len(server.asked) == 1


async def test_as_many_calls_are_under_way_as_are_configured() -> None:
    made: list[ToolCall] = []
    with busy(after(0, SOON), works_s=0.02) as server:
        async with (
            open_sessions() as pool,
            pool.lend_session(server.spec(concurrency=2), None) as one,
        ):

            async def ask(number: int) -> None:
                request = ToolRequest(id=str(number), tool="echo", arguments={})
                made.append(await one.call(request, reply=1, epoch=anyio.current_time()))

            with anyio.fail_after(BOUND_S):
                async with anyio.create_task_group() as group:
                    for number in range(8):
                        group.start_soon(ask, number)
    assert max(call.beside for call in server.calls()) == 2
    assert {call.outcome for call in made} == {"ok"}
    assert sum(call.waited_s > 0 for call in made) == 6


async def test_what_is_turned_away_halves_the_calls_under_way() -> None:
    with busy(after(8, SOON), works_s=0.05) as server:
        async with open_sessions() as pool, pool.lend_session(server.spec(), None) as session:
            with anyio.fail_after(BOUND_S):
                async with anyio.create_task_group() as group:
                    for _ in range(8):
                        group.start_soon(call, session, "echo")
    later = [one for one in server.calls() if not one.turned_away]
    assert len(later) == 8
    assert max(one.beside for one in later) <= 5  # half, and one more for each that was used up


def test_a_server_at_an_address_has_one_limit_whoever_asks() -> None:
    url = "https://mcp.example.com/mcp"
    one = find_limit(a_server(name="a", transport="http", url=url, headers={"x": "token-1"}))
    other = find_limit(a_server(name="b", transport="http", url=url, headers={"x": "token-2"}))
    assert one == other
    assert find_limit(a_server(name="c", transport="http", url=f"{url}/2")) != one


def test_a_server_that_harness_starts_has_a_limit_only_if_it_is_configured() -> None:
    assert find_limit(a_server(name="a", command="server")) is None
    limited = find_limit(a_server(name="a", command="server", concurrency=3))
    assert limited is not None
    assert limited.most == 3
