"""What a plan would do and may cost, said before anything is started or paid for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.models.pricing import list_price
from harness.runlog import read_log
from harness.runner.folders import RUNS, log_path, run_ids
from harness.runner.plan import Job, Plan
from harness.types import ModelSpec, Run

RECENT_RUNS = 10
"""How many earlier runs are looked through for what a case used."""
TYPICAL_TOKENS = (6000, 400)
"""Input and output of a case about which nothing is known: two turns with a dozen tools."""
FREE = ("lexical", "replay")
"""Providers that nobody pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What the trials of one model may use."""

    model: ModelSpec
    """The model."""
    trials: int
    """How many trials it answers."""
    known: int
    """Of those, how many an earlier run says something about."""
    input_tokens: int
    """All trials together."""
    output_tokens: int
    """All trials together."""
    cost_usd: float | None
    """``None`` when the price is unknown."""


def estimates(plan: Plan, runs: Path = RUNS) -> Iterator[Estimate]:
    """Yield what each model of ``plan`` may use, by what the same cases used before."""
    used = _used_before(runs)
    for model in plan.models:
        jobs = [job for job in plan.jobs if job.model.name == model.name]
        known = [used[_name(job)] for job in jobs if _name(job) in used]
        unknown = len(jobs) - len(known)
        tokens_in = round(sum(tokens for tokens, _ in known)) + unknown * TYPICAL_TOKENS[0]
        tokens_out = round(sum(tokens for _, tokens in known)) + unknown * TYPICAL_TOKENS[1]
        free = model.provider in FREE
        yield Estimate(
            model=model,
            trials=len(jobs),
            known=len(known),
            input_tokens=0 if free else tokens_in,
            output_tokens=0 if free else tokens_out,
            cost_usd=0.0 if free else list_price(model, tokens_in, tokens_out),
        )


def _used_before(runs: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the tokens, in and out, that each case used last, by suite, case and model."""
    used: dict[tuple[str, str, str], tuple[float, float]] = {}
    for run_id in run_ids(runs)[-RECENT_RUNS:]:
        try:
            log = read_log(log_path(run_id, runs))
        except HarnessError:  # a damaged log of old is no reason to refuse an estimate
            continue
        used |= {(run.suite, run.case, run.model): _tokens(run) for run in log.runs if run.stop is not None}
    return used


def _tokens(run: Run) -> tuple[float, float]:
    return run.usage.input_tokens or 0, run.usage.output_tokens or 0


def _name(job: Job) -> tuple[str, str, str]:
    return job.suite.name, job.trial.case.name, job.model.name
