"""BFCL as a user runs it.

Not fetched, from recorded outputs, and live over MCP with a model on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.leaderboards.bfcl.data import RELEASE
from tests.end_to_end.harness_process import Finished, Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, calls, say
from tests.leaderboards.bfcl.small_release import write_lines, write_release

ROWS: list[dict[str, Any]] = [
    {
        "id": "simple_python_0",
        "result": [{"weather_get": '{"city": "oslo"}'}],
        "input_token_count": 7,
    },
    {
        "id": "simple_python_1",
        "result": [{"weather_get": '{"city": "Paris"}'}],
        "input_token_count": 8,
    },
    {
        "id": "parallel_multiple_0",
        "result": [{"add": '{"a": 1}'}, {"weather_get": '{"city": "Bonn"}'}],
    },
    {"id": "irrelevance_0", "result": "La la la."},
    {"id": "memory_kv_0-customer-0", "result": [["You are Michael."]]},
    {
        "id": "multi_turn_miss_func_0",
        "result": [[[{"ls": "{}"}]], [[{"touch": '{"file_name": "b.txt"}'}], [{"ls": "{}"}]]],
    },
]


@pytest.fixture
def bfcl(tmp_path: Path) -> Project:
    write_release(tmp_path / "cache")
    return Project(tmp_path, {"HARNESS_CACHE": str(tmp_path / "cache")})


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "result"
    for row in ROWS:
        category = str(row["id"]).rpartition("_")[0]
        write_lines(folder / "model-a" / "some_group" / f"BFCL_v4_{category}_result.json", [])
    write_lines(folder / "model-a" / "non_live" / "BFCL_v4_all_result.json", ROWS)
    return folder


def results(finished: Finished) -> dict[str, tuple[str, str | None]]:
    """Return each case's status and error type."""
    tests = finished.document["result"]["tests"]
    return {
        test["name"]: (test["status"], test["checks"][0]["code"] if test["checks"] else None)
        for test in tests
    }


EXPECTED = {
    "simple_python_0": ("passed", None),
    "simple_python_1": ("failed", "value_error:string"),
    "parallel_multiple_0": ("passed", None),
    "irrelevance_0": ("passed", None),
    "multi_turn_miss_func_0": ("passed", None),
}


LIVE = "simple_python,parallel_multiple,irrelevance,multi_turn_miss_func"
"""What needs no memory."""


def test_before_the_data_is_fetched_there_is_nothing_to_run(project: Project) -> None:
    finished = project.run("evals", "bfcl", HARNESS_CACHE=str(project.folder / "empty"))
    assert finished.code == 2
    assert "harness fetch bfcl" in finished.stderr


def test_recorded_outputs_are_scored_without_model_and_server(
    bfcl: Project, recorded: Path
) -> None:
    finished = bfcl.run(
        "evals",
        "bfcl",
        "--model",
        f"recorded:{recorded}",
        "--json-output",
        "--report",
        "jsonl:out.jsonl",
    )
    assert finished.code == 1
    assert results(finished) == {**EXPECTED, "memory_kv_0-customer-0": ("passed", None)}
    (table,) = finished.document["result"]["scores"]
    scores = {
        line["name"]: (line["score"], line["judged"], line["cases"]) for line in table["scores"]
    }
    assert scores["simple_python"] == (0.5, 2, 400)
    assert scores["memory"] == (pytest.approx(1 / 3), 1, 465)
    lines = [json.loads(line) for line in (bfcl.folder / "out.jsonl").read_text().splitlines()]
    by_case = {line["case_id"]: line for line in lines}
    assert by_case["simple_python_1"]["metadata"]["harness"]["error_type"] == "value_error:string"
    assert by_case["simple_python_1"]["metadata"]["category"] == "simple_python"
    assert (by_case["simple_python_1"]["tokens_in"], by_case["simple_python_1"]["cost_usd"]) == (
        8,
        None,
    )
    graded = bfcl.run("grade", "latest", "--json-output")
    assert results(graded) == results(finished)


def test_a_recording_of_several_models_scores_each(bfcl: Project) -> None:
    lines = [{**ROWS[0], "model": "one"}, {**ROWS[1], "model": "two"}, {**ROWS[0], "model": "two"}]
    write_lines(bfcl.folder / "outputs.jsonl", lines)
    both = bfcl.run("evals", "bfcl:simple_python", "--model", "recorded:outputs.jsonl")
    assert "holds 2 models, and each is scored: one, two" in both.stderr
    assert "3 planned: 2 passed, 1 failed" in both.stdout
    one = bfcl.run(
        "evals", "bfcl", "--category", "simple_python", "--model", "recorded:outputs.jsonl#one"
    )
    assert "1 planned: 1 passed" in one.stdout
    assert "1 of the 2 cases of bfcl were recorded" in one.stderr
    assert (one.code, both.code) == (0, 1)


