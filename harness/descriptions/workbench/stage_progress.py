"""The progress of a workbench: each changed list compared with the server's own, case by case.

The comparison is updated after every case, so its claims come from confidence sequences: an
interval that is valid at every look, for all lists of the stage together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

from harness.base import ConfidenceSequence, make_one_line
from harness.descriptions.workbench.arms import Arm
from harness.reports import format_percent, format_points
from harness.types import TrialResult, name_entrant

_LEVEL = 0.05
OWN = "the server's own list"
"""Name of the unchanged list."""


@dataclass(slots=True)
class _ListProgress:
    """The trials of one list with one model so far."""

    model: str
    is_own: bool
    """Whether it is the server's own list."""
    study: str
    name: str
    cases: int
    sequence: ConfidenceSequence
    ended: dict[str, list[bool | None]] = field(default_factory=dict)
    rates: dict[str, float | None] = field(default_factory=dict)
    """Case whose trials have all ended → its pass rate; ``None`` if no trial was judged."""
    moves: dict[str, float] = field(default_factory=dict)
    """Case with results on both sides → its change."""
    tests: set[str | None] = field(default_factory=set)
    """`CaseFacts.test` of those cases."""

    @property
    def is_complete(self) -> bool:
        return len(self.rates) >= self.cases


class StageProgress:
    """The lists of one stage, and their results so far."""

    def __init__(
        self,
        arms: Sequence[Arm],
        models: Sequence[str],
        cases: int,
        studies: Mapping[str, str],
        own: str = OWN,
    ) -> None:
        """Expect ``arms`` for each of ``models`` on ``cases`` cases.

        ``studies`` is the key of an arm → the study that requested it first; ``own`` is the name of
        the unchanged list.
        """
        self._lists: dict[str, _ListProgress] = {}
        self._several = len(models) > 1
        alpha = _LEVEL / max(1, len(arms) * len(models))
        for model, arm in product(models, arms):
            variant = arm.variant
            axes = {} if variant is None else {"variant": variant.name}
            self._lists[name_entrant(model, axes)] = _ListProgress(
                model=model,
                is_own=variant is None,
                study=studies[arm.key],
                name=own if variant is None else make_one_line(variant.name),
                cases=cases if arm.cases is None else len(arm.cases),
                sequence=ConfidenceSequence(alpha),
            )

    def add_results(self, results: Iterable[TrialResult]) -> list[str]:
        """Add settled results, and return a line for each list that they complete."""
        return [line for result in results if (line := self._add_result(result)) is not None]

    def describe_list(self, entrant: str) -> str:
        """Return the progress of the list whose trials are of that entrant."""
        one = self._lists.get(entrant)
        return "" if one is None else self._format_list(one)

    def has_changes(self, entrant: str) -> bool:
        """Whether the list has changed the result of any case, or is the server's own."""
        one = self._lists.get(entrant)
        return one is not None and (one.is_own or any(one.moves.values()))

    def _add_result(self, result: TrialResult) -> str | None:
        one = self._lists.get(result.entrant)
        if one is None or one.is_complete:
            return None
        case = result.case.name
        ends = one.ended.setdefault(case, [])
        ends.append(result.status == "passed" if result.is_comparable else None)
        if len(ends) < result.repeats:
            return None
        known = [float(end) for end in ends if end is not None]
        one.rates[case] = fmean(known) if known else None
        self._compare_case(one, case, result.case.test)
        return self._format_list(one) if one.is_complete else None

    def _compare_case(self, one: _ListProgress, case: str, test: str | None) -> None:
        """Compare a case with the server's own list, on every list where both are now known."""
        of_model = [each for each in self._lists.values() if each.model == one.model]
        own = next((each for each in of_model if each.is_own), None)
        if own is None or (before := own.rates.get(case)) is None:
            return
        # A result on the server's own list counts for every other list of its model.
        for each in of_model if one is own else [one]:
            after = each.rates.get(case)
            if each is own or after is None or case in each.moves:
                continue
            each.moves[case] = after - before
            # A sequence holds only if it sees each test once: its further cases are alike.
            if test is None or test not in each.tests:
                each.tests.add(test)
                each.sequence.add([after - before])

    def _format_list(self, one: _ListProgress) -> str:
        of = [each for each in self._lists.values() if each.study == one.study]
        done = sum(each.is_complete for each in of)
        whose = f" ({one.model})" if self._several else ""
        return f"[{one.study} {done}/{len(of)}] {one.name}{whose}: {_format_result(one)}"


def _format_result(one: _ListProgress) -> str:
    judged = [rate for rate in one.rates.values() if rate is not None]
    lost = len(one.rates) - len(judged)
    unjudged = f"; {lost} without a verdict" if lost else ""
    cases = f"{len(judged)} of {one.cases} cases"
    if one.is_own:
        rate = format_percent(fmean(judged)) if judged else "nothing"
        return f"{rate} passed ({cases}{unjudged})"
    if not one.moves:
        return f"nothing to compare yet ({cases}{unjudged})"
    moved = format_points(fmean(one.moves.values()))
    low, high = one.sequence.interval
    apart = low > 0 or high < 0
    shown = f"; shown: {format_points(low)} to {format_points(high)}" if apart else ""
    so_far = "" if one.is_complete else " so far"
    return f"{moved} points{so_far} ({cases}{unjudged}{shown})"
