"""The confusion matrix: counts, rates and F1."""

from __future__ import annotations

import pytest

from harness.base.stats.choice_shares import ConfusionMatrix

# wanted a: 5 found a, 2 b, 1 c; wanted b: 3 b, 1 a; c was never wanted.
CELLS = [("a", "a")] * 5 + [("a", "b")] * 2 + [("a", "c")] + [("b", "b")] * 3 + [("b", "a")]


def test_each_cell_is_counted_and_each_row_adds_up_to_one() -> None:
    found = ConfusionMatrix.from_cells(CELLS)
    assert found.counts == {
        ("a", "a"): 5,
        ("a", "b"): 2,
        ("a", "c"): 1,
        ("b", "b"): 3,
        ("b", "a"): 1,
    }
    assert (found.expected_classes, found.predicted_classes) == (("a", "b"), ("a", "b", "c"))
    for wanted in found.expected_classes:
        assert sum(
            found.compute_rate(wanted, other) or 0 for other in found.predicted_classes
        ) == pytest.approx(1)
    assert found.compute_rate("a", "b") == 0.25
    assert found.compute_rate("b", "c") == 0
    assert found.compute_rate("c", "a") is None


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    found = ConfusionMatrix.from_cells(CELLS)
    assert found.compute_f1("a") == pytest.approx(2 * (5 / 6) * (5 / 8) / (5 / 6 + 5 / 8))
    assert found.compute_f1("b") == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))
    assert found.compute_f1("c") == 0  # found once, never wanted
    assert found.compute_f1("d") is None


def test_macro_f1_is_the_mean_over_the_classes_that_were_wanted() -> None:
    assert ConfusionMatrix.from_cells(CELLS).macro_f1 == pytest.approx((10 / 14 + 6 / 9) / 2)
    assert ConfusionMatrix.from_cells([("a", "a"), ("b", "b")]).macro_f1 == 1
    assert ConfusionMatrix.from_cells([("a", "b")]).macro_f1 == 0
    assert ConfusionMatrix.from_cells([]).macro_f1 is None
