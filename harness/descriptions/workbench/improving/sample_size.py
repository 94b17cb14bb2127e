"""The number of questions that a suite needs to prove better descriptions."""

from __future__ import annotations

from math import ceil

from harness.base import count_cases_needed, not_worse
from harness.descriptions.workbench.improving.acceptance import LEVEL, fewest_gains
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.improving.split import HELD_OUT


def questions_for_proof(improvement: Improvement) -> int | None:
    """Return the minimum number of questions with which a gain could be proven.

    This assumes that the same share fails as now, and that all of these improve. ``None`` when none
    fails.
    """
    intents = len(improvement.split.seen) + len(improvement.split.held_out)
    if not improvement.mendable:
        return None
    return ceil(fewest_gains() / (HELD_OUT * improvement.mendable / intents))


def questions_for_gain(difference: float) -> int:
    """Return the number of questions that prove a gain of ``difference`` with 80 % power.

    This assumes that no question gets worse, and that each is asked once.
    """
    return ceil(count_cases_needed(difference, difference, alpha=LEVEL) / HELD_OUT)


def questions_for_margin(margin: float) -> int:
    """Return the number of questions for other tools that show a loss below ``margin``.

    This assumes that none of them gets worse.
    """
    count = 1
    while not not_worse([((1, 1), (1, 1))] * count, margin):
        count += 1
    return ceil(count / HELD_OUT)
