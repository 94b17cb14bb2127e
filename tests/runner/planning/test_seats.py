from __future__ import annotations

import pytest

from harness.base.errors import UsageError
from harness.runner.planning.plan import divide_seats


@pytest.mark.parametrize(
    ("concurrency", "units", "processors", "seats"),
    [
        (4, 100, 2, [2, 2]),
        (5, 100, 2, [3, 2]),
        (1, 100, 8, [1]),
        (8, 3, 8, [3, 3, 2]),
        (16_000, 10_000_000, 1_000, [16] * 1_000),
        (2_000, 5_000, 2, [1_000, 1_000]),
    ],
)
def test_trials_are_divided_evenly_among_the_workers(
    concurrency: int, units: int, processors: int, seats: list[int]
) -> None:
    assert divide_seats(concurrency, units, processors) == seats


def test_more_trials_than_the_workers_can_run_are_refused() -> None:
    with pytest.raises(UsageError) as refused:
        divide_seats(2_001, 5_000, 2)
    assert refused.value.message == (
        "2001 trials at the same time are too many for this Ray cluster: a worker runs at most "
        "1000, and there would be 2"
    )


def test_a_cluster_without_a_processor_is_refused() -> None:
    with pytest.raises(UsageError, match="no processor for a worker"):
        divide_seats(4, 10, 0)
