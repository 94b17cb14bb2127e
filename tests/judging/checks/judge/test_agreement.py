from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.checks.judge.agreement import Agreement, compare_labels

LABELS = ("pass", "fail")
PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=30)


@pytest.mark.parametrize(
    ("confusion", "kappa"),
    [
        (((20, 5), (10, 15)), 0.4),
        (((45, 15), (25, 15)), 0.130434782608),
        (((25, 35), (5, 35)), 0.259259259259),
        (((10, 0), (0, 10)), 1.0),
        (((0, 10), (10, 0)), -1.0),
        (((5, 5), (5, 5)), 0.0),
        (((88, 14, 18), (10, 40, 10), (2, 6, 12)), 0.29 / 0.59),
    ],
)
def test_kappa_is_what_the_literature_computes(
    confusion: tuple[tuple[int, ...], ...], kappa: float
) -> None:
    labels = tuple("abc"[: len(confusion)])
    assert Agreement(labels=labels, confusion=confusion).kappa == pytest.approx(kappa, abs=1e-9)


def test_kappa_is_undefined_where_nothing_can_be_told_apart() -> None:
    assert compare_labels([], LABELS).kappa is None
    assert compare_labels([("pass", "pass")] * 5, LABELS).kappa is None


def test_pairs_are_counted_by_label() -> None:
    found = compare_labels(
        [("pass", "pass"), ("pass", "fail"), ("fail", "fail"), ("fail", "fail")], LABELS
    )
    assert found.confusion == ((1, 1), (0, 2))
    assert (found.equal_pairs, found.total, found.kappa) == (3, 4, 0.5)


@given(PAIRS)
def test_kappa_lies_between_minus_1_and_1_and_the_raters_may_change_places(
    pairs: list[tuple[str, str]],
) -> None:
    kappa = compare_labels(pairs, LABELS).kappa
    assert kappa is None or -1.0 <= kappa <= 1.0
    assert compare_labels([(right, left) for left, right in pairs], LABELS).kappa == kappa
    assert compare_labels(pairs, LABELS[::-1]).kappa == kappa
