from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from harness.bfcl.data import Entry, entries_of
from harness.bfcl.output import Call, turns_of
from harness.bfcl.recorded import read_recordings
from harness.bfcl.replies import reply_of
from harness.errors import InvalidInput, UsageError
from tests.bfcl.small_release import write_lines, write_release

OSLO = {"id": "simple_python_0", "result": [{"weather_get": '{"city": "Oslo"}'}]}
MEMORY = {"id": "memory_kv_0-customer-0", "result": [["asking", "You are Michael."]]}


@pytest.fixture
def find(tmp_path: Path) -> Any:
    folder = write_release(tmp_path / "cache")

    def entry_of(case: str) -> Entry:
        return next(entry for entry in entries_of(case.rpartition("_")[0], folder) if entry.id == case)

    return entry_of


def test_a_folder_of_results_is_read_by_model(tmp_path: Path, find: Any) -> None:
    write_lines(tmp_path / "result" / "model-a" / "non_live" / "BFCL_v4_simple_python_result.json", [OSLO])
    write_lines(
        tmp_path / "result" / "model-b" / "agentic" / "memory" / "kv" / "BFCL_v4_memory_kv_result.json", [MEMORY]
    )
    found = read_recordings(tmp_path / "result", find)
    assert {name: list(one.cases()) for name, one in found.items()} == {
        "model-a": ["simple_python_0"],
        "model-b": ["memory_kv_0-customer-0"],
    }


def test_a_single_result_file_has_the_name_of_its_models_folder(tmp_path: Path, find: Any) -> None:
    file = write_lines(tmp_path / "model-a" / "non_live" / "BFCL_v4_simple_python_result.json", [OSLO])
    assert list(read_recordings(file, find)) == ["model-a"]


def test_lines_may_name_their_model_and_be_gzipped(tmp_path: Path, find: Any) -> None:
    file = tmp_path / "outputs.jsonl.gz"
    with gzip.open(file, "wt") as stream:
        stream.writelines(json.dumps({**OSLO, "model": model}) + "\n" for model in ("one", "two"))
    assert list(read_recordings(file, find)) == ["one", "two"]


def test_function_names_are_mapped_back_to_those_of_the_case(tmp_path: Path, find: Any) -> None:
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO])
    (transcript,) = read_recordings(file, find)["m"].transcripts("simple_python_0")
    assert [(call.tool, call.arguments) for call in transcript.tool_calls] == [("weather.get", {"city": "Oslo"})]


def test_names_of_a_model_that_writes_dots_are_taken_as_they_are(tmp_path: Path, find: Any) -> None:
    dotted = {"id": "simple_python_1", "result": [{"weather.get": "{}"}]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO, dotted])
    (transcript,) = read_recordings(file, find)["m"].transcripts("simple_python_0")
    assert transcript.tool_calls[0].tool == "weather_get"


def test_what_was_counted_is_kept(tmp_path: Path, find: Any) -> None:
    line = {**MEMORY, "input_token_count": [[10, 20]], "output_token_count": [[1, 2]], "latency": [[0.5, 0.25]]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_memory_kv_result.json", [line])
    (transcript,) = read_recordings(file, find)["m"].transcripts("memory_kv_0-customer-0")
    assert (transcript.usage.input_tokens, transcript.usage.output_tokens, transcript.latency_s) == (30, 3, 0.75)
    assert transcript.usage.cost_usd is None
    assert transcript.answer == "You are Michael."


def test_what_was_not_recorded_has_no_transcript(tmp_path: Path, find: Any) -> None:
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO])
    assert read_recordings(file, find)["m"].transcripts("simple_python_1") == ()


def test_conversations_ahead_of_memory_cases_are_passed_over(tmp_path: Path, find: Any) -> None:
    ahead = {"id": "memory_kv_prereq_0-customer-0", "result": [["noted"]]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_memory_kv_result.json", [ahead, MEMORY])
    assert list(read_recordings(file, find)["m"].cases()) == ["memory_kv_0-customer-0"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{}\n", 1, '"id" and "result"'),
        ("[]\n", 1, '"id" and "result"'),
        (f"{json.dumps(OSLO)}\nno JSON\n", 2, "no line of JSON"),
        (f"{json.dumps(OSLO)}\n{json.dumps(OSLO)}\n", 2, "twice"),
        (json.dumps({"id": "chess_1", "result": []}), 1, "no category 'chess'"),
    ],
)
def test_a_line_that_is_no_output_is_named(tmp_path: Path, find: Any, text: str, line: int, words: str) -> None:
    file = tmp_path / "outputs.jsonl"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=words) as raised:
        read_recordings(file, find)
    assert raised.value.problems[0].at.line == line


def test_a_folder_without_results_is_an_error(tmp_path: Path, find: Any) -> None:
    with pytest.raises(UsageError, match="holds no outputs of BFCL"):
        read_recordings(tmp_path, find)


@pytest.mark.parametrize(
    ("item", "calls", "unreadable"),
    [
        ([{"f": '{"x": 1}'}, {"g": "{}"}], [Call("f", {"x": 1}), Call("g", {})], None),
        ([{"f": {"x": 1}}], [Call("f", {"x": 1})], None),
        ([], [], None),
        ("", [], None),
        ("Sorry.", [], "words"),
        (["Sorry.", "Really."], [], "words"),
        ([""], [], "words"),
        ([{"f": "{}"}, "and"], [], "words"),
        ([{"f": "{'x': 1}"}], [], "words"),
        ([{"f": "[1]"}], [], "misshapen"),
        (None, [], "words"),
    ],
)
def test_a_recorded_step_is_read_as_the_official_decoder_reads_it(
    tmp_path: Path, find: Any, item: Any, calls: list[Call], unreadable: str | None
) -> None:
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [{**OSLO, "result": item}])
    (transcript,) = read_recordings(file, find)["m"].transcripts("simple_python_0")
    (((step,),)) = turns_of(transcript)
    assert (list(step.calls), step.unreadable) == (calls, unreadable)


def test_the_words_of_a_step_are_those_of_its_first_text() -> None:
    assert reply_of(["It is 35.", "Is it?"], {}).text == "It is 35."
