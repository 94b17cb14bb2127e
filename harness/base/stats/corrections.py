"""Corrections for several tests at once: more tests make a small p-value by chance more likely."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, which bound the chance of any false alarm: for gates.

    Source: Holm 1979.
    """
    order = _rank_ascending(p_values)
    raised = accumulate(
        (min(1.0, (len(order) - rank) * p_values[i]) for rank, i in enumerate(order)), max
    )
    return _restore_order(order, list(raised))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values that bound the share of false alarms (FDR): for dashboards.

    Source: Benjamini and Hochberg 1995.
    """
    order = _rank_ascending(p_values)[::-1]
    count = len(order)
    lowered = accumulate(
        (min(1.0, count / (count - rank) * p_values[i]) for rank, i in enumerate(order)), min
    )
    return _restore_order(order, list(lowered))


def _rank_ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda i: p_values[i])


def _restore_order(order: Sequence[int], values: Sequence[float]) -> list[float]:
    adjusted = dict(zip(order, values, strict=True))
    return [adjusted[i] for i in range(len(order))]
