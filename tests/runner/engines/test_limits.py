"""One limiter for several workers, on the clock of the event loop."""

from __future__ import annotations

import math
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import permutations

import anyio
import pytest

from harness.base.limiting.limiter import LimitedTarget, WaitTooLong
from harness.models.endpoint import get_limit
from harness.runner.engines.limits import NEWS_S, SPARE_S, RunLimiters, SharedLimiter, SlotGrant
from harness.types import ModelSpec, Secret
from tests.clock import BOUND_S, once_all_wait

pytestmark = pytest.mark.anyio


def the_model(longest_s: float = 60.0, name: str = "m") -> LimitedTarget:
    return LimitedTarget(name=name, longest_s=longest_s)


def two(limits: RunLimiters, longest_s: float = 60.0) -> tuple[SharedLimiter, SharedLimiter]:
    """Return what two workers have of one model."""
    limited = the_model(longest_s)
    return SharedLimiter(limited, limits), SharedLimiter(limited, limits)


async def throttled(limiter: SharedLimiter) -> None:
    async with limiter.hold_slot() as slot:
        slot.throttled = True


async def enters_only_after(one: SharedLimiter, other: SharedLimiter) -> None:
    """Assert that ``other`` gets a slot once ``one`` has given its own back, and not before."""
    entered = anyio.Event()

    async def enter() -> None:
        async with other.hold_slot() as slot:
            assert slot.waited_s > 0
            entered.set()

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group:
            async with one.hold_slot():
                group.start_soon(enter)
                await once_all_wait(1.0)
                assert not entered.is_set()
            await entered.wait()


async def test_what_one_worker_is_told_to_send_less_limits_the_other() -> None:
    one, other = two(RunLimiters())
    await throttled(one)
    await enters_only_after(one, other)


async def test_a_configured_limit_holds_for_all_workers_from_the_start() -> None:
    limits = RunLimiters()
    one, other = (SharedLimiter(replace(the_model(), most=1), limits) for _ in range(2))
    await enters_only_after(one, other)


async def test_a_pause_holds_for_all_workers() -> None:
    one, other = two(RunLimiters())
    one.pause(30.0)
    entered = anyio.Event()

    async def enter() -> None:
        async with other.hold_slot() as slot:
            assert slot.waited_s >= 30
            entered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(enter)
        await once_all_wait(29.0)
        await anyio.wait_all_tasks_blocked()
        assert not entered.is_set()
        await once_all_wait(1.5)
        with anyio.fail_after(BOUND_S):
            await entered.wait()


async def test_a_pause_that_outlasts_the_trial_is_not_begun() -> None:
    one, other = two(RunLimiters())
    one.pause(30.0)
    with anyio.move_on_after(5.0), pytest.raises(WaitTooLong) as late:
        async with other.hold_slot():
            pass
    assert 29 < late.value.wait_s <= 30
    assert late.value.left_s <= 5


async def test_what_a_dead_worker_holds_is_lent_again_after_its_time() -> None:
    limits = RunLimiters()
    one, other = two(limits)
    await throttled(one)
    # A worker that is killed never releases.
    await limits.acquire(the_model(20.0), "of the dead", math.inf)
    entered = anyio.Event()

    async def enter() -> None:
        async with other.hold_slot():
            entered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(limits.reclaim_expired)
        group.start_soon(enter)
        await once_all_wait(20.0 + SPARE_S - 2)
        await anyio.wait_all_tasks_blocked()
        assert not entered.is_set()
        await once_all_wait(4.0)
        with anyio.fail_after(BOUND_S):
            await entered.wait()
        group.cancel_scope.cancel()


async def test_a_slot_that_is_given_back_late_is_not_given_back_twice() -> None:
    limits = RunLimiters()
    await throttled(two(limits)[0])
    await limits.acquire(the_model(-SPARE_S), "slow", math.inf)
    await limits.take_back()
    await limits.release("slow", succeeded=True, throttled=False)
    assert (await limits.acquire(the_model(), "next", math.inf)).too_long is None
    assert (await limits.acquire(the_model(), "one more", 0.5)).too_long is not None


@pytest.mark.parametrize("order", list(permutations(("adopt", "release", "pause"))))
async def test_a_rate_limit_counts_in_whatever_order_its_messages_arrive(
    order: tuple[str, ...],
) -> None:
    limits, limited = RunLimiters(), the_model()
    for message in order:
        if message == "adopt":
            limits.adopt_soon(
                limited, ("told to wait", *(f"other {number}" for number in range(5)))
            )
        elif message == "release":
            await limits.release("told to wait", succeeded=False, throttled=True)
        else:
            limits.pause_soon(limited, 3.0)
    assert limits._limiters["m"].limit == 3  # of six


async def test_a_worker_that_gave_up_before_its_question_arrived_takes_no_slot() -> None:
    limits = RunLimiters()
    await throttled(two(limits)[0])  # one request at a time from here on
    await limits.release("gone", succeeded=False, throttled=False)
    assert (await limits.acquire(the_model(), "gone", math.inf)).too_long is not None
    assert (await limits.acquire(the_model(), "next", math.inf)).too_long is None


