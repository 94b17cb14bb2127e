"""The tests' check of running time distinguishes linear work from quadratic work."""

from __future__ import annotations

from tests.clock import is_in_proportion


def test_work_that_grows_with_the_square_of_its_size_is_noticed() -> None:
    assert not is_in_proportion(lambda size: [None for _ in range(size * size)], 500)
    assert is_in_proportion(lambda size: [None for _ in range(size * 100)], 2_500)
