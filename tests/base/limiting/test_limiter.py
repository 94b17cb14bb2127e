"""The adaptive limit and the cooldown, on the clock of the event loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus
from hypothesis import given
from hypothesis import strategies as st

from harness.base.limiting.limiter import Limiter, Slot, WaitTooLong
from harness.base.limiting.retries import FIRST_BOUND_S, LONGEST_BACKOFF_S, full_jitter
from tests.clock import BOUND_S, clock_goes_forward, once_all_wait

pytestmark = pytest.mark.anyio


async def hold(limiter: Limiter, count: int, judge: Callable[[Slot], None]) -> None:
    """Hold ``count`` slots at the same time, and give them back as ``judge`` says."""
    async with AsyncExitStack() as stack:
        slots = [await stack.enter_async_context(limiter.hold_slot()) for _ in range(count)]
        for slot in slots:
            judge(slot)


def throttle(slot: Slot) -> None:
    slot.throttled = True


def succeed(slot: Slot) -> None:
    slot.succeeded = True


async def test_there_is_no_limit_until_the_api_says_that_it_was_too_much() -> None:
    limiter = Limiter()
    await hold(limiter, 100, succeed)
    assert limiter.limit == math.inf


async def test_a_burst_that_is_throttled_together_halves_the_limit_once() -> None:
    limiter = Limiter()
    await hold(limiter, 20, throttle)
    assert limiter.limit == 10


async def test_the_limit_never_falls_below_one() -> None:
    limiter = Limiter()
    for _ in range(5):
        await hold(limiter, 1, throttle)
    assert limiter.limit == 1
    await hold(limiter, 1, succeed)


async def test_each_further_throttling_halves_again() -> None:
    limiter = Limiter()
    await hold(limiter, 40, throttle)
    await hold(limiter, 20, throttle)
    assert limiter.limit == 10


async def test_the_limit_grows_by_one_when_it_was_used_up_once_over() -> None:
    limiter = Limiter()
    await hold(limiter, 6, throttle)
    assert limiter.limit == 3
    for _ in range(2):
        await hold(limiter, 3, succeed)
    assert limiter.limit == 3
    await hold(limiter, 3, succeed)
    assert limiter.limit == 4


async def test_a_limit_that_is_not_used_up_does_not_grow() -> None:
    limiter = Limiter()
    await hold(limiter, 6, throttle)
    for _ in range(50):
        await hold(limiter, 2, succeed)
    assert limiter.limit == 3


async def test_failures_do_not_raise_the_limit() -> None:
    limiter = Limiter()
    await hold(limiter, 6, throttle)
    for _ in range(50):
        await hold(limiter, 3, lambda slot: None)
    assert limiter.limit == 3


async def run_side_by_side(count: int, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(job)


async def test_no_more_than_the_limit_are_under_way_and_waiting_is_measured() -> None:
    limiter = Limiter()
    await hold(limiter, 4, throttle)
    under_way = 0
    most = 0
    waits: list[float] = []

    async def job() -> None:
        nonlocal under_way, most
        async with limiter.hold_slot() as slot:
            waits.append(slot.waited_s)
            under_way += 1
            most = max(most, under_way)
            await anyio.sleep(0.002)
            under_way -= 1

    with anyio.fail_after(BOUND_S):
        await run_side_by_side(10, job)
    assert most == 2
    assert waits[:2] == [0.0, 0.0]
    assert min(waits[2:]) > 0


async def test_a_pause_makes_everybody_wait_and_a_shorter_one_does_not_end_it() -> None:
    limiter = Limiter()
    limiter.pause(600)
    limiter.pause(1)
    waits: list[float] = []

    async def job() -> None:
        async with limiter.hold_slot() as slot:
            waits.append(slot.waited_s)

    async with anyio.create_task_group() as group:
        group.start_soon(run_side_by_side, 3, job)
        await once_all_wait(300)
        await anyio.wait_all_tasks_blocked()
        assert waits == []
        clock_goes_forward(301)
    assert len(waits) == 3
    assert min(waits) >= 599


async def test_a_pause_that_outlasts_the_deadline_is_not_waited_for() -> None:
    limiter = Limiter()
    started_at = anyio.current_time()
    limiter.pause(600)
    with anyio.fail_after(BOUND_S), pytest.raises(WaitTooLong) as late:
        async with limiter.hold_slot():
            pass
    took = anyio.current_time() - started_at
    assert 600 - took <= late.value.wait_s <= 600
    assert BOUND_S - took <= late.value.left_s <= BOUND_S


async def test_whoever_is_cancelled_while_waiting_gives_its_place_back() -> None:
    limiter = Limiter()
    await hold(limiter, 2, throttle)
    async with limiter.hold_slot(), anyio.create_task_group() as group:

        async def wait(task_status: TaskStatus[anyio.CancelScope]) -> None:
            with anyio.CancelScope() as scope:
                task_status.started(scope)
                async with limiter.hold_slot():
                    pass
            assert scope.cancelled_caught

        scope: anyio.CancelScope = await group.start(wait)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
    with anyio.fail_after(BOUND_S):
        async with limiter.hold_slot():
            pass


async def test_whose_turn_does_not_come_in_time_is_told_how_long_it_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.base.limiting.limiter._LAST_MOMENT_S", 100.0)
    limiter = Limiter()
    await hold(limiter, 2, throttle)
    async with limiter.hold_slot(), anyio.create_task_group() as group:
        group.start_soon(once_all_wait, 501)
        with anyio.fail_after(600), pytest.raises(WaitTooLong) as late:
            async with limiter.hold_slot():
                pass
        assert math.isinf(late.value.wait_s)
        assert 500 < late.value.waited_s < 600
    with anyio.fail_after(BOUND_S):
        async with limiter.hold_slot():
            pass


async def test_who_asks_in_the_last_moment_is_ended_by_the_deadline_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.base.limiting.limiter._LAST_MOMENT_S", 2 * BOUND_S)
    limiter = Limiter()
    await hold(limiter, 2, throttle)
    async with limiter.hold_slot():
        with pytest.raises(TimeoutError), anyio.fail_after(0.03):
            async with limiter.hold_slot():
                pass
    with anyio.fail_after(BOUND_S):
        async with limiter.hold_slot() as slot:
            assert slot.waited_s == 0


async def test_a_turn_that_comes_in_the_last_moment_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.base.limiting.limiter._LAST_MOMENT_S", 2 * BOUND_S)
    limiter = Limiter()
    await hold(limiter, 2, throttle)
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group, limiter.hold_slot():

            async def ask(task_status: TaskStatus[None]) -> None:
                task_status.started()
                async with limiter.hold_slot() as slot:
                    slot.succeeded = True

            await group.start(ask)
            await anyio.wait_all_tasks_blocked()


@given(retry=st.integers(1, 10_000))
def test_the_backoff_is_bounded(retry: int) -> None:
    assert (
        0 <= full_jitter(retry) <= min(LONGEST_BACKOFF_S, FIRST_BOUND_S * 2 ** min(retry - 1, 10))
    )


async def test_a_configured_limit_is_never_exceeded_and_found_again() -> None:
    limiter = Limiter(3)
    await hold(limiter, 3, throttle)
    assert limiter.limit == 1
    for _ in range(20):
        await hold(limiter, int(limiter.limit), succeed)
    assert limiter.limit == 3


async def test_what_had_begun_before_the_limit_takes_of_it_until_it_has_ended() -> None:
    limiter = Limiter()
    begun = [limiter.begin_request() for _ in range(4)]
    begun[0].throttled = True
    limiter.end_request(begun[0])
    assert limiter.limit == 2
    with anyio.move_on_after(0.5), pytest.raises(WaitTooLong):
        await hold(limiter, 1, succeed)
    limiter.end_request(begun[1])
    limiter.end_request(begun[2])
    with anyio.fail_after(BOUND_S):
        await hold(limiter, 1, succeed)
