"""The rules that decide a reward: each has something that turns a verdict."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.checks.judge.prompt import GRADE
from harness.leaderboards.tau2.checks import (
    ask_about_assertion,
    build_checks,
    is_communicated,
    matches_action,
)
from harness.leaderboards.tau2.tasks import Action, Criteria
from harness.reports.build import build_report
from harness.reports.formats.json_report import write_json
from harness.reports.sections.repeats import repeat_lines, repeats_json
from harness.reports.sections.sentences import contradictions
from harness.runlog import RunLog
from harness.types import ToolRequest, TrialResult, UserMessage
from tests.judging.checks.scenes import scene
from tests.leaderboards.tau2.running import run_recorded
from tests.leaderboards.tau2.support import (
    CANCEL,
    GOOD,
    hears,
    judged,
    result,
    results,
    says,
    simulation,
    small_shop,
    task,
)


def test_without_criteria_a_task_asks_only_that_the_conversation_ended() -> None:
    (check,) = build_checks(None)
    assert check.params == {"component": "TERMINATION"}


WITHOUT_CALL = [*GOOD[:2], *GOOD[4:]]
ACTION = ["DB", "COMMUNICATE", "ACTION"]
ELSEWHERE = {**CANCEL, "order_id": "#G"}
UNKNOWN = {**CANCEL, "order_id": "#X"}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    # name: the task, the simulation, how it ends
    "good": (task("good"), simulation("good"), "passed"),
    "no_write": (task("no_write"), simulation("no_write", WITHOUT_CALL), "failed"),
    "other_write": (
        task("other_write"),
        simulation(
            "other_write", [*GOOD[:2], says(None, cancel_pending_order=ELSEWHERE), *GOOD[3:]]
        ),
        "failed",
    ),
    "nothing_is_gold": (
        task("nothing_is_gold", actions=[]),
        simulation("nothing_is_gold"),
        "failed",
    ),
    "nothing_is_said_of_it": (
        task("nothing_is_said_of_it", actions=None),
        simulation("nothing_is_said_of_it"),
        "passed",
    ),
    "no_database_in_the_basis": (
        task("no_database_in_the_basis", reward_basis=["COMMUNICATE"]),
        simulation("no_database_in_the_basis", WITHOUT_CALL),
        "passed",
    ),
    "gold_that_fails_is_passed_over": (
        task(
            "gold_that_fails_is_passed_over",
            actions=[
                {"name": "cancel_pending_order", "arguments": arguments}
                for arguments in (UNKNOWN, CANCEL)
            ],
        ),
        simulation("gold_that_fails_is_passed_over"),
        "passed",
    ),
    "not_said": (
        task("not_said"),
        simulation("not_said", [*GOOD[:4], says("All done."), GOOD[5]]),
        "failed",
    ),
    "said_beside_a_call": (
        task("said_beside_a_call"),
        simulation(
            "said_beside_a_call",
            [
                *GOOD[:2],
                says("Done: 1050", cancel_pending_order=CANCEL),
                GOOD[3],
                says("Bye."),
                GOOD[5],
            ],
        ),
        "passed",
    ),
    "said_in_the_greeting": (
        task("said_in_the_greeting", communicate_info=["help you today"]),
        simulation("said_in_the_greeting"),
        "passed",
    ),
    "said_by_the_user": (
        task("said_by_the_user", communicate_info=["refund"]),
        simulation("said_by_the_user", [*GOOD[:5], hears("The refund? ###STOP###")]),
        "failed",
    ),
    "action_called": (
        task("action_called", reward_basis=ACTION),
        simulation("action_called"),
        "passed",
    ),
    "action_not_called": (
        task(
            "action_not_called",
            reward_basis=ACTION,
            actions=[
                {"name": "get_order_details", "arguments": {"order_id": "#P"}},
                {"name": "cancel_pending_order", "arguments": CANCEL},
            ],
        ),
        simulation("action_not_called"),
        "failed",
    ),
    "action_outside_the_basis": (
        task(
            "action_outside_the_basis",
            actions=[
                {"name": "get_order_details", "arguments": {"order_id": "#P"}},
                {"name": "cancel_pending_order", "arguments": CANCEL},
            ],
        ),
        simulation("action_outside_the_basis"),
        "passed",
    ),
    "too_long": (task("too_long"), simulation("too_long", reason="max_steps"), "failed"),
    "too_many_errors": (
        task("too_many_errors"),
        simulation("too_many_errors", reason="too_many_errors"),
        "failed",
    ),
    "agent_broke": (task("agent_broke"), simulation("agent_broke", reason="agent_error"), "failed"),
    "machine_broke": (
        task("machine_broke"),
        simulation("machine_broke", reason="infrastructure_error"),
        "error",
    ),
    "nothing_asked": (
        {**task("nothing_asked"), "evaluation_criteria": None},
        simulation("nothing_asked"),
        "passed",
    ),
    "nothing_asked_and_broke": (
        {**task("nothing_asked_and_broke"), "evaluation_criteria": None},
        simulation("nothing_asked_and_broke", reason="user_error"),
        "failed",
    ),
    "agent_stopped": (
        task("agent_stopped"),
        simulation("agent_stopped", reason="agent_stop"),
        "passed",
    ),
    "nobody_judges": (
        task(
            "nobody_judges",
            nl_assertions=["The agent is kind."],
            reward_basis=["DB", "NL_ASSERTION"],
        ),
        simulation("nobody_judges"),
        "error",
    ),
    "judged_then_and_met": (
        task(
            "judged_then_and_met",
            nl_assertions=["The agent is kind."],
            reward_basis=["DB", "NL_ASSERTION"],
        ),
        judged(simulation("judged_then_and_met"), met=True),
        "passed",
    ),
    "judged_then_and_not_met": (
        task(
            "judged_then_and_not_met",
            nl_assertions=["The agent is kind."],
            reward_basis=["DB", "NL_ASSERTION"],
        ),
        judged(simulation("judged_then_and_not_met"), met=False),
        "failed",
    ),
    "other_assertion_judged_then": (
        task(
            "other_assertion_judged_then",
            nl_assertions=["The agent is quick."],
            reward_basis=["NL_ASSERTION"],
        ),
        judged(simulation("other_assertion_judged_then"), met=True),
        "error",
    ),
    "no_assertions": (
        task("no_assertions", nl_assertions=None, reward_basis=["DB", "NL_ASSERTION"]),
        simulation("no_assertions"),
        "passed",
    ),
}


REPEATED = {
    "always": [simulation("always", trial=trial) for trial in range(4)],
    "twice": [
        *(
            simulation("twice", GOOD if trial < 2 else WITHOUT_CALL, trial=trial)
            for trial in range(3)
        ),
        simulation("twice", trial=3, reason="infrastructure_error"),  # counts, and is no success
    ],
    "thrice": [
        simulation("thrice", WITHOUT_CALL if trial == 1 else GOOD, trial=trial)
        for trial in range(4)
    ],
}
"""Four trials of each task."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> RunLog:
    """The log of all cases, replayed at once on a shop of our own making."""
    folder = tmp_path_factory.mktemp("rules")
    tasks = [*(one[0] for one in CASES.values()), *map(task, REPEATED)]
    simulations = [
        *(one[1] for one in CASES.values()),
        *(one for trials in REPEATED.values() for one in trials),
    ]
    small_shop(folder / "cache", tasks)
    path = results(folder / "results.json", tasks, simulations)
    return run_recorded("retail", path, folder, cache=folder / "cache")


