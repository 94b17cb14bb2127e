"""Alpha spending: the error that each look may make, so that all looks stay within the level."""

from __future__ import annotations

from math import pi


def compute_allowance(look: int, *, looks: int | None = None, level: float = 0.05) -> float:
    """Return the significance level of the ``look``-th test (from 1).

    If the number of ``looks`` is known beforehand, each has an equal share. Otherwise the shares
    6/(π²·look²) decrease, so that the sum over any number of looks stays within ``level``. Both
    hold for dependent tests too: on the same cases, on rewrites made from earlier results.

    Raises:
        ValueError: ``look`` is not from 1 to ``looks``.

    Source: Bonferroni's inequality; Foster and Stine 2008 and Ramdas et al. 2017 on spending the
    error over a sequence of tests.
    """
    if look < 1 or (looks is not None and look > looks):
        raise ValueError(f"look {look} of {looks}")
    return level / looks if looks is not None else level * 6 / (pi * look) ** 2
