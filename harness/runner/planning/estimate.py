"""What a plan would do and may cost, shown before anything is started or paid for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.checks.judge.needs import needs
from harness.errors import HarnessError
from harness.models import traits_of
from harness.models.pricing import list_price
from harness.runlog import read_log
from harness.runner.planning.plan import Job, Plan
from harness.runner.planning.variant_choice import base_name
from harness.runner.runs.folders import RUNS, log_path, run_ids
from harness.types import Case, ModelSpec, TrialResult

RECENT_RUNS = 10
"""Number of earlier runs that are searched for what a case used."""
TYPICAL_TOKENS = (6000, 400)
"""Input and output tokens of an unknown case: two replies with a dozen tools."""
TYPICAL_JUDGEMENT = (1500, 150)
"""The same for one judgement: the rubric, the results and answer of a conversation; a score and a
reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What the trials of one model may use."""

    model: ModelSpec
    """The model."""
    trials: int
    """Number of trials that it answers."""
    known: int
    """Of those, the trials for which an earlier run has figures."""
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


def estimates(plan: Plan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield what each model of ``plan`` may use, from what the same cases used before.

    A variant that was never run is taken for the model without it.
    """
    used = _used_before(runs)
    for model in plan.models:
        jobs = [job for job in plan.jobs if job.model.name == model.name]
        before = [used.get(_name(job), used.get(_name(job, base_name(model)))) for job in jobs]
        known = [tokens for tokens in before if tokens is not None]
        unknown = [job for job, tokens in zip(jobs, before, strict=True) if tokens is None]
        guessed = [
            typical_tokens(job.trial.case) or job.suite.typical_tokens or TYPICAL_TOKENS
            for job in unknown
        ]
        tokens_in = round(sum(tokens for tokens, _ in (*known, *guessed)))
        tokens_out = round(sum(tokens for _, tokens in (*known, *guessed)))
        free = traits_of(model.provider).answers != "llm"
        yield Estimate(
            model=model,
            trials=len(jobs),
            known=len(known),
            input_tokens=0 if free else tokens_in,
            output_tokens=0 if free else tokens_out,
            cost_usd=0.0 if free else list_price(model, tokens_in, tokens_out),
        )


def judge_estimates(plan: Plan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield what each judge of ``plan`` may use at most: an equal question is judged only once."""
    before = _judged_before(runs)
    for judge in plan.judges:
        asked = [
            job
            for job in plan.jobs
            for need in needs(job.trial.case.every_check)
            if (need.model or job.judge) == judge.name
        ]
        if not asked:  # by no case of this shard
            continue
        known = [before[name] for job in asked if (name := (*_name(job), judge.name)) in before]
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


def user_estimates(plan: Plan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield what each model that plays users may use, from what the same cases used before."""
    used = {
        (run.suite, run.case.name): (run.user_usage.input_tokens, run.user_usage.output_tokens or 0)
        for run in _recent(runs)
        if run.user_usage.input_tokens
    }
    for player in plan.players:
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
        free = traits_of(player.provider).answers != "llm"
        yield Estimate(
            model=player,
            trials=len(jobs),
            known=len(known),
            input_tokens=0 if free else tokens_in,
            output_tokens=0 if free else tokens_out,
            cost_usd=0.0 if free else list_price(player, tokens_in, tokens_out),
            plays=True,
        )


def _judged_before(runs: Path) -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Return the tokens of one judgement, from each case's last trial that asked a single judge."""
    used: dict[tuple[str, str, str, str], tuple[float, float]] = {}
    for run in _recent(runs):
        made = [one for one in run.judgements if not one.cached]
        judges = {one.model for one in made}
        tokens = run.judge_usage.input_tokens, run.judge_usage.output_tokens
        if len(judges) == 1 and tokens[0] is not None and tokens[1] is not None:
            used[(run.suite, run.case.name, run.model, judges.pop())] = (
                tokens[0] / len(made),
                tokens[1] / len(made),
            )
    return used


def _recent(runs: Path) -> Iterator[TrialResult]:
    for run_id in run_ids(runs)[-RECENT_RUNS:]:
        with suppress(HarnessError):  # a damaged old log must not prevent an estimate
            yield from read_log(log_path(run_id, runs)).results


def _used_before(runs: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the tokens, in and out, that each case used last, by suite, case and model."""
    used: dict[tuple[str, str, str], tuple[float, float]] = {}
    for run in _recent(runs):
        tokens = run.usage.input_tokens, run.usage.output_tokens
        # An aborted trial tells nothing, nor does one without token counts.
        if run.status in {"passed", "failed"} and tokens[0] and tokens[1] is not None:
            used[run.suite, run.case.name, run.model] = tokens[0], tokens[1]
    return used


def _name(job: Job, model: str | None = None) -> tuple[str, str, str]:
    return job.suite.name, job.trial.case.name, model or job.model.name


def typical_tokens(case: Case) -> tuple[int, int] | None:
    """Return the input and output tokens of ``case`` by its own texts; ``None`` if they say little.

    A case that first feeds the model texts is assumed to make one call for each of them, within
    its conversation so far: a dry run must not take a whole book for a question.
    """
    if case.leaderboard.typical_tokens is not None:
        return case.leaderboard.typical_tokens
    if not any(turn.ingest for turn in case.turns):
        return None
    sent = heard = 0
    for turn in case.turns:
        heard = (0 if turn.fresh else heard) + len(turn.prompt) // _LETTERS_A_TOKEN + _A_REPLY
        sent += 2 * (_TOOLS + heard)
    return sent, 2 * _A_REPLY * len(case.turns)


_LETTERS_A_TOKEN = 4
_A_REPLY, _TOOLS = 100, 1500
# Tokens of a call or an answer, and of a dozen tools.