async def test_an_end_whose_begin_never_arrives_is_not_kept_for_ever() -> None:
    limits = RunLimiters()
    await limits.release("gone", succeeded=True, throttled=False)
    await once_all_wait(SPARE_S + 1)
    await limits.take_back()
    assert not limits._early


async def test_a_worker_that_no_longer_waits_takes_no_slot() -> None:
    limits = RunLimiters()
    one, _ = two(limits)
    await throttled(one)
    answered = anyio.Event()

    async def ask() -> None:
        granted = await limits.acquire(the_model(), "gone", math.inf)
        assert granted.too_long is not None
        answered.set()

    async with anyio.create_task_group() as group, one.hold_slot():
        # What was asked goes on where it was asked when the worker itself is cancelled.
        group.start_soon(ask)
        await once_all_wait(1.0)
        await limits.release("gone", succeeded=False, throttled=False)
        with anyio.fail_after(BOUND_S):
            await answered.wait()


async def test_other_models_are_not_limited() -> None:
    limits = RunLimiters()
    one, _ = two(limits)
    await throttled(one)
    async with one.hold_slot(), SharedLimiter(the_model(name="other"), limits).hold_slot() as slot:
        assert slot.waited_s == 0


class Asked(RunLimiters):
    """Limits that count how often they are asked for a slot."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    async def acquire(self, limited: LimitedTarget, lease: str, left_s: float) -> SlotGrant:
        self.times += 1
        return await super().acquire(limited, lease, left_s)


async def test_nobody_asks_for_each_request_until_somebody_is_told_to_send_less() -> None:
    limits = Asked()
    one, other = two(limits)
    for _ in range(5):
        async with one.hold_slot(), other.hold_slot():
            pass
    assert limits.times == 2  # each heard once that it need not ask
    await throttled(one)
    await anyio.wait_all_tasks_blocked()
    for _ in range(5):
        async with one.hold_slot():
            pass
        async with other.hold_slot():
            pass
    assert limits.times == 12


async def test_the_half_is_that_of_all_that_was_under_way_on_all_workers() -> None:
    limits = RunLimiters()
    one, other = two(limits)
    async with AsyncExitStack() as held:
        for limiter in (one, one, one, other, other, other, other):
            await held.enter_async_context(limiter.hold_slot())
        await throttled(one)
        await anyio.wait_all_tasks_blocked()
        assert limits._limiters["m"].limit == 4  # of eight


async def test_requests_that_began_before_the_limit_are_waited_for() -> None:
    limits = RunLimiters()
    one, other = two(limits)
    entered = anyio.Event()

    async def enter() -> None:
        async with other.hold_slot():
            entered.set()

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group, other.hold_slot(), other.hold_slot():
            await throttled(one)  # of three that are under way one may be
            await anyio.wait_all_tasks_blocked()
            group.start_soon(enter)
            await once_all_wait(1.0)
            assert not entered.is_set()
        assert entered.is_set()


async def test_a_pause_of_one_worker_is_heard_by_those_that_do_not_ask() -> None:
    limits = RunLimiters()
    one, other = two(limits)
    async with other.hold_slot():
        pass
    one.pause(30.0)
    await anyio.wait_all_tasks_blocked()
    with anyio.move_on_after(5.0), pytest.raises(WaitTooLong):
        async with other.hold_slot():
            pass


async def test_a_burst_on_two_workers_halves_the_limit_once() -> None:
    limits = RunLimiters()
    one, other = two(limits)
    async with AsyncExitStack() as held:
        slots = [
            await held.enter_async_context(limiter.hold_slot()) for limiter in (one, other) * 4
        ]
        for slot in slots:
            slot.throttled = True
    assert limits._limiters["m"].limit == 4


async def test_a_worker_goes_on_hearing_for_as_long_as_nothing_happens() -> None:
    limits = Asked()
    one, other = two(limits)
    async with one.hold_slot(), other.hold_slot():
        pass
    for _ in range(3):
        await once_all_wait(NEWS_S + 1)
    async with one.hold_slot():
        pass
    assert limits.times == 2
    other.pause(30.0)
    await anyio.wait_all_tasks_blocked()
    with anyio.move_on_after(5.0), pytest.raises(WaitTooLong):
        async with one.hold_slot():
            pass


def test_the_limits_of_a_model_are_those_of_its_key_and_address() -> None:
    spec = ModelSpec(name="a", provider="openai", model_id="gpt-4o", api_key=Secret("k" * 20))
    same = ModelSpec(name="b", provider="openai", model_id="gpt-4o", api_key=Secret("k" * 20))
    other = ModelSpec(name="a", provider="openai", model_id="gpt-4o", api_key=Secret("j" * 20))
    assert get_limit(spec) == get_limit(same) != get_limit(other)
    assert "k" * 20 not in get_limit(spec).name
