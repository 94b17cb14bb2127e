"""The trials of a plan and their estimated cost, shown before anything is started or paid for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from harness.base import HarnessError
from harness.judging import find_judge_needs
from harness.models import get_traits, list_price
from harness.runlog import RUNS, log_path, read_log, run_ids
from harness.runner.planning.plan import Job, RunPlan
from harness.types import Case, ModelSpec, TrialResult, dataclass

RECENT_RUNS = 10
"""Number of earlier runs that are searched for the usage of a case."""
TYPICAL_TOKENS = (6000, 400)
"""Input and output tokens of an unknown case: two replies with a dozen tools."""
TYPICAL_JUDGEMENT = (1500, 150)
"""Input and output tokens of one judgement: the rubric, the results and answer of a conversation; a
score and a reason."""
TYPICAL_CHOICE = (500, 30)
"""Input and output tokens of one choice by ``tool_filter: model``: a dozen tools, each with the
first sentence of its description; a few names."""
Role: TypeAlias = Literal["model", "agent", "judge", "user"]
"""What a model does in a run; a judge's trials are judgements."""
_Tokens: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimated usage of the trials of one model."""

    model: ModelSpec
    """The model."""
    role: Role
    """What it does."""
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
    choices: int = 0
    """Requests that only choose tools (``tool_filter: model``), one for each turn of a user."""


def estimate_usage(plan: RunPlan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield the estimate of each model of ``plan``, based on earlier runs of the same cases.

    A variant that has never run counts like the model without it, and with its choices of tools.
    """
    used: dict[tuple[str, str, str], _Tokens] = {}
    for run in _iterate_recent(runs):
        tokens = run.usage.input_tokens, run.usage.output_tokens
        # An aborted trial is no basis, nor is one without token counts.
        if run.status in {"passed", "failed"} and tokens[0] and tokens[1] is not None:
            used[run.suite, run.case.name, run.entrant] = tokens[0], tokens[1]
    for model in plan.models:
        jobs = [job for job in plan.jobs if job.model.name == model.name]
        choices = [_count_choices(job) for job in jobs]
        known: list[_Tokens | None] = []
        for job, chosen in zip(jobs, choices, strict=True):
            # The entrant of a model without a value on any axis has the model's name.
            alone = used.get(_build_key(job, model.name))
            added = None if alone is None else _add_choices(alone, chosen)
            known.append(used.get(_build_key(job), added))
        guesses = [
            _add_choices(
                typical_tokens(job.trial.case) or job.suite.typical_tokens or TYPICAL_TOKENS, chosen
            )
            for job, chosen in zip(jobs, choices, strict=True)
        ]
        role: Role = "model" if model.agent is None else "agent"
        yield replace(_build_estimate(model, role, known, guesses), choices=sum(choices))


def _count_choices(job: Job) -> int:
    """Return how often a model chooses its tools: whenever the user has said something more."""
    variant = job.variant
    chooses = variant is not None and variant.tool_filter == "model"
    return len(job.trial.case.turns) if chooses else 0


def _add_choices(tokens: _Tokens, choices: int) -> _Tokens:
    return tokens[0] + choices * TYPICAL_CHOICE[0], tokens[1] + choices * TYPICAL_CHOICE[1]


def estimate_judging(plan: RunPlan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield the most that each judge of ``plan`` may use; equal questions are judged only once."""
    # The tokens of one judgement, from each case's last trial that asked a single judge.
    used: dict[tuple[str, ...], _Tokens] = {}
    for run in _iterate_recent(runs):
        # A cached judgement used nothing, and would make the others look cheap.
        made = [judgement for judgement in run.judgements if not judgement.cached]
        judges = {one.model for one in made}
        tokens = run.judge_usage.input_tokens, run.judge_usage.output_tokens
        # The tokens of several judges are only known together.
        if len(judges) == 1 and tokens[0] is not None and tokens[1] is not None:
            name = (run.suite, run.case.name, run.entrant, judges.pop())
            used[name] = tokens[0] / len(made), tokens[1] / len(made)
    for judge in plan.judges:
        known = [
            used.get((*_build_key(job), judge.name))
            for job in plan.jobs
            for need in find_judge_needs(job.trial.case.every_check)
            if (need.model or job.judge) == judge.name
        ]
        if known:  # otherwise no case of this shard uses this judge
            yield _build_estimate(judge, "judge", known, [TYPICAL_JUDGEMENT] * len(known))


def estimate_users(plan: RunPlan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield the estimate of each model that plays users, from earlier runs of the cases."""
    used = {
        (run.suite, run.case.name): (run.user_usage.input_tokens, run.user_usage.output_tokens or 0)
        for run in _iterate_recent(runs)
        if run.user_usage.input_tokens
    }
    for player in plan.user_models:
        known = [
            used.get((job.suite.name, job.trial.case.name))
            for job in plan.jobs
            if job.player is not None and job.player.name == player.name
        ]
        yield _build_estimate(player, "user", known, [TYPICAL_TOKENS] * len(known))


def _build_estimate(
    model: ModelSpec, role: Role, known: Sequence[_Tokens | None], guesses: Sequence[_Tokens]
) -> Estimate:
    """Return the estimate of trials with tokens that are ``known``, else by the ``guesses``."""
    # Recordings and baselines cost nothing, whatever the tokens of their cases.
    free = get_traits(model.provider).answers != "llm"
    tokens = [used or guess for used, guess in zip(known, guesses, strict=True)]
    sent, said = (0, 0) if free else (round(sum(numbers)) for numbers in zip(*tokens, strict=True))
    return Estimate(
        model=model,
        role=role,
        trials=len(tokens),
        known=sum(used is not None for used in known),
        input_tokens=sent,
        output_tokens=said,
        cost_usd=0.0 if free else list_price(model, sent, said),
    )


def _iterate_recent(runs: Path) -> Iterator[TrialResult]:
    # The oldest first, so that what is kept by key is that of the newest run.
    for run_id in run_ids(runs)[-RECENT_RUNS:]:
        with suppress(HarnessError):  # a damaged old log must not prevent an estimate
            yield from read_log(log_path(run_id, runs)).results


def _build_key(job: Job, entrant: str | None = None) -> tuple[str, str, str]:
    return job.suite.name, job.trial.case.name, entrant or job.trial.entrant


def typical_tokens(case: Case) -> tuple[int, int] | None:
    """Estimate the tokens of ``case``, in and out, by its texts; ``None`` if these are no basis.

    If a case first feeds texts to the model, one call is assumed for each of them, within the
    conversation so far: a dry run must not treat a whole book as one question.
    """
    if case.leaderboard.typical_tokens is not None or not any(turn.ingest for turn in case.turns):
        return case.leaderboard.typical_tokens
    sent = heard = 0
    for turn in case.turns:
        heard = (0 if turn.fresh else heard) + len(turn.prompt) // _LETTERS_A_TOKEN + _A_REPLY
        # Two requests a turn: the one that leads to a call, and the one that follows its result.
        sent += 2 * (_TOOLS + heard)
    return sent, 2 * _A_REPLY * len(case.turns)


_LETTERS_A_TOKEN = 4
_A_REPLY, _TOOLS = 100, 1500
# Tokens of a call or an answer, and of a dozen tools.
