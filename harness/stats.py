"""Numbers that claim no more than the data holds."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def wilson(passed: float, total: float) -> tuple[float, float] | None:
    """Return the Wilson 95 % interval of a rate, or ``None`` of nothing.

    Source: Wilson 1927; right at rates of 0 and 1, where a normal interval is not.
    """
    if total <= 0:
        return None
    rate, z2 = passed / total, Z95 * Z95
    scale = 1 + z2 / total
    centre = (rate + z2 / (2 * total)) / scale
    half = Z95 / scale * sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == total else min(1.0, centre + half)
    return low, high