def run_of(log: RunLog, name: str) -> TrialResult:
    return next(run for run in log.results if run.case.name == f"retail_{name}")


@pytest.mark.parametrize("name", CASES)
def test_a_rule_turns_the_verdict(log: RunLog, name: str) -> None:
    assert run_of(log, name).status == CASES[name][2]


def test_an_end_that_neither_side_made_is_told_in_the_recordings_own_word(log: RunLog) -> None:
    ended = next(
        check for check in run_of(log, "agent_broke").checks if check.label == "tau2 TERMINATION"
    )
    assert ended.verdict == "failed"
    assert ended.explanation.endswith("it ended with agent_error.")


def test_a_recorded_verdict_on_an_assertion_stands_where_nobody_judges_and_says_so(
    log: RunLog,
) -> None:
    for name, verdict in (("judged_then_and_met", "passed"), ("judged_then_and_not_met", "failed")):
        run = run_of(log, name)
        check = next(check for check in run.checks if check.kind == "tau2_assertion")
        assert check.verdict == verdict
        assert check.explanation.startswith("No judge is configured: this is the recorded verdict.")
        assert [judgement.model for judgement in run.judgements] == ["recorded"]
    assert "She said so." in check.explanation


@pytest.mark.slow
def test_a_recording_of_a_later_revision_gets_the_tool_that_it_called(tmp_path: Path) -> None:
    item = {"item_id": "M2", "options": {"color": "blue"}, "available": True, "price": 12.35}
    messages = [
        *GOOD[:2],
        says(None, get_item_details={"item_id": "M2"}),
        result("get_item_details", json.dumps(item)),
        *GOOD[4:],
    ]
    tasks = [task("later", actions=[])]
    small_shop(tmp_path / "cache", tasks)
    path = results(tmp_path / "results.json", tasks, [simulation("later", messages)])
    run = run_of(run_recorded("retail", path, tmp_path, cache=tmp_path / "cache"), "later")
    assert run.status == "passed"
    assert next(check.verdict for check in run.checks if check.kind == "replay") == "passed"


