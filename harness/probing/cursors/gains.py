"""Findings about cursors of other callers, from the log of a probe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.judging import Leaf, is_masked, same_record
from harness.probing.caller_views import ProbedTrials, build_finding, get_facts, get_label
from harness.probing.cursors.arguments import LISTS, get_cursor, is_cursor_field
from harness.probing.cursors.lists import iterate_names
from harness.reports import ProbeFinding
from harness.types import TrialResult

_MOST_FIELDS = 4


def find_cursor_gains(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each cursor that gave another caller data that their own pages withhold, both times."""
    groups: dict[tuple[str, str, str], list[TrialResult]] = {}
    for run in probed.apart["cursor"]:
        cursor = get_facts(run)["cursor"]
        groups.setdefault((cursor["of"], cursor["owner"], cursor["caller"]), []).append(run)
    for (call, owner, caller), runs in groups.items():
        steps = _PairCalls(probed, runs)
        is_list = get_facts(runs[0])["tool"] in LISTS
        opened = steps.find_listed_names if is_list else steps.find_opened_fields
        # Once may be chance, or data that changed in between.
        found = [opened(number) for number in (1, 2)]
        if all(found):
            fields = ", ".join(list(dict.fromkeys(found[0]))[:_MOST_FIELDS])
            words = (
                f"{call} gives {caller} {fields} with the cursor that {owner} was given, and with "
                f"none of their own"
            )
            shown = get_label(steps.runs["cross", 1])
            yield build_finding("foreign_cursor", words, caller, shown)


class _PairCalls:
    """The calls of one pair, and their results."""

    def __init__(self, probed: ProbedTrials, runs: Sequence[TrialResult]) -> None:
        facts = [get_facts(run)["cursor"] for run in runs]
        self.runs = {
            (one["step"], one["number"]): run for one, run in zip(facts, runs, strict=True)
        }
        self._results = {step: probed.get_result(run) for step, run in self.runs.items()}

    def find_opened_fields(self, number: int) -> list[str]:
        """Return the fields that the caller got only with the owner's cursor."""
        theirs, cross = (self._results.get((step, number)) for step in ("theirs", "cross"))
        if theirs is None or cross is None or cross.call.outcome != "ok":
            return []
        own, whole = self._collect_own_fields()
        return (
            []
            if own is None
            else [
                leaf.path or leaf.name
                for leaf in cross.leaves
                if _has_data(leaf)
                and any((one.path, one.value) == (leaf.path, leaf.value) for one in theirs.leaves)
                and self._is_withheld(leaf, own, whole=whole)
            ]
        )

    def find_listed_names(self, number: int) -> list[str]:
        """Return the names that the owner's cursor lists for both, and no page of the caller's own.

        None if their own list was not read to its end.
        """
        theirs, cross = (self._results.get((step, number)) for step in ("theirs", "cross"))
        # A refused list has no names, and the missing ones may be on a page that was not read.
        own, whole = self._collect_own_fields()
        if theirs is None or cross is None or own is None or not (own and whole):
            return []
        known = {str(leaf.value) for leaf in own}
        return [name for name in iterate_names(cross) if name in {*iterate_names(theirs)} - known]

    def _collect_own_fields(self) -> tuple[list[Leaf] | None, bool]:
        """Return the fields of the caller's own pages, and whether these pages are complete.

        ``None`` if a call had no answer. A refusal is an answer without any field.
        """
        leaves: list[Leaf] = []
        whole = True
        # What either reading has is not withheld, however the data changed in between.
        for step in ("own", "own again"):
            pages = [result for (of, _), result in self._results.items() if of == step]
            answered = [page for page in pages if page is not None]
            # A page that failed is no evidence that its rows are withheld.
            failed = any(page.call.outcome not in ("ok", "denied") for page in answered)
            if not pages or len(answered) < len(pages) or failed:
                return None, False
            leaves += (
                leaf for page in answered for leaf in page.leaves if page.call.outcome == "ok"
            )
            whole = whole and get_cursor(answered[-1]) is None
        return leaves, whole

    def _is_withheld(self, leaf: Leaf, own: Sequence[Leaf], *, whole: bool) -> bool:
        """Whether the caller's own pages lack this field of the record, or the whole record."""
        same = [one for one in own if same_record(one.record, leaf.record, leaf.name)]
        if same:
            return not any(one.path == leaf.path and _has_data(one) for one in same)
        if not own:  # refused
            return True
        rows = leaf.path[: leaf.path.rfind("[]") + 2]
        beside = [one for one in own if rows and one.path.startswith(rows)]
        # A row without comparable ids may be this very record.
        unsure = any(same_record(one.record, leaf.record, leaf.name) is None for one in beside)
        return whole and bool(rows and leaf.record.ids) and not unsure


def _has_data(leaf: Leaf) -> bool:
    """Whether a field has data: it is neither empty, nor masked, nor a cursor."""
    value = leaf.value
    return value not in (None, "") and not is_masked(value) and not is_cursor_field(leaf.name)