TEXTS: list[dict[str, Any]] = [
    {"id": "simple_python_0", "result": "[weather.get(city='oslo', days=1)]"},
    {"id": "simple_python_1", "result": "[weather.get(city=('Rome',))]"},
    {"id": "parallel_multiple_0", "result": f"[add(a={10**400}), weather.get(city='Bonn')]"},
    {"id": "irrelevance_0", "result": "La la la."},
    {
        "id": "multi_turn_miss_func_0",
        "result": [["[ls()]"], ["[touch(file_name='b.txt')]", "[ls()]", "Done."]],
    },
    {"id": "format_sensitivity_0:ret_fmt=json:live_simple_0", "result": "[]"},
]


def test_outputs_that_are_source_text_are_read_and_said_so(bfcl: Project) -> None:
    write_lines(bfcl.folder / "result" / "model-a" / "BFCL_v4_all_result.json", TEXTS)
    told = bfcl.run("evals", "bfcl", "--model", "recorded:result", "--dry-run").stderr
    assert (
        "read as calls written as source text, [function(argument=value)]; function names have "
        "dots."
    ) in told
    assert "are left out: 1 of 'format_sensitivity'." in told
    finished = bfcl.run("evals", "bfcl", "--model", "recorded:result", "--json-output")
    assert results(finished) == {
        **EXPECTED,
        "simple_python_1": ("failed", "type_error:simple"),
        "parallel_multiple_0": ("failed", "parallel_function_checker_no_order:cannot_find_match"),
    }
    assert results(bfcl.run("grade", "latest", "--json-output")) == results(finished)


def test_a_parameter_that_is_called_password_hides_nothing_of_public_data(bfcl: Project) -> None:
    questions = bfcl.folder / "cache" / "bfcl" / RELEASE / "data" / "BFCL_v4_simple_python.json"
    lines = [json.loads(line) for line in questions.read_text().splitlines()]
    lines[0]["function"][0]["parameters"]["properties"]["password"] = {"type": "string"}
    write_lines(questions, lines)
    write_lines(bfcl.folder / "outputs.jsonl", [{**row, "model": "m"} for row in ROWS[:2]])
    finished = bfcl.run(
        "evals", "bfcl:simple_python", "--model", "recorded:outputs.jsonl", "--json-output"
    )
    assert results(finished)["simple_python_1"] == ("failed", "value_error:string")


class Singer:
    """A model that does what `ROWS` say, and keeps what it was offered."""

    def __init__(self) -> None:
        self.offered: list[tuple[str, ...]] = []
        self.systems: set[str] = set()

    def __call__(self, request: Incoming) -> Step:
        self.systems.add(request.system)
        if "b.txt" in request.prompt:
            return self._with_files(request)
        assert request.turn == 0, "one reply is all that is asked for"
        if "Bonn" in request.prompt:
            return calls(("add", {"a": 1}), ("weather_get", {"city": "Bonn"}))
        if "sing" in request.prompt.lower():
            return say("La la la.")
        return call("weather_get", {"city": "Oslo" if "Oslo" in request.prompt else "Paris"})

    def _with_files(self, request: Incoming) -> Step:
        self.offered.append(request.tool_names)
        if "touch" not in request.tools:
            return say("I cannot make files.")
        if request.turn == 1:
            return call("touch", {"file_name": "b.txt"})
        return call("ls", {}) if request.turn == 2 else say(request.tool_results[0].text)


@pytest.fixture
def singer() -> Iterator[tuple[Singer, FakeProvider]]:
    script = Singer()
    with FakeProvider(script) as provider:
        yield script, provider


def test_live_cases_are_judged_by_what_crossed_the_wire(
    bfcl: Project, singer: tuple[Singer, FakeProvider]
) -> None:
    script, provider = singer
    settings: dict[str, Any] = {
        "type": "openai",
        "model": "gpt-4o",
        "api_key": "test-key",
        "base_url": f"{provider.url}/v1",
    }
    bfcl.configure(models={"models": {"fake": settings}})
    finished = bfcl.run("evals", f"bfcl:{LIVE}", "--model", "fake", "--json-output")
    assert results(finished) == EXPECTED
    assert not [request.rejected for request in provider.journal if request.rejected]
    assert script.systems == {"", "Be brief."}
    assert script.offered == [("ls",), ("ls", "touch"), ("ls", "touch"), ("ls", "touch")]
    by_case = {run.case.name: run for run in bfcl.log().results}
    transcript = bfcl.log().read_transcript(by_case["multi_turn_miss_func_0"].key)
    assert transcript is not None
    last = transcript.messages[-1].reply.text  # type: ignore[union-attr]
    assert last == '{"current_directory_content": ["a.txt", "b.txt"]}'
    single = bfcl.log().read_transcript(by_case["simple_python_0"].key)
    assert single is not None
    assert [(one.tool, one.arguments, one.outcome) for one in single.tool_calls] == [
        ("weather.get", {"city": "Oslo"}, "ok")
    ]
    assert single.replies == 1
