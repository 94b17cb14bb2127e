"""Compare the answers with both sets of data: who may see the value, and what depends on it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from harness.judging import Leaf
from harness.probing.caller_views import get_facts
from harness.probing.interference.answer_locations import (
    SHOWN,
    AnswerComparison,
    AnswerDifference,
    CallerCall,
    Record,
    Stage,
    compare_answers,
    may_depend,
)
from harness.probing.interference.data_sets import AlterationDeclaration, Which
from harness.types import dataclass

_Both: TypeAlias = tuple[tuple[Leaf, ...], tuple[Leaf, ...]]
"""Fields of an answer with data set A, and with data set B."""
_BOTH: tuple[Which, Which] = ("A", "B")


@dataclass(frozen=True, kw_only=True)
class DependentAnswer:
    """An answer that depends on the value although it must not."""

    asked: CallerCall
    """The caller and the call."""
    record: Record
    """The call with data set B."""
    differences: tuple[AnswerDifference, ...]
    """The differences, the most significant first."""


class AlterationComparison:
    """The answers to all calls for one alteration, with both sets of data."""

    def __init__(self, declared: AlterationDeclaration, records: Iterable[Record]) -> None:
        """Compare the ``records`` of the alteration ``declared``, in the order of calls."""
        self.declared = declared
        self.records = tuple(records)
        """All records."""
        self._of_stage: dict[Stage, list[tuple[CallerCall, AnswerComparison]]] = {}
        self._groups: dict[Stage, dict[CallerCall, dict[Which, list[Record]]]] = {}
        for record in self.records:
            stage = self._groups.setdefault(record.stage, {})
            stage.setdefault(record.asked, {"A": [], "B": []})[record.which].append(record)

    # ── Who may see it ───────────────────────────────────────────────────────────────────────

    @cached_property
    def _field_changes(self) -> Mapping[CallerCall, _Both]:
        """Calls whose field has another value in B → the fields that only A or only B has.

        If one call shows two identities different changes, the identity with the more exact values
        (then, with more values) counts as the one that gets the field. The other may get only its
        own rows, or a rounded number under the same name.
        """
        found: dict[CallerCall, tuple[_Both, int]] = {}
        for asked, answers in self._groups.get("own", {}).items():
            field = self.declared.field
            a, b = ([tuple(one.find_leaves(field)) for one in answers[which]] for which in _BOTH)
            ours, theirs = ({_list_values(leaves) for leaves in each} for each in (a, b))
            # The answers with one set of data must agree before the two sets can be compared.
            if len(ours) == len(theirs) == 1 and ours != theirs:
                both = _subtract_leaves(a[0], b[0]), _subtract_leaves(b[0], a[0])
                found[asked] = both, len(a[0]) + len(b[0])
        telling: dict[str, tuple[tuple[int, int], _Both]] = {}
        for asked, (given, count) in found.items():
            rank = _measure_exactness(given), count
            if asked.call not in telling or rank > telling[asked.call][0]:
                telling[asked.call] = rank, given
        return {
            asked: given
            for asked, (given, _) in found.items()
            if _describe_change(given) == _describe_change(telling[asked.call][1])
        }

    @cached_property
    def givers(self) -> tuple[str, ...]:
        """The identities that get the field itself and see it change."""
        return tuple(dict.fromkeys(asked.caller for asked in self._field_changes))

    @cached_property
    def may_see(self) -> tuple[str, ...]:
        """Those of them that may: the suite says nothing else, or that they get the field."""
        declared = self.declared
        calls = [asked.call for asked in self._field_changes]
        refused = {name for call in calls for name in declared.refused.get(call, ())}
        asks, granted_by = self._field_changes, declared.granted
        granted = {one.caller for one in asks if one.caller in granted_by.get(one.call, ())}
        # Whoever gets the field from one call may be refused another that has it, too.
        shut = (refused - granted) | declared.withheld_from
        return tuple(name for name in self.givers if name not in shut)

    @cached_property
    def must_not_see(self) -> tuple[str, ...]:
        """All other identities."""
        everybody = dict.fromkeys(asked.caller for asked in self._groups.get("own", {}))
        return tuple(name for name in everybody if name not in self.may_see)

    def collect_altered_fields(self) -> _Both:
        """Return the fields that only A has, and those that only B has."""
        changes = self._field_changes.values()
        a, b = (
            {_format_value(leaf): leaf for both in changes for leaf in both[side]}
            for side in (0, 1)
        )
        return tuple(a.values()), tuple(b.values())

    def collect_page_texts(self, leads_on: Callable[[str], bool]) -> Mapping[str, Sequence[str]]:
        """Return each identity's texts in fields that ``leads_on`` accepts, such as cursors."""
        found: dict[str, dict[str, None]] = {}
        for asked, both in self._groups.get("own", {}).items():
            result = both["A"][0].result if both["A"] else None
            for leaf in () if result is None else result.leaves:
                if isinstance(leaf.value, str) and leaf.value and leads_on(leaf.name):
                    found.setdefault(asked.caller, {})[leaf.value] = None
        return {name: tuple(texts) for name, texts in found.items()}

    def number_structures(self) -> Mapping[str, int]:
        """Return a number for each identity, equal for answers with the same structure."""
        sorts: dict[str, set[object]] = {}
        for asked, both in self._groups.get("own", {}).items():
            answers = sorts.setdefault(asked.caller, set())
            for place, value in both["A"][0].locations.items() if both["A"] else ():
                outcome = value if place.kind == "outcome" else None
                answers.add((asked.call, place.generic_key, outcome))
        numbers: dict[frozenset[object], int] = {}
        alike = ((name, frozenset(answers)) for name, answers in sorts.items())
        return {name: numbers.setdefault(answers, len(numbers)) for name, answers in alike}

    @property
    def failure(self) -> str | None:
        """Why the comparison is inconclusive; ``None`` if it is not."""
        if not any(both["A"] and both["B"] for both in self._groups.get("own", {}).values()):
            return "nothing was compared, since not both sets of data were reached"
        if not self.givers:
            return (
                "the alteration changed nothing that anybody may see: nobody's answers have "
                f"another {self.declared.field!r} (does the suite ask for the record that has it?)"
            )
        if not self.must_not_see:
            return "every identity may see it, so that nobody's answers were compared"
        return None

    # ── What depends on it ───────────────────────────────────────────────────────────────────

    def list_suspects(self) -> list[CallerCall]:
        """Return the calls whose answers differ so far although they must not."""
        return list(self._find_differences("own") | self._find_differences("further"))

    def list_confirmed_calls(self) -> list[CallerCall]:
        """Return the calls that, repeated, still differ in the same place."""
        return list(self._find_confirmed())

    def find_dependents(self) -> Iterator[DependentAnswer]:
        """Yield the answers that depended on the value in every repetition."""
        for asked, differences in self._find_confirmed().items():
            both = (self._groups.get("further", {}) | self._groups.get("own", {}))[asked]
            yield DependentAnswer(asked=asked, record=both["B"][0], differences=differences)

    def _find_confirmed(self) -> Mapping[CallerCall, tuple[AnswerDifference, ...]]:
        at_first = self._find_differences("own") | self._find_differences("further")
        found = {}
        for asked, differences in self._find_differences("again").items():
            places = {difference.place for difference in differences}
            both = tuple(one for one in at_first.get(asked, ()) if one.place in places)
            if both:
                found[asked] = both
        return found

    def _find_differences(self, stage: Stage) -> dict[CallerCall, tuple[AnswerDifference, ...]]:
        found = {}
        for asked, compared in self._compare_answers(stage):
            every = compared.differences
            kept = tuple(one for one in every if not self._is_released(asked, one))
            released = len(kept) < len(every)
            # A part that may depend on the value also changes the size of the whole result.
            telling = tuple(one for one in kept if not (released and one.place.kind == "whole"))
            if telling:
                found[asked] = telling
        return found

    def _compare_answers(self, stage: Stage) -> Sequence[tuple[CallerCall, AnswerComparison]]:
        """Return the comparison of each answer to an identity that must not see the value."""
        # Kept, since whole answers are compared, and several methods ask for the result.
        if stage not in self._of_stage:
            must_not_see = frozenset(self.must_not_see)
            self._of_stage[stage] = [
                (
                    asked,
                    compare_answers(*([one.locations for one in both[which]] for which in _BOTH)),
                )
                for asked, both in self._groups.get(stage, {}).items()
                if asked.caller in must_not_see and both["A"] and both["B"]
            ]
        return self._of_stage[stage]

    def _is_released(self, asked: CallerCall, difference: AnswerDifference) -> bool:
        # The list of tools is the answer of no tool that a suite could name.
        if asked.call == SHOWN:
            return False
        tool = self._tool_by_call[asked]
        return may_depend(difference.place, tool, self.declared.may_depend)

    @cached_property
    def _tool_by_call(self) -> Mapping[CallerCall, str]:
        return {record.asked: record.tool for record in self.records}

    # ── What it comes to ─────────────────────────────────────────────────────────────────────

    def build_account(self) -> Account:
        """Return what was compared and what was left out."""
        answers = varying = places = 0
        released: Counter[str] = Counter()
        for stage in ("own", "further"):
            for asked, compared in self._compare_answers(stage):
                answers += 1
                varying += bool(compared.varying)
                places += len(compared.varying)
                released.update(
                    f"{self._tool_by_call[asked]}: {one.place.description}"
                    for one in compared.differences
                    if self._is_released(asked, one)
                )
        return Account(
            name=self.declared.name,
            field=self.declared.field,
            may_see=self.may_see,
            must_not_see=self.must_not_see,
            answers=answers,
            dependent=len(self.list_confirmed_calls()),
            calls=sum(record.asked.call != SHOWN for record in self.records),
            varying_answers=varying,
            varying_places=places,
            may_depend=tuple(sorted(released)),
            not_confirmed=len(set(self.list_suspects()) - set(self.list_confirmed_calls())),
            left_out=max(
                (get_facts(record.run)["data"]["left_out"] for record in self.records), default=0
            ),
            fault=self.failure,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The scope and result of the comparison for one altered value."""

    name: str
    """Name of the value in messages."""
    field: str
    """Name of the field that has it."""
    may_see: tuple[str, ...]
    """Identities that saw it change and may see it."""
    must_not_see: tuple[str, ...]
    """Identities whose answers were compared."""
    answers: int
    """Number of compared answers, each with both sets of data."""
    dependent: int
    """Number of compared answers that depend on the value although they must not."""
    calls: int
    """Number of calls with both sets of data."""
    varying_answers: int
    """Number of answers with a part that was not compared because it varies with equal data."""
    varying_places: int
    """Number of such parts."""
    may_depend: tuple[str, ...]
    """Places of answers that depend on the value, as the suite allows."""
    not_confirmed: int
    """Number of answers that differed at first, but not in every repetition."""
    left_out: int
    """Number of further calls beyond the maximum, which were not made."""
    fault: str | None
    """Why the comparison is inconclusive."""


def _list_values(leaves: Sequence[Leaf]) -> tuple[str, ...]:
    return tuple(sorted(map(_format_value, leaves)))


def _subtract_leaves(ours: Iterable[Leaf], theirs: Iterable[Leaf]) -> tuple[Leaf, ...]:
    rest = Counter(map(_format_value, ours)) - Counter(map(_format_value, theirs))
    return tuple(leaf for leaf in ours if _format_value(leaf) in rest)


def _describe_change(both: _Both) -> tuple[tuple[str, ...], ...]:
    return tuple(_list_values(leaves) for leaves in both)


def _measure_exactness(both: Iterable[Iterable[Leaf]]) -> int:
    """Return how exact altered values are: their characters without trailing zeros."""
    return sum(
        max((len(_format_value(leaf).rstrip("0.")) for leaf in leaves), default=0)
        for leaves in both
    )


def _format_value(leaf: Leaf) -> str:
    value: Any = leaf.value
    return json.dumps(value, ensure_ascii=False)
