import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from harness.runlog import Footer, LogWriter, TrialLine, being_written, read_lines
from harness.types import Transcript
from harness.web.feed import Event, EventFeed, follow_log
from tests.clock import BOUND_S
from tests.judging.test_access import FULL, LEAKING
from tests.judging.test_access import a_log as asked_as_several
from tests.judging.test_access import a_run as asked_as
from tests.reports.logs import a_log, a_run, a_transcript

pytestmark = pytest.mark.anyio


async def until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - what is waited for has no event
        await anyio.sleep(0.01)


async def test_a_log_is_told_from_its_header_to_its_summary(tmp_path: Path) -> None:
    log = a_log(tmp_path / "log.jsonl", a_run("a"), a_run("b", "failed"), a_run("c", "skipped"))
    told = [(number, name, json.loads(text)) async for number, name, text in follow_log(log.path)]
    assert [name for _, name, _ in told] == [
        "run", "test_case_start", "test_case_result", "test_case_start", "test_case_result",
        "test_case_result", "summary",
    ]  # fmt: skip
    assert [number for number, _, _ in told] == [f"log-{place}" for place in range(1, 8)]
    assert told[0][2]["suites"] == [
        {"name": "shop", "description": "All of shop.", "cases": ["a", "b", "c"]}
    ]
    progress = told[4][2]["progress"]
    assert (progress["done"], progress["planned"], progress["passed"], progress["paid_usd"]) == (
        2,
        3,
        1,
        0.5,
    )
    assert told[-1][2]["counts"]["skipped"] == 1


@pytest.mark.parametrize(
    ("clerk", "failed"), [(LEAKING, "clerk"), (FULL, "admin clerk")], ids=["leak", "unobserved"]
)
async def test_a_result_that_takes_other_identities_is_told_once_when_it_is_settled(
    tmp_path: Path, clerk: Transcript, failed: str
) -> None:
    trials = (asked_as("admin"), FULL), (asked_as("clerk"), clerk)
    log = asked_as_several(tmp_path, *trials, require_identity=True)
    feed = EventFeed(log.path, "ours")
    while not await feed.catch_up(trials=1) and len(feed._events) < len(trials):
        pass
    await feed.conclude()
    for events in (feed.so_far(), follow_log(log.path)):
        told = [(name, json.loads(text)) async for _, name, text in events]
        waiting = [data for name, data in told if name == "test_case_waiting"]
        assert [one["case"] for one in waiting] == ["mail [admin]", "mail [clerk]"]
        assert [one["progress"]["waiting"] for one in waiting] == [1, 2]
        assert not any("status" in one for one in waiting)
        results = [data for name, data in told if name == "test_case_result"]
        assert [one["key"] for one in results] == ["mail admin", "mail clerk"]  # each once
        last = results
        red = " ".join(
            one["key"].split()[1]
            for one in last
            if (one["status"], one["colour"]) == ("failed", "red")
        )
        assert red == failed
        assert any(
            "Leak: mail" in one["problem"] or "Identity was not observed" in one["problem"]
            for one in last
        )
        counts = told[-1][1]["counts"]
        assert counts["failed"] == len(failed.split())
        progress = {name: amount for name, amount in results[-1]["progress"].items() if amount}
        assert progress == {
            "done": 2, "planned": 2,
            **{name: counts[name] for name in ("passed", "failed") if counts[name]},
        }  # fmt: skip


async def test_a_log_that_grows_is_followed_until_its_writer_is_gone(tmp_path: Path) -> None:
    whole = a_log(tmp_path / "whole.jsonl", a_run("a"), a_run("b"))
    lines = whole.path.read_bytes().splitlines(keepends=True)
    path = tmp_path / "log.jsonl"
    told: list[str] = []

    async def listen() -> None:
        async for _, name, _ in follow_log(path):
            told.append(name)

    with LogWriter(path) as writer, anyio.fail_after(BOUND_S):
        path.write_bytes(lines[0])
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await until(lambda: told == ["run"])
            path.write_bytes(b"".join(lines[:2]) + lines[2][:40])  # the last line is torn
            await until(lambda: told == ["run", "test_case_start", "test_case_result"])
            path.write_bytes(b"".join(lines[:3]))
            writer.close()
    assert told == ["run", *["test_case_start", "test_case_result"] * 2, "summary"]


