"""The last result of each trial on disk is what a dictionary in memory would have."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.runlog.on_disk.latest_results import LatestResults
from harness.types import TrialResult
from tests.runlog.on_disk.made import a_result, results

MANY = 2_000
"""Results that are more than a database holds in memory."""
steps = st.lists(st.tuples(st.booleans(), results, st.integers(0, 2**40)), max_size=20)


@given(steps)
def test_a_later_result_takes_the_place_of_an_earlier_one_of_its_trial(
    done: list[tuple[bool, TrialResult, int]],
) -> None:
    known: dict[str, tuple[TrialResult, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = LatestResults(Path(folder))
        for lost, result, at in done:
            if lost:
                known.pop(result.key, None)
                kept.drop(result.key)
            else:
                known[result.key] = result, at
                kept.put(result, at)
        expected = [result for result, _ in known.values()]
        assert list(map(repr, kept)) == list(map(repr, expected))
        assert dict(kept.offsets) == {key: at for key, (_, at) in known.items()}
        assert dict(kept.results_by_key) == {key: result for key, (result, _) in known.items()}
        assert [kept[place] for place in range(-len(kept), len(kept))] == expected * 2
        assert (len(kept), kept[1:3]) == (len(expected), tuple(expected[1:3]))
        assert all((result.key in kept.offsets) == (result.key in known) for _, result, _ in done)


def test_no_file_is_left_whatever_ends_the_process(tmp_path: Path) -> None:
    kept = LatestResults(tmp_path)
    for number in range(MANY):
        kept.put(a_result(str(number), value="x" * 5_000), number)
    assert list(tmp_path.iterdir()) == []
    assert [one.key for one in kept] == list(map(str, range(MANY)))


def test_a_folder_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    kept = LatestResults(tmp_path / "gone")
    kept.put(a_result("a"), 7)
    assert (kept[0].key, kept.offsets["a"]) == ("a", 7)
