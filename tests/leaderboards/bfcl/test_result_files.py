from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.leaderboards.bfcl.check import build_check, find_fault
from harness.leaderboards.bfcl.data import BfclEntry, load_entries
from harness.leaderboards.bfcl.result_files import read_recordings
from harness.leaderboards.bfcl.transcript_steps import OutputCall, extract_turns
from tests.leaderboards.bfcl.small_release import write_lines, write_release

OSLO = {"id": "simple_python_0", "result": [{"weather_get": '{"city": "Oslo"}'}]}
MEMORY = {"id": "memory_kv_0-customer-0", "result": [["asking", "You are Michael."]]}


@pytest.fixture
def find(tmp_path: Path) -> Any:
    folder = write_release(tmp_path / "cache")

    def entry_of(case: str) -> BfclEntry:
        return next(
            entry for entry in load_entries(case.rpartition("_")[0], folder) if entry.id == case
        )

    return entry_of


def test_a_folder_of_results_is_read_by_model(tmp_path: Path, find: Any) -> None:
    write_lines(
        tmp_path / "result" / "model-a" / "non_live" / "BFCL_v4_simple_python_result.json", [OSLO]
    )
    write_lines(
        tmp_path
        / "result"
        / "model-b"
        / "agentic"
        / "memory"
        / "kv"
        / "BFCL_v4_memory_kv_result.json",
        [MEMORY],
    )
    found = read_recordings(tmp_path / "result", find)
    assert {name: list(one.list_cases()) for name, one in found.items()} == {
        "model-a": ["simple_python_0"],
        "model-b": ["memory_kv_0-customer-0"],
    }


def test_a_single_result_file_has_the_name_of_its_models_folder(tmp_path: Path, find: Any) -> None:
    file = write_lines(
        tmp_path / "model-a" / "non_live" / "BFCL_v4_simple_python_result.json", [OSLO]
    )
    assert list(read_recordings(file, find)) == ["model-a"]


def test_lines_may_name_their_model_and_be_gzipped(tmp_path: Path, find: Any) -> None:
    file = tmp_path / "outputs.jsonl.gz"
    with gzip.open(file, "wt") as stream:
        stream.writelines(json.dumps({**OSLO, "model": model}) + "\n" for model in ("one", "two"))
    assert list(read_recordings(file, find)) == ["one", "two"]


def test_a_recording_in_a_form_that_is_not_supported_is_refused_and_no_other(
    tmp_path: Path, find: Any
) -> None:
    gemma = {"id": "simple_python_0", "result": "<start_function_call>call:f{}<end_function_call>"}
    rows: list[dict[str, Any]] = [{**OSLO, "model": "one"}, {**gemma, "model": "two"}]
    found = read_recordings(write_lines(tmp_path / "outputs.jsonl", rows), find)
    assert found["one"].notes == ()
    for ask in (lambda: found["two"].notes, lambda: found["two"].get_transcripts(gemma["id"])):
        with pytest.raises(InvalidInput) as refused:
            ask()
        (problem,) = refused.value.problems
        assert problem.at.line == 2
        assert "two are in the format of functiongemma" in problem.message


def test_function_names_are_mapped_back_to_those_of_the_case(tmp_path: Path, find: Any) -> None:
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO])
    (transcript,) = read_recordings(file, find)["m"].get_transcripts("simple_python_0")
    assert [(call.tool, call.arguments) for call in transcript.tool_calls] == [
        ("weather.get", {"city": "Oslo"})
    ]


def test_names_keep_their_dots_where_most_equal_a_function_of_their_case(
    tmp_path: Path, find: Any
) -> None:
    dotted = [
        {"id": f"simple_python_{number}", "result": [{"weather.get": "{}"}]} for number in (0, 1)
    ]
    other = {"id": "parallel_multiple_0", "result": [{"weather_get": "{}"}]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [*dotted, other])
    recording = read_recordings(file, find)["m"]
    called = [
        recording.get_transcripts(case)[0].tool_calls[0].tool for case in recording.list_cases()
    ]
    assert called == ["weather.get", "weather.get", "weather_get"]


