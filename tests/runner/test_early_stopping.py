import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.exit_codes import exit_code
from harness.judging.trial import not_started
from harness.reports.build import build_report
from harness.runlog import Footer, Header, LogWriter, RunLog, TrialLine, read_log
from harness.runner.control import EarlyStopping
from harness.runner.planning.plan import RunPlan, make_plan
from harness.runner.runs.resume import select_remaining
from harness.types import (
    DECIDED,
    Case,
    ModelSpec,
    Repeats,
    ServerSpec,
    Status,
    Suite,
    TransportSpec,
    TrialResult,
    Usage,
)
from tests.support import a_case, entrants_of

MODEL = ModelSpec(name="m", provider="lexical", model_id="m")
SERVER = ServerSpec(name="srv", transport=TransportSpec(command="python"))
LETTERS: dict[str, Status] = {"p": "passed", "f": "failed", "e": "error"}


def a_plan(least: int, most: int, *cases: Case) -> RunPlan:
    suite = Suite(name="s", cases=cases or (a_case(name="one"), a_case(name="two")))
    return make_plan(
        [suite],
        models_of=lambda _: [MODEL],
        server_of=lambda _: SERVER,
        trials=most,
        least_trials=least,
    )  # fmt: skip


def carry_out(plan: RunPlan, endings: Sequence[str], workers: int = 1) -> list[TrialResult]:
    """Run ``plan`` with trial i of a case ending like letter i of its word; return the results.

    They come in order of arrival.
    """
    words = dict(zip(dict.fromkeys(job.trial.case.name for job in plan.jobs), endings, strict=True))

    async def all_jobs() -> list[TrialResult]:
        early, results, jobs = EarlyStopping(plan), [], iter(plan.jobs)

        async def work() -> None:
            for job in jobs:
                wanted = await early.is_wanted(job)
                await anyio.lowlevel.checkpoint()
                ending = LETTERS[words[job.trial.case.name][job.trial.number - 1]]
                run = not_started(
                    job.trial, ending if wanted else "skipped", reason=None if wanted else DECIDED
                )
                results.append(run)
                early.count_result(run)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for _ in range(workers):
                    group.start_soon(work)
        return results

    return anyio.run(all_jobs)


def ran(runs: Sequence[TrialResult], case: str = "one") -> int:
    return sum(run.case.name == case and run.status != "skipped" for run in runs)


def test_optional_repeats_come_last_and_round_by_round() -> None:
    order = [(job.trial.case.name, job.trial.number, job.optional) for job in a_plan(2, 4).jobs]
    assert order == [
        ("one", 1, False), ("one", 2, False), ("two", 1, False), ("two", 2, False),
        ("one", 3, True), ("two", 3, True), ("one", 4, True), ("two", 4, True),
    ]  # fmt: skip


def test_a_case_that_must_always_pass_stops_at_its_first_failure() -> None:
    runs = carry_out(a_plan(3, 10), ["pfpppppppp", "pppppppppp"])
    assert (ran(runs, "one"), ran(runs, "two")) == (3, 10)
    assert {run.skip_reason for run in runs if run.status == "skipped"} == {DECIDED}


def test_a_case_that_may_fail_sometimes_stops_as_soon_as_enough_have_passed() -> None:
    case = a_case(name="one", repeats=Repeats(pass_threshold=0.5))
    assert ran(carry_out(a_plan(3, 10, case), ["pppppfffff"])) == 5
    assert ran(carry_out(a_plan(3, 10, case), ["ffffffpppp"])) == 6
    assert ran(carry_out(a_plan(3, 10, case), ["pfpfpfpfpf"])) == 9


def test_the_least_number_is_run_whatever_is_decided() -> None:
    assert ran(carry_out(a_plan(3, 10, a_case(name="one")), ["ffffffffff"])) == 3


def test_a_trial_without_a_verdict_decides_nothing() -> None:
    assert ran(carry_out(a_plan(1, 4, a_case(name="one")), ["eeef"])) == 4


