"""``--last-failed``: what counts as failed, in whatever run it was asked last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import NothingToRun
from harness.cli.run_lookup import find_last_failed
from harness.runner.planning.plan import Job, make_plan
from harness.types import Case, ModelSpec, ServerSpec, Suite
from tests.judging.test_access import FULL, LEAKING, a_log, a_run
from tests.reports.run_logs import write_log

SERVER = ServerSpec(name="s")


def jobs(*cases: str, suite: str = "shop", models: tuple[str, ...] = ("m",)) -> tuple[Job, ...]:
    asked = Suite(name=suite, cases=tuple(Case(name=name, prompt="?", checks=()) for name in cases))
    specs = [ModelSpec(name=name, provider="openai", model_id=name) for name in models]
    return make_plan([asked], models_of=lambda _: specs, server_of=lambda _: SERVER).jobs


def a_past_run(runs: Path, number: int, results: Any, suite: str = "shop", **facts: Any) -> None:
    folder = runs / f"20260101T0000{number:02}Z-{suite}-abcdef"
    folder.mkdir(parents=True)
    write_log(folder / "log.jsonl", results, suite=suite, **facts)


def found(runs: Path, asked: tuple[Job, ...]) -> set[str]:
    try:
        return {label.removeprefix("shop::") for label in find_last_failed(asked, runs)}
    except NothingToRun:
        return set()


def test_a_case_that_only_other_identities_show_to_leak_has_failed(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "20260101T000000Z-shop-abcdef"
    folder.mkdir(parents=True)
    a_log(folder, (a_run("admin"), FULL), (a_run("clerk"), LEAKING))
    assert find_last_failed(jobs("mail [clerk]"), tmp_path / "runs") == ("shop::mail [clerk]",)


def test_failures_that_a_run_of_other_cases_did_not_touch_are_remembered(tmp_path: Path) -> None:
    a_past_run(tmp_path, 1, {"a": "f", "b": "f", "c": "p"})
    a_past_run(tmp_path, 2, {"b": "p"})
    a_past_run(tmp_path, 3, {"c": "f"})
    a_past_run(tmp_path, 4, {"x": "p"}, suite="bank")
    assert find_last_failed(jobs("a", "b", "c"), tmp_path) == ("shop::a", "shop::c")


def test_a_case_that_was_cut_off_or_skipped_is_as_failed_as_before(tmp_path: Path) -> None:
    a_past_run(tmp_path, 1, {"a": "f", "b": "f", "c": "p"})
    a_past_run(tmp_path, 2, {"a": "s", "b": "c", "c": "c"}, finished=False)
    assert found(tmp_path, jobs("a", "b", "c")) == {"a", "b"}


def test_a_run_of_one_model_says_nothing_about_another(tmp_path: Path) -> None:
    a_past_run(tmp_path, 1, {}, models={"m": {"a": "p"}, "n": {"a": "f"}})
    a_past_run(tmp_path, 2, {"a": "p"}, model="m")
    assert found(tmp_path, jobs("a", models=("m", "n"))) == {"a"}
    assert found(tmp_path, jobs("a", models=("m",))) == set()


def test_without_a_run_of_a_suite_and_without_a_failure_nothing_is_to_run(tmp_path: Path) -> None:
    with pytest.raises(NothingToRun, match="no run yet of shop"):
        find_last_failed(jobs("a"), tmp_path)
    a_past_run(tmp_path, 1, {"a": "p"})
    with pytest.raises(NothingToRun, match="no case failed in the latest run: 20260101T000001Z"):
        find_last_failed(jobs("a", "new"), tmp_path)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from("pfesc")), max_size=5))
@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_what_is_remembered_of_a_case_is_its_latest_verdict(
    tmp_path_factory: pytest.TempPathFactory, runs: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    verdicts: dict[str, str] = {}
    for number, results in enumerate(runs):
        if results:
            a_past_run(folder, number, results)
        verdicts |= {case: ending for case, ending in results.items() if ending in "pfe"}
    failed = {case for case, ending in verdicts.items() if ending in "fe"}
    assert found(folder, jobs("a", "b", "c")) == failed