@pytest.mark.parametrize("name", ["math.sin", "weather...", "weather.got", "add.a"])
def test_a_name_with_a_dot_that_is_no_function_of_its_case_says_nothing(
    tmp_path: Path, find: Any, name: str
) -> None:
    others = [
        {"id": case, "result": [{name: "{}"}]} for case in ("irrelevance_0", "parallel_multiple_0")
    ]
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO, *others])
    (transcript,) = read_recordings(file, find)["m"].get_transcripts("simple_python_0")
    assert transcript.tool_calls[0].tool == "weather.get"


def test_a_dot_where_there_should_be_none_is_a_wrong_name(tmp_path: Path, find: Any) -> None:
    without = [OSLO, {"id": "parallel_multiple_0", "result": [{"weather_get": "{}"}]}]
    odd = {"id": "simple_python_1", "result": [{"weather.get": '{"city": "Rome"}'}]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [*without, odd])
    (transcript,) = read_recordings(file, find)["m"].get_transcripts("simple_python_1")
    fault = find_fault(build_check(find("simple_python_1")).params, transcript)
    assert fault is not None
    assert fault.error_type == "simple_function_checker:wrong_func_name"
    assert fault.message == "called weather.get (with a dot) instead of weather.get"


def test_what_was_counted_is_kept(tmp_path: Path, find: Any) -> None:
    line = {
        **MEMORY,
        "input_token_count": [[10, 20]],
        "output_token_count": [[1, 2]],
        "latency": [[0.5, 0.25]],
    }
    file = write_lines(tmp_path / "m" / "BFCL_v4_memory_kv_result.json", [line])
    (transcript,) = read_recordings(file, find)["m"].get_transcripts("memory_kv_0-customer-0")
    assert (
        transcript.usage.input_tokens,
        transcript.usage.output_tokens,
        transcript.latency_s,
    ) == (30, 3, 0.75)
    assert transcript.usage.cost_usd is None
    assert transcript.answer == "You are Michael."


def test_what_was_not_recorded_has_no_transcript(tmp_path: Path, find: Any) -> None:
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO])
    assert read_recordings(file, find)["m"].get_transcripts("simple_python_1") == ()


def test_conversations_ahead_of_memory_cases_are_passed_over(tmp_path: Path, find: Any) -> None:
    ahead = {"id": "memory_kv_prereq_0-customer-0", "result": [["noted"]]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_memory_kv_result.json", [ahead, MEMORY])
    assert list(read_recordings(file, find)["m"].list_cases()) == ["memory_kv_0-customer-0"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{}\n", 1, '"id" and "result"'),
        ("[]\n", 1, '"id" and "result"'),
        (f"{json.dumps(OSLO)}\nno JSON\n", 2, "this line is not JSON"),
        (f"{json.dumps(OSLO)}\n{json.dumps(OSLO)}\n", 2, "twice"),
        (json.dumps({"id": "chess_1", "result": []}), 1, "no category 'chess'"),
    ],
)
def test_a_line_that_is_no_output_is_named(
    tmp_path: Path, find: Any, text: str, line: int, words: str
) -> None:
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
        ([{"f": '{"x": 1}'}, {"g": "{}"}], [OutputCall("f", {"x": 1}), OutputCall("g", {})], None),
        ([{"f": '{"x": 1}', "g": "{}"}], [OutputCall("f", {"x": 1})], None),
        ([{"f": {"x": 1}}, {"g": "{}"}], [], "misshapen"),
        ([{"f": '{"x": 1}'}, {}], [], "words"),
        ([{}], [], "words"),
        ({"f": '{"x": 1}'}, [], "words"),
        ({}, [], None),
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
    tmp_path: Path, find: Any, item: Any, calls: list[OutputCall], unreadable: str | None
) -> None:
    file = write_lines(
        tmp_path / "m" / "BFCL_v4_simple_python_result.json", [{**OSLO, "result": item}]
    )
    (transcript,) = read_recordings(file, find)["m"].get_transcripts("simple_python_0")
    (((step,),)) = extract_turns(transcript)
    assert (list(step.calls), step.unreadable) == (calls, unreadable)


