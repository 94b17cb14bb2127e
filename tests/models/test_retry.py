"""The retry loop over real HTTP: how often, how long, and who waits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import pytest

from harness.base.errors import ModelError
from harness.models.model import Model
from harness.types import UserMessage
from tests.clock import BOUND_S, once_all_wait
from tests.fake_provider import (
    FakeProvider,
    Incoming,
    Script,
    Step,
    say,
    sequence,
    slow,
    stall,
    status,
)
from tests.models.support import APIS, HELLO, TOOLS, Api, converse, limiter_of, opened

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS)]


def in_the_past() -> str:
    return format_datetime(datetime.now(UTC) - timedelta(minutes=1), usegmt=True)


@pytest.mark.parametrize(
    "headers", [{}, {"retry-after": "0"}, {"retry-after": "0.02"}, {"retry-after-ms": "20"}]
)
async def test_a_rate_limit_is_waited_for_in_every_form(api: Api, headers: dict[str, str]) -> None:
    with FakeProvider([sequence(status(429, headers), say("Now."))]) as provider:
        async with opened(api, provider.url, max_retries=1) as model:
            (reply,) = await converse(model)
    assert (reply.text, reply.attempts, len(provider.journal)) == ("Now.", 2, 2)
    waits = {"retry-after-ms", "retry-after"} & headers.keys() and "0" not in headers.values()
    assert reply.waited_s >= 0.019 if waits else reply.waited_s < 0.019


async def test_a_date_to_wait_for_that_has_passed_is_not_waited_for(api: Api) -> None:
    with FakeProvider(
        [sequence(status(503, {"retry-after": in_the_past()}), say("Now."))]
    ) as provider:
        async with opened(api, provider.url, max_retries=1) as model:
            (reply,) = await converse(model)
    assert (reply.text, reply.attempts) == ("Now.", 2)
    assert reply.waited_s < BOUND_S


@pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
async def test_a_wait_that_outlasts_the_trial_is_not_begun(api: Api, form: str) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True)
    forms = {
        "seconds": ("retry-after", "600"),
        "date": ("retry-after", later),
        "milliseconds": ("retry-after-ms", "600000"),
    }
    with FakeProvider([status(429, dict([forms[form]]))]) as provider:
        async with opened(api, provider.url, max_retries=3) as model:
            with anyio.fail_after(BOUND_S), pytest.raises(ModelError) as raised:
                await converse(model)
    assert raised.value.attempts == len(provider.journal) == 1
    assert "HTTP 429" in str(raised.value)
    assert "the next attempt may start in" in str(raised.value)
    assert "but the trial ends in" in str(raised.value)


async def test_a_backoff_that_outlasts_the_trial_is_not_begun(api: Api) -> None:
    with FakeProvider([status(500)]) as provider:
        async with opened(api, provider.url, max_retries=3, backoff=lambda retry: 600.0) as model:
            with anyio.fail_after(BOUND_S), pytest.raises(ModelError) as raised:
                await converse(model)
    assert raised.value.attempts == 1
    assert raised.value.status == 500


async def test_the_backoff_is_asked_once_for_each_further_attempt_and_counted_as_waiting(
    api: Api,
) -> None:
    asked: list[int] = []

    def backoff(retry: int) -> float:
        asked.append(retry)
        return 0.01

    with FakeProvider([sequence(status(500), status(502), say("Now."))]) as provider:
        async with opened(api, provider.url, max_retries=5, backoff=backoff) as model:
            (reply,) = await converse(model)
    assert asked == [1, 2]
    assert reply.waited_s == pytest.approx(0.02, abs=0.001)


@pytest.mark.parametrize("promised", [0, 1, 4])
async def test_there_are_never_more_requests_than_promised(api: Api, promised: int) -> None:
    with FakeProvider([status(503)]) as provider:
        async with opened(api, provider.url, max_retries=promised) as model:
            with pytest.raises(ModelError) as raised:
                await converse(model)
    assert len(provider.journal) == raised.value.attempts == promised + 1


async def test_working_time_is_not_waiting_time(api: Api) -> None:
    with FakeProvider([slow(say("Hm."), 0.05)]) as provider:
        async with opened(api, provider.url) as model:
            (reply,) = await converse(model)
    assert reply.waited_s == 0.0


@asynccontextmanager
async def opened_with(api: Api, script: Script) -> AsyncIterator[tuple[Model, FakeProvider]]:
    with FakeProvider(script) as provider:
        async with opened(api, provider.url) as model:
            yield model, provider


async def test_one_trials_rate_limit_makes_all_trials_wait(api: Api) -> None:
    def script(request: Incoming) -> Step:
        return (
            status(429, {"retry-after-ms": "60000"}) if request.prompt == "first" else say("Now.")
        )

    async with opened_with(api, script) as (model, provider):
        with pytest.raises(ModelError, match="HTTP 429"):
            await model.answer((UserMessage(text="first"),), TOOLS, None)
        async with anyio.create_task_group() as group:
            group.start_soon(once_all_wait, 61)
            reply = await model.answer((UserMessage(text="second"),), TOOLS, None)
    assert (reply.text, reply.attempts) == ("Now.", 1)
    assert 59 < reply.waited_s < 62
    assert len(provider.journal) == 2


async def test_a_cooldown_that_outlasts_a_trial_ends_it_without_a_request(api: Api) -> None:
    with FakeProvider([say("Now.")]) as provider:
        async with opened(api, provider.url) as model:
            limiter_of(model).pause(600)
            with (
                anyio.fail_after(BOUND_S),
                pytest.raises(ModelError, match="asked all trials to wait") as raised,
            ):
                await converse(model)
    assert provider.journal == []
    assert raised.value.attempts == 0


async def test_a_trial_whose_turn_does_not_come_sends_nothing_and_says_that_it_waited(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.base.limiting.limiter._LAST_MOMENT_S", 100.0)
    with FakeProvider([say("Now.")]) as provider:
        async with opened(api, provider.url) as model:
            limiter = limiter_of(model)
            async with limiter.hold_slot() as slot:
                slot.throttled = True
            async with limiter.hold_slot(), anyio.create_task_group() as group:
                group.start_soon(once_all_wait, 501)
                with (
                    anyio.fail_after(600),
                    pytest.raises(
                        ModelError, match=r"other trials used all .* it had no slot after"
                    ) as raised,
                ):
                    await converse(model)
    assert provider.journal == []
    assert raised.value.attempts == 0
    assert 500 < raised.value.waited_s < 600


async def test_a_crowd_is_throttled_and_served_all_the_same(api: Api) -> None:
    answered: list[str] = []

    def script(request: Incoming) -> Step:
        if request.in_flight > 4:
            return slow(status(429, {"retry-after-ms": "5"}), 0.002)
        return slow(say("Now."), 0.002)

    with FakeProvider(script) as provider:
        async with opened(api, provider.url, max_retries=40) as model:

            async def ask(number: int) -> None:
                reply = await model.answer((UserMessage(text=f"number {number}"),), TOOLS, None)
                answered.append(reply.text)

            with anyio.fail_after(BOUND_S):
                async with anyio.create_task_group() as group:
                    for number in range(30):
                        group.start_soon(ask, number)
            assert limiter_of(model).limit < 30
    assert answered == ["Now."] * 30


async def test_fifty_requests_are_under_way_at_once_when_nothing_is_in_the_way(api: Api) -> None:
    with FakeProvider([stall()]) as provider:
        async with opened(api, provider.url) as model:

            async def ask() -> None:
                await model.answer(HELLO, TOOLS, None)

            async with anyio.create_task_group() as group:
                for _ in range(60):
                    group.start_soon(ask)
                await anyio.to_thread.run_sync(provider.wait_for_requests, 60)
                assert provider.in_flight == 60
                group.cancel_scope.cancel()


async def test_a_trial_that_ends_takes_its_request_with_it(api: Api) -> None:
    with FakeProvider([slow(say("Late."), 30)]) as provider:
        async with opened(api, provider.url, timeout_s=60) as model:
            with anyio.move_on_after(0.1) as scope:
                await converse(model)
            assert scope.cancelled_caught
            assert limiter_of(model)._slots.borrowed_tokens == 0
