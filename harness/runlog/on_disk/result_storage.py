"""Where results go: into memory or, like the others of their log, on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.runlog.on_disk.blocks import ResultBlocks
from harness.runlog.on_disk.latest_results import LatestResults
from harness.runlog.on_disk.sorted_results import Place, ResultsInOrder
from harness.types import TrialResult


def sort_results(
    results: Iterable[TrialResult],
    order: Callable[[TrialResult], Place],
    like: Sequence[TrialResult],
) -> Iterable[TrialResult]:
    """Return all of ``results`` in ``order``, held where the results ``like`` these are."""
    if isinstance(like, LatestResults):
        return ResultsInOrder(results, order, like.folder, like.packing)
    return sorted(results, key=order)


def store_results(
    results: Iterable[TrialResult], like: Sequence[TrialResult]
) -> Sequence[TrialResult]:
    """Return ``results`` as a sequence, held where the results ``like`` these are."""
    if isinstance(like, LatestResults):
        return ResultBlocks(results, like.folder, like.packing)
    return tuple(results)


def index_by_key(results: Sequence[TrialResult]) -> Mapping[str, TrialResult]:
    """Return the ``results`` of a log by the keys of their trials."""
    if isinstance(results, LatestResults):
        return results.results_by_key
    return {result.key: result for result in results}