def test_the_words_of_a_step_are_those_of_its_first_text(tmp_path: Path, find: Any) -> None:
    line = {**MEMORY, "result": [[["It is 35.", "Is it?"]]]}
    file = write_lines(tmp_path / "m" / "BFCL_v4_memory_kv_result.json", [line])
    assert (
        read_recordings(file, find)["m"].get_transcripts("memory_kv_0-customer-0")[0].answer
        == "It is 35."
    )


def conversation(find: Any, tmp_path: Path, result: Any) -> tuple[Any, Any]:
    """Return the calls of each turn of a recorded conversation, and what is wrong with it."""
    case = "multi_turn_miss_func_0"
    file = write_lines(
        tmp_path / "m" / "BFCL_v4_multi_turn_miss_func_result.json",
        [{"id": case, "result": result}],
    )
    (transcript,) = read_recordings(file, find)["m"].get_transcripts(case)
    fault = (
        find_fault(build_check(find(case)).params, transcript)
        if not isinstance(result, list)
        else None
    )
    calls = [
        [[call.name for call in step.calls] for step in steps]
        for steps in extract_turns(transcript)
    ]
    return calls, fault and fault.error_type


@pytest.mark.parametrize(
    ("result", "calls"),
    [
        ([[{"touch": '{"file_name": "b"}'}], []], [[["touch"]], []]),
        ([[{"touch": {"file_name": "b"}, "ls": "{}"}], ["Done."]], [[["touch", "ls"]], [[]]]),
        ([[[{}, {"ls": "{}"}]], [[{"ls": "[]"}]]], [[["ls"]], [[]]]),
        ([{"ls": "{}"}, "ls()"], [[[]], [[]]]),
        ([None, 7], [[], []]),
    ],
)
def test_a_conversations_steps_are_read_as_the_official_decoder_reads_them(
    tmp_path: Path, find: Any, result: Any, calls: Any
) -> None:
    assert conversation(find, tmp_path, result)[0] == calls


@pytest.mark.parametrize("result", ["Error", None, {}, {"turns": []}, 7])
def test_a_conversation_that_is_no_list_is_an_inference_error(
    tmp_path: Path, find: Any, result: Any
) -> None:
    assert conversation(find, tmp_path, result) == ([], "multi_turn:inference_error")


def test_what_is_no_category_is_named_and_left_out(tmp_path: Path, find: Any) -> None:
    strange = {"id": "format_sensitivity_0:ret_fmt=python:live_simple_1", "result": "[f()]"}
    older = [{"id": f"memory_{number}-customer-{number}", "result": [["x"]]} for number in (0, 1)]
    write_lines(tmp_path / "m" / "non_live" / "BFCL_v4_simple_python_result.json", [OSLO])
    write_lines(
        tmp_path / "m" / "format_sensitivity" / "BFCL_v4_format_sensitivity_result.json", [strange]
    )
    write_lines(tmp_path / "m" / "agentic" / "BFCL_v4_memory_result.json", older)
    recording = read_recordings(tmp_path, find)["m"]
    assert list(recording.list_cases()) == ["simple_python_0"]
    assert list(recording.notes) == [
        ("m: outputs of unknown categories are left out: 2 of 'memory', 1 of 'format_sensitivity'.")
    ]


def test_notes_are_made_once_however_often_they_are_asked_for(tmp_path: Path, find: Any) -> None:
    recording = read_recordings(
        write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", [OSLO]), find
    )["m"]
    assert recording.notes is recording.notes


def test_outputs_that_no_form_fits_are_told_with_their_number(tmp_path: Path, find: Any) -> None:
    lines = [{"id": f"simple_python_{number}", "result": "call: weather"} for number in (0, 1)]
    file = write_lines(tmp_path / "m" / "BFCL_v4_simple_python_result.json", lines)
    (note,) = read_recordings(file, find)["m"].notes
    assert note == (
        "m: 2 of the 2 outputs from which calls are expected cannot be read as lists of {function: "
        "arguments as JSON "
        'text}, and count as wrong, as they do upstream. simple_python_0 is "call: weather".'
    )
