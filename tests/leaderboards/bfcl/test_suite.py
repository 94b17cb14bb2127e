"""The leaderboard in a plan: which cases, for which models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.base.errors import NothingToRun, UsageError
from harness.leaderboards.bfcl import server
from harness.leaderboards.bfcl.apis import common
from harness.leaderboards.bfcl.apis.common import ApiTool
from harness.leaderboards.bfcl.suite import BFCL
from harness.runner.planning.prepare import PreparedPlan, prepare_plan
from harness.runner.planning.request import RunRequest
from harness.runner.recordings import recorded_outputs
from harness.suites.leaderboards import add_categories
from tests.leaderboards.bfcl.small_release import write_lines, write_release

OSLO = {"id": "simple_python_0", "model": "one", "result": "No."}
MEMORY = {"id": "memory_kv_0-customer-0", "model": "two", "result": [["You are Michael."]]}


@pytest.fixture(autouse=True)
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    write_release(tmp_path / "cache")


def plan(
    folder: Path,
    *suites: str,
    models: tuple[str, ...] = ("lexical",),
    categories: str | None = None,
) -> PreparedPlan:
    return prepare_plan(RunRequest(suites=suites, models=models, categories=categories), folder, {})


def planned(prepared: PreparedPlan) -> list[tuple[str, str]]:
    return [(job.trial.case.name, job.model.name.rpartition("#")[2]) for job in prepared.plan.jobs]


def test_all_that_was_fetched_is_run_unless_a_part_is_named(tmp_path: Path) -> None:
    whole = plan(tmp_path, "bfcl")
    assert {job.trial.case.metadata["category"] for job in whole.plan.jobs} == {
        "simple_python",
        "parallel_multiple",
        "irrelevance",
        "multi_turn_miss_func",
        "memory_kv",
    }
    assert [name for name, _ in planned(plan(tmp_path, "bfcl:irrelevance"))] == ["irrelevance_0"]
    assert [name for name, _ in planned(plan(tmp_path, "bfcl", categories="irrelevance"))] == [
        "irrelevance_0"
    ]


def test_cases_that_need_services_are_left_out_for_a_live_model_and_told_of(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "cache", ["web_search_base"])
    for part in ("", "possible_answer"):
        place = folder / "data" / part / "BFCL_v4_memory.json"
        place.rename(place.with_name("BFCL_v4_web_search.json"))
    with pytest.raises(NothingToRun, match="web_search cases need a search engine"):
        plan(tmp_path, "bfcl:web_search_base")


def test_questions_to_a_memory_are_asked_together_by_a_live_model(tmp_path: Path) -> None:
    prepared = plan(tmp_path, "bfcl:memory_kv")
    assert [name for name, _ in planned(prepared)] == ["memory_kv-customer"]
    (note,) = [note for note in prepared.notes if "left out" in note]
    assert note.startswith("2 cases are left out: questions to a memory are asked together")


def test_each_recorded_model_gets_the_cases_that_were_recorded_of_it(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "outputs.jsonl", [OSLO, MEMORY])
    prepared = plan(tmp_path, "bfcl", models=(f"recorded:{file}",))
    assert planned(prepared) == [("simple_python_0", "one"), ("memory_kv_0-customer-0", "two")]
    assert "2 of the 8 cases of bfcl were recorded: the others are left out." in prepared.notes


def test_a_recording_beside_a_live_model_leaves_it_all_its_cases(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "outputs.jsonl", [OSLO, MEMORY])
    found = planned(plan(tmp_path, "bfcl", models=("lexical", f"recorded:{file}#two")))
    assert [name for name, model in found if model == "two"] == ["memory_kv_0-customer-0"]
    assert len([name for name, model in found if model == "lexical"]) == 6


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("recorded:nowhere.jsonl", "there is no recording 'nowhere.jsonl'"),
        ("recorded:outputs.jsonl#tow", "no recording of 'tow'\n  Did you mean 'two'"),
    ],
)
def test_a_recording_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, words: str
) -> None:
    write_lines(tmp_path / "outputs.jsonl", [OSLO, MEMORY])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        plan(tmp_path, "bfcl", models=(model,))


def test_a_recording_is_looked_for_once_and_not_for_each_of_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(tmp_path / "said.jsonl", [OSLO])
    jobs = plan(tmp_path, "bfcl", models=(f"recorded:{tmp_path / 'said.jsonl'}",)).plan.jobs
    monkeypatch.setattr(recorded_outputs, "_read_recordings", None)
    monkeypatch.setattr(recorded_outputs, "_split_reference", None)
    for job in jobs:
        assert recorded_outputs.get_recording(job.model).get_transcripts(job.trial.case.name)


def test_a_recording_that_has_changed_is_read_anew_by_the_next_plan(tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    for said in ("No.", "Yes."):
        write_lines(file, [{**OSLO, "result": said}])
        os.utime(file, ns=(0, len(said)))
        (job,) = plan(tmp_path, "bfcl", models=(f"recorded:{file}",)).plan.jobs
        (transcript,) = recorded_outputs.get_recording(job.model).get_transcripts(OSLO["id"])
        assert transcript.answer == said


def test_the_functions_of_a_class_are_measured_once_for_all_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[str] = []

    def list_class_tools(name: str, folder: Path) -> tuple[ApiTool, ...]:
        listed.append(name)
        return common.list_class_tools(name, folder)

    monkeypatch.setattr(server, "list_class_tools", list_class_tools)
    plan(tmp_path, "bfcl")
    plan(tmp_path, "bfcl")
    assert listed
    assert len(listed) == len(set(listed))


def test_a_recording_is_of_a_leaderboard_alone(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "outputs.jsonl", [OSLO])
    with pytest.raises(UsageError, match="is not a leaderboard"):
        plan(tmp_path, "internal", models=(f"recorded:{file}",))


def test_nothing_recorded_of_what_was_asked_for_is_nothing_to_run(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "outputs.jsonl", [OSLO])
    # What the file has instead is told, since it is not judged.
    with pytest.raises(NothingToRun, match=f"none of these .* in no suite .* 1 case: {OSLO['id']}"):
        plan(tmp_path, "bfcl:irrelevance", models=(f"recorded:{file}",))


@pytest.mark.parametrize(
    ("category", "package"),
    [
        ("multi_turn_base", "mpmath"),
        ("simple_java", "tree_sitter_java"),
        ("simple_javascript", "tree_sitter_javascript"),
    ],
)
def test_a_category_that_needs_the_extra_is_refused_without_it_and_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, category: str, package: str
) -> None:
    write_release(tmp_path / "cache", [category])
    monkeypatch.setattr(
        "harness.leaderboards.bfcl.suite.find_spec", lambda name: None if name == package else name
    )
    with pytest.raises(UsageError, match=f"{category} needs more packages.*{package}") as refused:
        BFCL.suites(category)
    assert refused.value.meant is not None
    assert 'pip install "harness-for-mcp[bfcl]"' in refused.value.meant


def test_a_category_in_python_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.leaderboards.bfcl.suite.find_spec", lambda name: None)
    assert [suite.name for suite in BFCL.suites("irrelevance")] == ["bfcl"]


def test_data_of_another_release_counts_as_not_fetched(tmp_path: Path) -> None:
    stamp = next((tmp_path / "cache").rglob("fetched.json"))
    stamp.write_text(stamp.read_text().replace('"tree": "', '"tree": "0'))
    with pytest.raises(NothingToRun, match="harness fetch bfcl"):
        plan(tmp_path, "bfcl")


def test_a_project_may_have_a_suite_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "own.yml").write_text(
        "suite: bfcl\nserver: finance\ntests: [{name: mine, prompt: hi, assertions: "
        "{answer_contains: [x]}}]\n"
    )
    assert [name for name, _ in planned(plan(tmp_path, "bfcl"))] == ["mine"]


def test_a_trial_is_expected_to_take_what_its_texts_take(tmp_path: Path) -> None:
    tokens = {
        job.trial.case.name: job.trial.case.leaderboard.typical_tokens
        for job in plan(tmp_path, "bfcl").plan.jobs
    }
    single, conversation = tokens["simple_python_0"], tokens["multi_turn_miss_func_0"]
    assert single is not None
    assert conversation is not None
    assert 300 < single[0] < 500
    assert conversation > (
        4 * 300,
        4 * 50,
    )  # four replies are expected, each to a request of its own


@pytest.mark.parametrize(
    ("names", "categories", "expected"),
    [
        (["bfcl"], None, ["bfcl"]),
        (["bfcl"], "simple,parallel", ["bfcl:simple,parallel"]),
        (["bfcl:live", "own.yml"], "simple", ["bfcl:live", "own.yml"]),
        (["bfcl:live", "bfcl:simple"], None, ["bfcl:live,simple"]),
        (["bfcl:live", "bfcl"], None, ["bfcl"]),
        ([], None, []),
    ],
)
def test_parts_of_one_leaderboard_are_asked_for_at_once(
    names: list[str], categories: str | None, expected: list[str]
) -> None:
    assert add_categories(names, categories) == expected


def test_a_category_without_a_leaderboard_is_an_error() -> None:
    with pytest.raises(UsageError, match="none is named"):
        add_categories(["own.yml"], "simple")