@given(
    st.integers(1, 6).flatmap(lambda least: st.tuples(st.just(least), st.integers(least, 8))),
    st.sampled_from([0.2, 0.5, 0.67, 0.9, 1.0]),
    st.lists(st.text("pfe", min_size=8, max_size=8), min_size=1, max_size=3),
    st.integers(1, 5),
)
def test_stopping_early_changes_no_verdict_and_does_not_depend_on_concurrency(
    trials: tuple[int, int], threshold: float, endings: list[str], workers: int
) -> None:
    cases = [
        a_case(name=f"case{i}", repeats=Repeats(pass_threshold=threshold))
        for i in range(len(endings))
    ]
    plan = a_plan(*trials, *cases)
    stopped, alone = carry_out(plan, endings, workers), carry_out(plan, endings)
    assert {run.key: run.status for run in stopped} == {run.key: run.status for run in alone}
    assert len(stopped) == len(plan.jobs)
    whole = carry_out(a_plan(trials[1], trials[1], *cases), endings)
    assert verdicts(stopped) == verdicts(whole)


def verdicts(runs: Sequence[TrialResult]) -> dict[str, str]:
    """Return each case's verdict by hand: passed, failed, or open because of errors."""
    groups: defaultdict[str, list[TrialResult]] = defaultdict(list)
    for run in runs:
        groups[run.case.name].append(run)
    return {case: _verdict(group) for case, group in groups.items()}


def _verdict(runs: Sequence[TrialResult]) -> str:
    endings = [run.status for run in runs]
    if endings.count("passed") >= runs[0].needed_passes:
        return "passed"
    return "failed" if len(endings) - endings.count("failed") < runs[0].needed_passes else "open"


def a_log(path: Path, plan: RunPlan, runs: Sequence[TrialResult]) -> RunLog:
    header = Header(
        run_id="r", started_at="", harness_version="", planned=len(plan.jobs),
        suites={"s": {"cases": {"one": "", "two": ""}}}, models={"m": {}},
        entrants=entrants_of(("m",)),
    )  # fmt: skip
    with LogWriter(path) as log:
        log.append(header)
        for run in runs:
            log.append(TrialLine(run=run))
        log.append(Footer(finished_at="", elapsed_s=1))
    return read_log(path)


@pytest.mark.parametrize(
    ("endings", "code"), [(["ppppp", "ppppp"], 0), (["ppppp", "fffff"], 1), (["ppppp", "eeeee"], 4)]
)
def test_trials_that_were_not_needed_are_no_reason_for_an_exit_code(
    tmp_path: Path, endings: list[str], code: int
) -> None:
    plan = a_plan(
        2, 5, *(a_case(name=name, repeats=Repeats(pass_threshold=0.4)) for name in ("one", "two"))
    )
    report = build_report(a_log(tmp_path / "log.jsonl", plan, carry_out(plan, endings)))
    assert exit_code(report) == code
    counts = report.counts
    assert counts.skipped > 0
    assert counts.planned == 10
    assert (
        counts.passed + counts.failed + counts.error + counts.skipped + counts.cancelled
        == counts.planned
    )


def test_a_resumed_run_remembers_what_is_decided(tmp_path: Path) -> None:
    plan = a_plan(2, 5)
    runs = carry_out(plan, ["ppppp", "fpppp"])
    assert select_remaining(plan, a_log(tmp_path / "whole.jsonl", plan, runs)).jobs == ()
    kept = [run for run in runs if run.case.name == "two" and run.trial <= 2]
    rest = select_remaining(plan, a_log(tmp_path / "torn.jsonl", plan, kept))
    again = carry_out(replace(rest, jobs=tuple(rest.jobs)), ["ppppp", "ppppp"])
    assert ran(again, "two") == 0
    assert ran(again, "one") == 5


def test_a_resumed_run_knows_what_was_spent_as_far_as_anybody_does(tmp_path: Path) -> None:
    plan = a_plan(1, 1)
    one, two = carry_out(plan, ["p", "f"])
    priced = replace(
        one,
        usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.5),
        user_usage=Usage(cost_usd=0.25),
    )
    unpriced = replace(two, usage=Usage(input_tokens=7, output_tokens=None, cost_usd=None))
    log = a_log(tmp_path / "log.jsonl", plan, [replace(priced, status="error"), priced, unpriced])
    spent = select_remaining(plan, log).spent
    assert (spent.cost_usd, spent.tokens) == (1.5, 37)


def test_every_optional_trial_waits_for_those_before_it() -> None:
    for workers, word in itertools.product((1, 2, 5), ("pf", "fp")):
        runs = carry_out(a_plan(1, 6, a_case(name="one")), [word * 3], workers)
        assert ran(runs) == (2 if word == "pf" else 1)
