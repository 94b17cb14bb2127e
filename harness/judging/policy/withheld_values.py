"""Determine the values that are withheld from each identity, by comparing results of equal calls.

A value is withheld from an identity if another identity rightly got it, and this identity

- got an answer without the field, or with a mask instead (reach ``field``: the server deliberately
  withholds the field);
- got an answer with fewer rows (reach ``call``);
- was refused the same call, or the tool is not listed for it (reach ``call``: only the request is
  refused; its fields may be public elsewhere, for example by another search);
- was refused the call, while the same tool answers its other calls, always without the field (reach
  ``field``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from harness.judging.policy.comparable_values import ComparableValue, to_comparable, unlike_records
from harness.judging.policy.views import CallKey, Channel, Leaf, Result, View
from harness.judging.secrecy.masks import is_masked, is_partly_covered, may_be_meant

Reach: TypeAlias = Literal["field", "call"]
"""``field``: no field of that name may have it. ``call``: only this call must not give it."""

_MOST = 20_000
"""Maximum number of secrets for one identity."""
_MOST_PAIRS = 20_000
"""Maximum number of compared pairs of fields for one path; beyond, any apparent mask counts."""


@dataclass(slots=True)
class WithheldValue:
    """A value that is withheld from an identity."""

    tool: str
    """The tool whose result withholds it."""
    leaf: Leaf
    """The field in which other identities get it."""
    value: ComparableValue
    """Its comparable form."""
    reach: Reach
    """Where it must not appear."""
    kept: str
    """How it is withheld, in words."""
    keys: set[CallKey]
    """The calls that withhold it."""
    givers: dict[str, None]
    """The identities that may see it."""
    answered: Result
    """A result that gave it to one of them."""
    masks: dict[str, Leaf]
    """Fingerprint of a result → its mask of this value."""
    is_common: bool = False
    """Whether several records of `answered` have the same value in this field."""

    def is_given_at(self, path: str) -> bool:
        """Whether the identities that may see the value get a field at ``path`` as well."""
        return any(path in paths for paths in self.answered.paths.values())


class FieldDifference(NamedTuple):
    """A field that one result has and another withholds."""

    leaf: Leaf
    """The field in the more complete result."""
    kept: Literal["left out", "masked", "row left out"]
    """How the other result withholds it."""
    mask: Leaf | None = None
    """The mask, if the field is masked and its mask can be identified."""


def compare_results(full: Result, other: Result) -> Iterator[FieldDifference]:
    """Yield the fields that ``full`` has and ``other``, a result of the same call, withholds."""
    for (channel, path), given in full.leaves_by_place.items():
        is_null = channel == "structured" and other.call.structured is None
        if channel in other.paths or (channel == "structured" and not is_null):
            got = other.leaves_by_place.get((channel, path), [])
            yield from _compare_fields(given, got, other.paths.get(channel, frozenset()))


def _compare_fields(
    given: Sequence[Leaf], got: Sequence[Leaf], paths: frozenset[str]
) -> Iterator[FieldDifference]:
    meant = _are_meant(got, given)
    # A mask in the more complete result is no value that could be withheld.
    readable = [
        leaf for leaf in given if not is_masked(leaf.value) or (meant and may_be_meant(leaf.value))
    ]
    if not got:
        rows = _row_path(given[0].path)
        whole_row = rows and not any(path.startswith(rows) for path in paths)
        for leaf in readable:
            yield FieldDifference(leaf, "row left out" if whole_row else "left out")
    elif not meant and _are_masks(given, got):
        masks = _match_masks(given, got)
        for leaf in readable:
            yield FieldDifference(leaf, "masked", masks.get(id(leaf)))
    elif len(got) < len(given):
        seen = {to_comparable(leaf.value) for leaf in got}
        rest = [leaf for leaf in readable if to_comparable(leaf.value) not in seen]
        if len(rest) < len(readable):  # they share rows, so one list is a part of the other
            yield from (FieldDifference(leaf, "row left out") for leaf in rest)


def _are_masks(given: Sequence[Leaf], got: Sequence[Leaf]) -> bool:
    """Whether each of ``got`` is a mask, or the value with some characters covered."""
    rest = [leaf for leaf in got if not is_masked(leaf.value)]
    masks = _match_masks(given, got) if rest else {}
    covered = {
        id(mask)
        for full in given
        if (mask := masks.get(id(full))) is not None and is_partly_covered(mask.value, full.value)
    }
    return all(id(leaf) in covered for leaf in rest)


def _match_masks(given: Sequence[Leaf], got: Sequence[Leaf]) -> Mapping[int, Leaf]:
    """Return the `id` of each given value → its mask, if the records correspond."""
    # With other rows, it is not known which mask stands for which value.
    if len(given) != len(got):
        return {}
    return {
        id(full): mask
        for full, mask in zip(given, got, strict=True)
        if not unlike_records(full.record, mask.record, full.name)
    }


def _are_meant(got: Sequence[Leaf], given: Sequence[Leaf]) -> bool:
    """Whether an apparent mask (a blank, a word such as *None*) is genuine for this record.

    It is, unless another identity got another value for the same record.
    """
    return (
        bool(got)
        and all(may_be_meant(leaf.value) for leaf in got)
        and len(got) * len(given) <= _MOST_PAIRS
        and all(
            to_comparable(full.value) == to_comparable(leaf.value)
            or unlike_records(full.record, leaf.record, leaf.name)
            for leaf in got
            for full in given
        )
    )


def _row_path(path: str) -> str:
    """Return the path up to the items of the innermost list; empty if the path has no list."""
    end = path.rfind("[]")
    return "" if end < 0 else path[: end + 2]


def find_withheld(views: Sequence[View]) -> Mapping[str, list[WithheldValue]]:
    """Return the values that are withheld from each identity, by the evidence of ``views``."""
    by_key: dict[CallKey, list[tuple[View, Result]]] = {}
    by_tool: dict[str, list[tuple[View, Result]]] = {}
    seen: set[tuple[str, str, bool, bool]] = set()
    for view in views:
        for result in view.results:
            offered = result.call.tool in view.tool_names
            twin = (view.identity, result.fingerprint, view.rightful, offered)
            if twin not in seen:  # equal results add no evidence
                seen.add(twin)
                by_key.setdefault(result.key, []).append((view, result))
                by_tool.setdefault(result.call.tool, []).append((view, result))
    identities = dict.fromkeys(view.identity for view in views)
    return {
        identity: _WithheldFinder(identity, views, by_key, by_tool).find_secrets()
        for identity in identities
    }


class _WithheldFinder:
    """Finds the values that are withheld from one identity."""

    def __init__(
        self,
        identity: str,
        views: Sequence[View],
        by_key: Mapping[CallKey, Sequence[tuple[View, Result]]],
        by_tool: Mapping[str, Sequence[tuple[View, Result]]],
    ) -> None:
        self._identity = identity
        self._own = [view for view in views if view.identity == identity]
        self._by_key = by_key
        self._by_tool = by_tool
        self._known_paths: dict[tuple[str, Channel], frozenset[str]] = {}
        self._found: dict[tuple[str, str, str, Reach], WithheldValue] = {}

    def find_secrets(self) -> list[WithheldValue]:
        for answers in self._by_key.values():
            givers = [(view, result) for view, result in answers if self._is_giver(view, result)]
            takers = [result for view, result in answers if view.identity == self._identity]
            for view, full in givers:
                for taken in takers:
                    self._compare_with(view, full, taken)
        self._add_hidden_tools()
        return list(self._found.values())[:_MOST]

    def _is_giver(self, view: View, result: Result) -> bool:
        return view.identity != self._identity and view.rightful and result.call.outcome == "ok"

    def _compare_with(self, giver: View, full: Result, taken: Result) -> None:
        if taken.call.outcome == "ok":
            for leaf, kept, mask in compare_results(full, taken):
                reach: Reach = "call" if kept == "row left out" else "field"
                secret = self._add_secret(giver, full, leaf, reach, kept.removeprefix("row "))
                if secret is not None and mask is not None:
                    secret.masks.setdefault(taken.fingerprint, mask)
        # Other failures withhold nothing on purpose.
        elif taken.call.outcome == "denied":
            for leaf in full.leaves:
                reach = "field" if self._answered_without(leaf, full.call.tool) else "call"
                self._add_secret(giver, full, leaf, reach, "refused")

    def _answered_without(self, leaf: Leaf, tool: str) -> bool:
        """Whether the tool answered other calls of this identity, always without the field."""
        # Kept, since it is asked for each field of each refused call, and is the same for a tool.
        known = self._known_paths.get((tool, leaf.channel))
        if known is None:
            known = self._known_paths[tool, leaf.channel] = frozenset().union(
                *(
                    result.paths.get(leaf.channel, frozenset())
                    for view, result in self._by_tool[tool]
                    if self._got_answer(view, result)
                )
            )
        rows = _row_path(leaf.path)
        # An answer without any such row does not show that the field is left out of rows.
        return leaf.path not in known and any(path.startswith(rows) for path in known)

    def _add_hidden_tools(self) -> None:
        for tool, answers in self._by_tool.items():
            # A tool that is listed, or answers, only at times is no hidden one.
            is_hidden = self._own and not any(tool in view.tool_names for view in self._own)
            if is_hidden and not any(self._got_answer(*answer) for answer in answers):
                for view, result in answers:
                    if self._is_giver(view, result) and tool in view.tool_names:
                        for leaf in result.leaves:
                            self._add_secret(view, result, leaf, "call", "the tool is hidden")

    def _got_answer(self, view: View, result: Result) -> bool:
        return view.identity == self._identity and result.call.outcome == "ok"

    def _add_secret(
        self, giver: View, full: Result, leaf: Leaf, reach: Reach, kept: str
    ) -> WithheldValue | None:
        value = to_comparable(leaf.value)
        if value is None or is_masked(leaf.value):
            return None
        place = (full.call.tool, leaf.path, value.text, reach)
        secret = self._found.get(place)
        if secret is None:
            secret = self._found[place] = WithheldValue(
                full.call.tool, leaf, value, reach, kept, set(), {}, full, {}
            )
        # Within one form of one result: the other form repeats the same records.
        elif full is secret.answered and leaf.channel == secret.leaf.channel:
            secret.is_common |= leaf.record is not secret.leaf.record
        secret.keys.add(full.key)
        secret.givers[giver.identity] = None
        return secret