async def test_only_a_log_that_somebody_has_open_is_being_written(tmp_path: Path) -> None:
    path = a_log(tmp_path / "log.jsonl", a_run("a")).path
    with LogWriter(path):
        assert being_written(path)
    assert not being_written(path)
    with LogWriter(path):  # and asking has left no lock behind
        pass


async def test_lines_are_read_on_from_where_they_ended(tmp_path: Path) -> None:
    log = a_log(tmp_path / "log.jsonl", a_run("a"), a_run("b"))
    lines = list(read_lines(log.path))
    assert isinstance(lines[-1][2], Footer)
    for place, (offset, end, _) in enumerate(lines):
        assert list(read_lines(log.path, offset)) == lines[place:]
        assert list(read_lines(log.path, end)) == lines[place + 1 :]


async def test_a_run_that_was_resumed_is_told_to_its_last_trial(tmp_path: Path) -> None:
    log = a_log(tmp_path / "log.jsonl", a_run("a"), a_run("b", "error"))
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=a_run("b", "passed")))
        writer.append(Footer(finished_at="2026-01-01T00:00:09Z", elapsed_s=9.0, reason="complete"))
    told = [(name, json.loads(text)) async for _, name, text in follow_log(log.path)]
    results = [data for name, data in told if name == "test_case_result"]
    assert [(result["case"], result["status"]) for result in results] == [
        ("a", "passed"), ("b", "error"), ("b", "passed"),
    ]  # fmt: skip
    progress = results[-1]["progress"]
    assert (progress["done"], progress["passed"], "error" in progress) == (2, 2, False)
    assert told[-1][1]["counts"]["passed"] == 2


async def test_any_number_of_listeners_hear_every_event_once_and_in_order(tmp_path: Path) -> None:
    feed = EventFeed(tmp_path / "log.jsonl", "abc")
    heard: dict[int, list[str]] = {}

    async def listen(who: int) -> None:
        heard[who] = []
        seen = None
        while not heard[who] or heard[who][-1] != "abc-60":
            async for number, _, _ in feed.listen(seen):
                heard[who].append(number)
                seen = number
                await anyio.lowlevel.checkpoint()
                if len(heard[who]) % (who + 2) == 0:
                    break  # the connection is lost, and taken up again

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group:
            for who in range(20):
                group.start_soon(listen, who)
            for number in range(59):
                feed.add(Event.from_data("run", {"number": number}))
                if number % 7 == 0:
                    await anyio.lowlevel.checkpoint()
            feed.add(Event("error"))
    assert all(numbers == [f"abc-{place}" for place in range(1, 61)] for numbers in heard.values())


async def test_a_result_is_kept_in_the_log_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    a_log(path, a_run("a"), transcript=a_transcript(answer="x" * 1_000_000))
    feed = EventFeed(path)
    await feed.catch_up(starts=True)
    assert all(len(str(event)) < 1_000 for event in feed._events)
    texts = [text async for _, name, text in feed.so_far() if name == "test_case_result"]
    assert "more characters are in the run log" in json.loads(texts[0])["answer"]


async def test_a_log_is_read_trial_by_trial(tmp_path: Path) -> None:
    log = a_log(tmp_path / "log.jsonl", a_run("a"), a_run("b"))
    feed = EventFeed(log.path, "x")
    assert not await feed.catch_up(trials=1)
    assert [event.name for event in feed._events] == ["test_case_result"]
    assert not await feed.catch_up(trials=1)
    assert [event.name for event in feed._events] == ["test_case_result"] * 2
    assert await feed.catch_up()
    assert sum(isinstance(line, TrialLine) for _, _, line in read_lines(log.path)) == 2
