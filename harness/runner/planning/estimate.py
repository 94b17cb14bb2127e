"""The trials of a plan and their estimated cost, shown before anything is started or paid for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base import HarnessError
from harness.judging import find_judge_needs
from harness.models import get_traits, list_price
from harness.runlog import read_log
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.runs.folders import RUNS, log_path, run_ids
from harness.types import Case, ModelSpec, TrialResult

RECENT_RUNS = 10
"""Number of earlier runs that are searched for the usage of a case."""
TYPICAL_TOKENS = (6000, 400)
"""Input and output tokens of an unknown case: two replies with a dozen tools."""
TYPICAL_JUDGEMENT = (1500, 150)
"""Input and output tokens of one judgement: the rubric, the results and answer of a conversation; a
score and a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimated usage of the trials of one model."""

    model: ModelSpec
    """The model."""
    trials: int
    """Number of trials that it answers."""
    known: int
    """Number of these with figures from an earlier run."""
    input_tokens: int
    """Over all trials."""
    output_tokens: int
    """Over all trials."""
    cost_usd: float | None
    """Dollars; ``None`` if the price is unknown."""
    judges: bool = False
    """Whether the model judges; trials are then judgements."""
    plays: bool = False
    """Whether the model plays simulated users."""


def estimate_usage(plan: RunPlan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield the estimate of each model of ``plan``, based on earlier runs of the same cases.

    A variant that has never run counts like the model without it.
    """
    used = _read_model_usage(runs)
    for model in plan.models:
        jobs = [job for job in plan.jobs if job.model.name == model.name]
        # The entrant of a model without a value on any axis has the model's name.
        before = [used.get(_build_key(job), used.get(_build_key(job, model.name))) for job in jobs]
        known = [tokens for tokens in before if tokens is not None]
        unknown = [job for job, tokens in zip(jobs, before, strict=True) if tokens is None]
        guessed = [
            typical_tokens(job.trial.case) or job.suite.typical_tokens or TYPICAL_TOKENS
            for job in unknown
        ]
        tokens_in = round(sum(tokens for tokens, _ in (*known, *guessed)))
        tokens_out = round(sum(tokens for _, tokens in (*known, *guessed)))
        # Recordings and baselines cost nothing, whatever the tokens of their cases.
        free = get_traits(model.provider).answers != "llm"
        yield Estimate(
            model=model,
            trials=len(jobs),
            known=len(known),
            input_tokens=0 if free else tokens_in,
            output_tokens=0 if free else tokens_out,
            cost_usd=0.0 if free else list_price(model, tokens_in, tokens_out),
        )


def estimate_judging(plan: RunPlan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield the most that each judge of ``plan`` may use; equal questions are judged only once."""
    before = _read_judge_usage(runs)
    for judge in plan.judges:
        asked = [
            job
            for job in plan.jobs
            for need in find_judge_needs(job.trial.case.every_check)
            if (need.model or job.judge) == judge.name
        ]
        if not asked:  # no case of this shard uses this judge
            continue
        known = [
            before[name] for job in asked if (name := (*_build_key(job), judge.name)) in before
        ]
        left = len(asked) - len(known)
        tokens_in = round(sum(tokens for tokens, _ in known) + left * TYPICAL_JUDGEMENT[0])
        tokens_out = round(sum(tokens for _, tokens in known) + left * TYPICAL_JUDGEMENT[1])
        yield Estimate(
            model=judge,
            trials=len(asked),
            known=len(known),
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cost_usd=list_price(judge, tokens_in, tokens_out),
            judges=True,
        )


def estimate_users(plan: RunPlan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield the estimate of each model that plays users, from earlier runs of the cases."""
    used = {
        (run.suite, run.case.name): (run.user_usage.input_tokens, run.user_usage.output_tokens or 0)
        for run in _iterate_recent(runs)
        if run.user_usage.input_tokens
    }
    for player in plan.user_models:
        jobs = [
            job for job in plan.jobs if job.player is not None and job.player.name == player.name
        ]
        known = [
            tokens
            for job in jobs
            if (tokens := used.get((job.suite.name, job.trial.case.name))) is not None
        ]
        left = len(jobs) - len(known)
        tokens_in = sum(tokens or 0 for tokens, _ in known) + left * TYPICAL_TOKENS[0]
        tokens_out = sum(tokens for _, tokens in known) + left * TYPICAL_TOKENS[1]
        free = get_traits(player.provider).answers != "llm"
        yield Estimate(
            model=player,
            trials=len(jobs),
            known=len(known),
            input_tokens=0 if free else tokens_in,
            output_tokens=0 if free else tokens_out,
            cost_usd=0.0 if free else list_price(player, tokens_in, tokens_out),
            plays=True,
        )


def _read_judge_usage(runs: Path) -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Return the tokens of one judgement, from each case's last trial that asked a single judge."""
    used: dict[tuple[str, str, str, str], tuple[float, float]] = {}
    for run in _iterate_recent(runs):
        # A cached judgement used nothing, and would make the others look cheap.
        made = [judgement for judgement in run.judgements if not judgement.cached]
        judges = {one.model for one in made}
        tokens = run.judge_usage.input_tokens, run.judge_usage.output_tokens
        # The tokens of several judges are only known together.
        if len(judges) == 1 and tokens[0] is not None and tokens[1] is not None:
            used[(run.suite, run.case.name, run.entrant, judges.pop())] = (
                tokens[0] / len(made),
                tokens[1] / len(made),
            )
    return used


def _iterate_recent(runs: Path) -> Iterator[TrialResult]:
    # The oldest first, so that what is kept by key is that of the newest run.
    for run_id in run_ids(runs)[-RECENT_RUNS:]:
        with suppress(HarnessError):  # a damaged old log must not prevent an estimate
            yield from read_log(log_path(run_id, runs)).results


def _read_model_usage(runs: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the tokens, in and out, of each case's last trial, by suite, case and entrant."""
    used: dict[tuple[str, str, str], tuple[float, float]] = {}
    for run in _iterate_recent(runs):
        tokens = run.usage.input_tokens, run.usage.output_tokens
        # An aborted trial is no basis, nor is one without token counts.
        if run.status in {"passed", "failed"} and tokens[0] and tokens[1] is not None:
            used[run.suite, run.case.name, run.entrant] = tokens[0], tokens[1]
    return used


def _build_key(job: Job, entrant: str | None = None) -> tuple[str, str, str]:
    return job.suite.name, job.trial.case.name, entrant or job.trial.entrant


def typical_tokens(case: Case) -> tuple[int, int] | None:
    """Estimate the tokens of ``case``, in and out, by its texts; ``None`` if these are no basis.

    If a case first feeds texts to the model, one call is assumed for each of them, within the
    conversation so far: a dry run must not treat a whole book as one question.
    """
    if case.leaderboard.typical_tokens is not None:
        return case.leaderboard.typical_tokens
    if not any(turn.ingest for turn in case.turns):
        return None
    sent = heard = 0
    for turn in case.turns:
        heard = (0 if turn.fresh else heard) + len(turn.prompt) // _LETTERS_A_TOKEN + _A_REPLY
        # Two requests a turn: the one that leads to a call, and the one that follows its result.
        sent += 2 * (_TOOLS + heard)
    return sent, 2 * _A_REPLY * len(case.turns)


_LETTERS_A_TOKEN = 4
_A_REPLY, _TOOLS = 100, 1500
# Tokens of a call or an answer, and of a dozen tools.
