"""Single lines of a log, found without reading the others, are those that a reader finds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.reviews import add_review
from harness.runlog import Footer, LogWriter, RunLog, TrialLine, read_log
from harness.runlog.lines import find_last_line, read_footer
from tests.reports.sample_logs import a_conversation, a_log, a_run


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    said = a_conversation("get_order")
    return a_log(tmp_path, [(a_run("good"), said), (a_run("bad", "failed"), said)])


def respace(path: Path) -> None:
    """Write a log as another program might: with other spaces, and nothing but ASCII."""
    lines = map(json.loads, path.read_bytes().splitlines())
    texts = (json.dumps(line, separators=(" , ", " : ")) for line in lines)
    path.write_text("".join(f" {text.replace('{', '{ ')}\n" for text in texts))


def test_the_last_line_of_a_trial_is_found_where_a_reader_finds_it(log: RunLog) -> None:
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=a_run("bad")))
    again = read_log(log.path)
    for result in again.results:
        found = find_last_line(log.path, result.key)
        assert found is not None
        assert (found[0], found[1].run) == (again.get_offset(result.key), result)
    assert find_last_line(log.path, "no such trial") is None


def test_the_lines_of_another_program_are_found_however_it_spaces_json(log: RunLog) -> None:
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=replace(log.results[0], key="ü")))
    for result in log.results:
        add_review(log.path, result.key, "accept", by="Ann")
    respace(log.path)
    again = read_log(log.path)
    places = {result.key: again.get_offset(result.key) for result in again.results}
    found = {key: find_last_line(log.path, key) for key in places}
    assert {key: one and one[0] for key, one in found.items()} == places
    assert len(places) == 3
    assert len(again.reviews) == 2


def test_a_torn_line_is_no_line(log: RunLog) -> None:
    result = log.results[0]
    with log.path.open("ab") as file:
        file.write(log.read_raw_line(result.key).rstrip(b"\n"))
    found = find_last_line(log.path, result.key)
    assert found is not None
    assert found[0] == log.get_offset(result.key)
    assert read_footer(log.path) == log.footer


@pytest.mark.parametrize("length", [10, 70_000, 200_000])
def test_the_footer_is_found_behind_and_in_lines_of_any_length(log: RunLog, length: int) -> None:
    with LogWriter(log.path) as writer:
        writer.append(Footer(finished_at="x", elapsed_s=1.0, fault="f" * length))
    assert read_footer(log.path) == read_log(log.path).footer
    with log.path.open("ab") as file:
        file.write(b'{"torn": "' + b"t" * length)
    assert read_footer(log.path) == read_log(log.path).footer
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=a_run("bad")))
    assert read_footer(log.path) is None


def test_an_empty_file_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("")
    assert (read_footer(path), find_last_line(path, "a")) == (None, None)


def test_a_key_with_letters_that_json_escapes_is_found(log: RunLog) -> None:
    key = 'späße "quoted"\\ \n'
    run = json.loads(log.read_raw_line(log.results[0].key))
    run["run"]["key"] = key
    with log.path.open("ab") as file:
        file.write(json.dumps(run, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    found = find_last_line(log.path, key)
    assert found is not None
    assert found[1].run.key == key
