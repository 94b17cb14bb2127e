"""What a run may cost is said beforehand: the model's part, and the judge's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.dry_run import describe_plan
from harness.runlog import Header, LogWriter, TrialLine
from harness.runner.planning.estimate import (
    TYPICAL_CHOICE,
    TYPICAL_JUDGEMENT,
    TYPICAL_TOKENS,
    estimate_judging,
    estimate_usage,
)
from harness.runner.planning.plan import RunPlan, make_plan
from harness.types import (
    Case,
    CaseFacts,
    Check,
    Judgement,
    ModelSpec,
    ServerSpec,
    Status,
    Suite,
    TransportSpec,
    TrialResult,
    Turn,
    Usage,
    Variant,
)

JUDGE = ModelSpec(
    name="judge", provider="openai", model_id="gpt-4o", input_price=2.0, output_price=10.0
)
ASKED = Check(kind="expected_answer", params={"text": "Paris"})
PLAIN = Check(kind="answer_contains", params={"text": "Paris"})


def plan(*cases: tuple[str, Check], judge: str | None = "judge", trials: int = 2) -> RunPlan:
    suite = Suite(
        name="s", cases=tuple(Case(name=name, prompt="?", checks=(check,)) for name, check in cases)
    )
    return make_plan(
        [suite],
        models_of=lambda _: [ModelSpec(name="lexical", provider="lexical", model_id="lexical")],
        server_of=lambda _: ServerSpec(name="s", transport=TransportSpec(command="x")),
        judge_of=lambda _: judge,
        judges=[JUDGE],
        trials=trials,
    )


def test_a_judge_is_estimated_for_the_checks_that_ask_it(tmp_path: Path) -> None:
    (estimate,) = estimate_judging(plan(("a", ASKED), ("b", PLAIN), ("c", ASKED)), tmp_path)
    assert (estimate.trials, estimate.known) == (4, 0)
    assert (estimate.input_tokens, estimate.output_tokens) == tuple(
        4 * tokens for tokens in TYPICAL_JUDGEMENT
    )
    assert estimate.cost_usd == pytest.approx(4 * (1500 * 2 + 150 * 10) / 1_000_000)


def test_an_earlier_run_says_what_a_judgement_takes(tmp_path: Path) -> None:
    judged = Judgement(question="q", model="judge", prompt_version="1", score=1.0)
    usage = Usage(input_tokens=4000, output_tokens=200)
    run = TrialResult(
        key="k", suite="s", case=CaseFacts(name="a"), model="lexical", trial=1, status="passed",
        judge_usage=usage,
        judgements=(judged, judged),
    )  # fmt: skip
    with LogWriter(tmp_path / "run" / "log.jsonl") as log:
        log.append(Header(run_id="run", started_at="", harness_version="0", planned=1))
        log.append(TrialLine(run=run))
    (estimate,) = estimate_judging(plan(("a", ASKED), ("b", ASKED), trials=1), tmp_path)
    assert (estimate.trials, estimate.known) == (2, 1)
    assert estimate.input_tokens == 2000 + TYPICAL_JUDGEMENT[0]


@pytest.mark.parametrize(
    ("status", "usage", "known"),
    [
        ("passed", Usage(input_tokens=900, output_tokens=100), 1),
        ("failed", Usage(input_tokens=900, output_tokens=0), 1),
        ("error", Usage(input_tokens=900, output_tokens=100), 0),
        ("passed", Usage(input_tokens=0, output_tokens=0), 0),
        ("passed", Usage(input_tokens=None, output_tokens=None), 0),
        ("passed", Usage(input_tokens=900, output_tokens=None), 0),
    ],
)
def test_only_a_trial_that_came_through_and_was_counted_says_what_the_next_takes(
    tmp_path: Path, status: Status, usage: Usage, known: int
) -> None:
    run = TrialResult(
        key="k",
        suite="s",
        case=CaseFacts(name="a"),
        model="judge",
        trial=1,
        status=status,
        usage=usage,
        stop="answer",
    )
    with LogWriter(tmp_path / "run" / "log.jsonl") as log:
        log.append(Header(run_id="run", started_at="", harness_version="0", planned=1))
        log.append(TrialLine(run=run))
    asked = plan(("a", PLAIN), trials=1)
    (job,) = asked.jobs
    asked = replace(
        asked, jobs=(replace(job, trial=replace(job.trial, model="judge"), model=JUDGE),)
    )
    (estimate,) = estimate_usage(asked, tmp_path)
    assert (estimate.known, estimate.input_tokens) == (known, 900 if known else TYPICAL_TOKENS[0])


@pytest.mark.parametrize(
    ("ran_as", "known", "asked_first"),
    [
        # Neither ran, the model alone ran, or the variant itself did.
        (None, TYPICAL_TOKENS[0], 2),
        ("judge", 900, 2),
        ("judge+filtered", 900, 0),
    ],
)
def test_the_requests_by_which_a_model_chooses_its_tools_are_counted(
    tmp_path: Path, ran_as: str | None, known: int, asked_first: int
) -> None:
    asked = plan(("a", PLAIN), trials=1)
    (job,) = asked.jobs
    # By hand: two turns, so the model is asked twice which tools it needs.
    case = replace(job.trial.case, turns=(Turn(prompt="?"), Turn(prompt="And now?")))
    trial = replace(job.trial, case=case, model="judge", axes={"variant": "filtered"})
    variant = Variant(name="filtered", tool_filter="model")
    job = replace(job, trial=trial, model=JUDGE, point={"variant": variant})
    if ran_as is not None:
        run = TrialResult(
            key="k", suite="s", case=CaseFacts(name="a"), model="judge", trial=1, status="passed",
            usage=Usage(input_tokens=900, output_tokens=100), stop="answer",
            axes={} if ran_as == "judge" else {"variant": "filtered"},
        )  # fmt: skip
        with LogWriter(tmp_path / "run" / "log.jsonl") as log:
            log.append(Header(run_id="run", started_at="", harness_version="0", planned=1))
            log.append(TrialLine(run=run))
    (estimate,) = estimate_usage(replace(asked, jobs=(job,)), tmp_path)
    assert estimate.choices == 2
    assert estimate.input_tokens == known + asked_first * TYPICAL_CHOICE[0]


def test_a_judge_whom_nobody_asks_is_not_mentioned(tmp_path: Path) -> None:
    assert list(estimate_judging(plan(("a", PLAIN)), tmp_path)) == []


def test_a_dry_run_names_the_judge_beside_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = describe_plan(plan(("a", ASKED))).splitlines()
    assert "model lexical: 2 trials, free" in lines
    assert lines[-1].startswith(
        "judge judge (gpt-4o): 2 judgements, about 3,000 tokens in and 300 out, cost about $0.0090"
    )
