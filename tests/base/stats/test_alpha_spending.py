"""The allowed error is split over the looks, and never exceeded."""

from __future__ import annotations

import pytest

from harness.base.stats.sequences import compute_allowance


def test_looks_that_are_planned_share_the_error_evenly() -> None:
    assert [compute_allowance(look, looks=5) for look in range(1, 6)] == [0.01] * 5


def test_looks_without_end_stay_within_the_level() -> None:
    shares = [compute_allowance(look) for look in range(1, 100_001)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(0.0303963551)  # 0.05·6/π²
    assert 0.0499 < sum(shares) < 0.05
    assert compute_allowance(1, level=0.1) == 2 * compute_allowance(1)


@pytest.mark.parametrize(("look", "looks"), [(0, None), (0, 3), (4, 3)])
def test_a_look_that_was_not_planned_has_no_share(look: int, looks: int | None) -> None:
    with pytest.raises(ValueError, match=f"look {look} of {looks}"):
        compute_allowance(look, looks=looks)
