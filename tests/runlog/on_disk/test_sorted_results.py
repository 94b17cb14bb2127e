"""Results that are sorted on disk come as `sorted` returns them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.runlog.interning import ResultPacker
from harness.runlog.on_disk.result_storage import Place, ResultsInOrder
from harness.types import TrialResult
from tests.runlog.on_disk.made import results


def order(result: TrialResult) -> Place:
    return 0, ord(result.case.name), 0, result.trial


@given(st.lists(results, max_size=20))
def test_equal_places_keep_their_order(found: list[TrialResult]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ordered = ResultsInOrder(found, order, Path(folder), ResultPacker())
        expected = [repr(one) for one in sorted(found, key=order)]
        assert [repr(one) for one in ordered] == expected
        assert [repr(one) for one in ordered] == expected, "it can be read again"