def test_a_result_that_is_not_as_recorded_is_told_and_decides_nothing(log: RunLog) -> None:
    run = run_of(log, "good")
    replayed = next(check for check in run.checks if check.kind == "replay")
    assert (replayed.verdict, replayed.severity) == ("failed", "warn")
    assert replayed.actual == ["id_cancel_pending_order"]
    assert "recorded “{}”" in replayed.explanation
    assert run.status == "passed"


def test_a_recorded_reward_that_the_rules_contradict_is_counted_and_decides_nothing(
    tmp_path: Path,
) -> None:
    names = {"right": (GOOD, 1), "too_good": (WITHOUT_CALL, 1.0), "too_bad": (GOOD, 0.0)}
    tasks = list(map(task, [*names, "unlabelled"]))
    simulations = [
        simulation(name, messages) | {"reward_info": {"reward": reward}}
        for name, (messages, reward) in names.items()
    ]
    small_shop(tmp_path / "cache", tasks)
    path = results(tmp_path / "results.json", tasks, [*simulations, simulation("unlabelled")])
    log = run_recorded("retail", path, tmp_path, cache=tmp_path / "cache")
    found = {
        run.case.name.removeprefix("retail_"): (run.status, check.verdict)
        for run in log.results
        for check in run.checks
        if check.kind == "recorded_reward"
    }
    assert found == {
        "right": ("passed", "passed"),
        "too_good": ("failed", "failed"),
        "too_bad": ("passed", "failed"),
    }
    report = build_report(log)
    assert list(contradictions(report)) == ["recorded rewards: 2 of 3 contradict the rules"]
    document = io.StringIO()
    write_json(report, log, document)
    assert json.loads(document.getvalue())["result"]["recorded_rewards"] == [
        {"entrant": report.cases[0].entrant, "compared": 3, "contradicted": 2}
    ]


def test_the_conversation_has_the_results_of_now(log: RunLog) -> None:
    transcript = log.read_transcript(run_of(log, "good").key)
    assert transcript is not None
    assert [call.tool for call in transcript.tool_calls] == ["cancel_pending_order"]
    assert '"status": "cancelled"' in transcript.tool_calls[0].text
    assert transcript.greeting == "Hi! How can I help you today?"
    assert transcript.stop == "user_stop"


