"""Further trials: somebody repeats a test that has a verdict already, and both verdicts count."""

from __future__ import annotations

from dataclasses import replace

from harness.base import digest_json
from harness.runner.planning.plan import Job
from harness.types import TrialResult


def build_further_job(job: Job, number: int) -> Job:
    """Return the trial that asks the question of ``job`` the ``number``-th time after the first."""
    trial = job.trial
    place, key = trial.number + number * trial.repeats, _build_key(trial.key, number)
    return replace(job, trial=replace(trial, number=place, key=key, repeats=0), optional=False)


def build_further_result(result: TrialResult, number: int) -> TrialResult:
    """Return ``result`` as that of the trial that `build_further_job` returns."""
    # Behind all planned repeats, so that no two trials of a case have one number.
    place, key = result.trial + number * result.repeats, _build_key(result.key, number)
    return replace(result, trial=place, key=key, repeats=0)


def _build_key(key: str, number: int) -> str:
    return digest_json([key, "again", number])
