"""Attempts at one trial, each with a line of its own: nothing that was found or paid is forgotten.

A trial without a verdict may be asked again: on ``--resume``, or when somebody repeats a test.
"""

from __future__ import annotations

from dataclasses import replace

from harness.types import DECIDED, TrialResult


def has_verdict(result: TrialResult) -> bool:
    """Return whether the trial was judged."""
    return result.status in {"passed", "failed"}


def is_still_final(earlier: TrialResult, later: TrialResult) -> bool:
    """Return whether ``earlier`` still says how a trial ended that was asked again.

    No failure becomes a pass, and no verdict is lost to an attempt without one. An attempt that was
    not even started takes the place of nothing.
    """
    if _is_same_attempt(earlier, later):
        return False
    if has_verdict(earlier):
        return earlier.status == "failed" or not has_verdict(later)
    # `DECIDED` is no lack of an attempt: the case needs none any more.
    return later.status == "skipped" != earlier.status and later.skip_reason != DECIDED


def merge_attempts(earlier: TrialResult, later: TrialResult) -> TrialResult:
    """Return what a trial came to that ended like ``earlier`` and, asked again, like ``later``.

    It has what all attempts used, and began with the first of them.
    """
    if _is_same_attempt(earlier, later):
        return later
    return replace(
        earlier if is_still_final(earlier, later) else later,
        usage=earlier.usage + later.usage,
        judge_usage=earlier.judge_usage + later.judge_usage,
        user_usage=earlier.user_usage + later.user_usage,
        started_at=earlier.started_at or later.started_at,
    )


def _is_same_attempt(earlier: TrialResult, later: TrialResult) -> bool:
    """Return whether ``later`` is what the same attempt, or all attempts since then, came to."""
    return earlier.started_at == later.started_at != ""