def test_four_trials_give_pass_1_to_pass_4_with_errors_in_the_denominator(log: RunLog) -> None:
    report = build_report(log)
    repeated = [case for case in report.cases if case.case.removeprefix("retail_") in REPEATED]
    assert [(case.passed_count, len(case.trials)) for case in repeated] == [(4, 4), (2, 4), (3, 4)]
    assert {k: round(value, 3) for k, value in repeats_json(repeated)["pass_hat_k"].items()} == {
        "1": 0.75,  # (4/4 + 2/4 + 3/4) / 3
        "2": 0.556,  # (1 + 1/6 + 3/6) / 3
        "3": 0.417,  # (1 + 0 + 1/4) / 3
        "4": 0.333,
    }
    shown = "pass^1 0.750 · pass^2 0.556 · pass^3 0.417 · pass^4 0.333"
    assert shown in list(repeat_lines(replace(report, cases=tuple(repeated))))


@pytest.mark.parametrize(
    ("wanted", "text", "told"),
    [
        ("1050", "You get $1,050.", True),
        (
            "1,050",
            "You get $1,050.",
            False,
        ),  # commas are taken out of what was said, and never of what is wanted
        ("Mastercard", "your MASTERCARD", True),
        ("10", "1,050", True),
        ("60", "nothing", False),
    ],
)
def test_what_was_said_is_looked_for_without_case_and_commas(
    wanted: str, text: str, told: bool
) -> None:
    assert is_communicated(wanted, ["Hello.", text]) is told


@pytest.mark.parametrize(
    ("compared", "gold", "made", "equal"),
    [
        (None, {"a": 1}, {"a": 1}, True),
        (None, {"a": 1, "b": 2}, {"a": 1}, True),  # one too few
        (None, {"a": 1}, {"a": 1, "b": 2}, False),  # one too many
        (None, {"a": 1}, {}, True),
        (None, {"a": 1}, {"a": 1.0}, True),
        (("a",), {"a": 1, "b": 2}, {"a": 1, "b": 3}, True),
        (("a",), {"a": 1}, {}, False),
        ((), {"a": 1}, {"a": 2}, True),
    ],
)
def test_an_action_is_compared_by_the_arguments_that_count(
    compared: tuple[str, ...] | None, gold: dict[str, Any], made: dict[str, Any], equal: bool
) -> None:
    action = Action(name="t", arguments=gold, compare_args=compared)
    assert matches_action(action, ToolRequest(id="1", tool="t", arguments=made)) is equal
    assert not matches_action(action, ToolRequest(id="1", tool="u", arguments=made))


def test_what_is_outside_the_basis_is_shown_and_decides_nothing() -> None:
    criteria = Criteria(
        actions=(Action(name="t"),), communicate=("x",), assertions=("y",), basis=("ACTION",)
    )
    assert [(check.kind, check.severity) for check in build_checks(criteria)] == [
        ("tau2", "fail"),  # how it ended always decides
        ("end_state", "warn"),
        ("tau2", "warn"),
        ("tau2", "fail"),
    ]


@pytest.mark.parametrize(("size", "left_out"), [(60_000, 0), (60_001, 1)])
def test_a_judge_of_an_assertion_is_shown_the_conversation_up_to_its_bound(
    size: int, left_out: int
) -> None:
    said = "x" * (size - len("user: "))
    question = ask_about_assertion(
        {"text": "The agent is kind."}, scene(messages=(UserMessage(text=said),), answer="a")
    )
    shown = f"user: {said}"[:60_000]
    end = f"\n[… {left_out} characters left out]" if left_out else ""
    assert question.material["conversation"] == shown + end
    assert question.material["assertion"] == "The agent is kind."
    assert question.scale is GRADE
