"""A log that its own writer reads again and again holds what it has read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.runlog import LogWriter, RunLog, TrialLine, amend_log, read_log
from harness.runlog import held_transcripts as holding
from harness.runlog.lines import parse_line
from harness.types import ToolCall, Transcript
from tests.reports.sample_logs import a_conversation, a_log, a_run


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines that were parsed."""
    lines: list[bytes] = []
    parse = parse_line

    def count(raw: bytes) -> object:
        lines.append(raw)
        return parse(raw)

    monkeypatch.setattr("harness.runlog.reader.parse_line", count)
    return lines


def grow(log: RunLog, *names: str, **fields: object) -> None:
    called = ToolCall(tool="get", arguments={}, outcome="ok", reply=1, **fields)  # type: ignore[arg-type]
    with LogWriter(log.path) as writer:
        for name in names:
            said = replace(a_conversation("get_order"), tool_calls=(called,))
            writer.append(TrialLine(run=a_run(name), transcript=said))


def read_all(log: RunLog) -> list[Transcript | None]:
    return [log.read_transcript(result.key) for result in log.results]


def test_a_held_conversation_is_read_once_and_is_the_one_in_the_file(
    tmp_path: Path, parsed: list[bytes]
) -> None:
    held = a_log(tmp_path, []).hold_transcripts()
    grow(held, "one", "two", text="told", structured={"a": 1})
    held = held.read_further()
    parsed.clear()
    first = read_all(held)
    assert parsed == []
    assert first == read_all(read_log(held.path))
    grow(held, "one", text="told otherwise")  # the last attempt counts
    again = read_all(held.read_further())
    assert again == read_all(read_log(held.path)) != first


def test_equal_answers_are_held_once_and_unequal_ones_apart(tmp_path: Path) -> None:
    held = a_log(tmp_path, []).hold_transcripts()
    grow(held, "one", "two", text="told", structured={"a": 1})
    grow(held, "three", text="told", structured={"a": True})
    one, two, three = (said.tool_calls[0] for said in read_all(held.read_further()) if said)
    assert one.text is two.text
    assert one.structured is two.structured
    assert repr(three.structured) == "{'a': True}"


def test_what_there_is_no_room_for_is_read_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[bytes]
) -> None:
    monkeypatch.setattr(holding, "MOST_CHARACTERS", 5)
    held = a_log(tmp_path, []).hold_transcripts()
    grow(held, "one", text="longer than that")
    grow(held, "two", text="too late")
    held = held.read_further()
    parsed.clear()
    assert read_all(held) == read_all(read_log(held.path))
    assert parsed


def test_a_footer_is_amended_without_reading_the_log_again(
    tmp_path: Path, parsed: list[bytes]
) -> None:
    log = a_log(tmp_path, [(a_run("one"), a_conversation("get_order"))])
    parsed.clear()
    amended = amend_log(log, fault="a gate failed")
    assert len(parsed) == 1
    whole = read_log(log.path)
    assert amended.footer == whole.footer != log.footer
    assert (amended.results, amended.size) == (whole.results, whole.size)
