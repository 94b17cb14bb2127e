"""The gain of a forged call: data that the server otherwise withholds from the caller.

A different answer alone is no gain: a server may ignore forged arguments, refuse them, or answer
the changed request. A gain is a value that the caller's regular calls withhold and that another
identity rightly gets, in the same field of the same tool, and of the same record as far as ids
show. An unmistakable value counts wherever it stands, also in what is said of a call that failed
(`harness.judging.policy.value_scanner`). Others count in a text that names their record, and in the
order of rows (`harness.probing.evidence`). Values that the forged call sent itself do not count,
nor do rows beyond the end of a page: those of a refused call are sought on the caller's own further
pages.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from harness.base import canonical_json
from harness.judging import (
    CallKey,
    ComparableValue,
    Leaf,
    Prose,
    Result,
    ShownValues,
    ValueScanner,
    View,
    WithheldValue,
    WithheldValues,
    are_similar_names,
    find_withheld,
    fold_text,
    same_record,
    to_comparable,
)
from harness.probing.evidence import find_ordered_values, find_values_near_ids
from harness.types import JsonObject, ToolCall, dataclass

_PAGING = ("next", "cursor", "hasmore", "more", "continuation", "nextpage", "nextcursor")
"""Folded endings of the names of fields that announce a further page."""


@dataclass(frozen=True, slots=True)
class ForgeryGain:
    """The gain of one forged call."""

    fields: tuple[str, ...]
    """Paths of the fields."""
    givers: tuple[str, ...]
    """The identities that may see these fields."""
    is_only_refused: bool = False
    """Whether they are rows that nothing withholds but the refusal of another call of the list."""


class WithheldData:
    """The values that the regular calls withhold from each identity."""

    def __init__(self, views: Sequence[View], pages: Sequence[View] = ()) -> None:
        """Compare ``views``: those of the suite's own identities in the regular calls.

        ``pages`` are further pages that the same identities read with cursors of their own.
        """
        self._views = views
        self._pages = pages
        self._searched: dict[tuple[str, bool, str], tuple[WithheldValue, ...]] = {}

    @cached_property
    def _values_by_identity(self) -> Mapping[str, tuple[WithheldValue, ...]]:
        kept = find_withheld(self._views)
        return {
            name: tuple(
                secret
                for secret in kept[name]
                # The identity, or everybody, may get it elsewhere, or on a later page.
                if not self._visible_by_identity[name].is_rightful(secret)
                and not (_is_row(secret) and self._has_more(name, secret))
            )
            for name in self._view_by_identity
        }

    @cached_property
    def _visible_by_identity(self) -> Mapping[str, ShownValues]:
        views = self._views
        return {
            name: ShownValues([view for view in views if view.identity == name or view.nobody])
            for name in self._view_by_identity
        }

    @cached_property
    def _page_leaves(self) -> Mapping[tuple[str, str, str, ComparableValue], Sequence[Leaf]]:
        """Identity, tool, path and value → the fields on pages of that identity's own."""
        found: dict[tuple[str, str, str, ComparableValue], list[Leaf]] = {}
        for view in self._pages:
            for result in view.results:
                for leaf in result.leaves if result.call.outcome == "ok" else ():
                    value = to_comparable(leaf.value)
                    if value is not None:
                        place = view.identity, result.call.tool, leaf.path, value
                        found.setdefault(place, []).append(leaf)
        return found

    @cached_property
    def _occurrences(self) -> Mapping[str, ValueScanner]:
        return {
            name: ValueScanner(secrets, self._visible_by_identity[name])
            for name, secrets in self._values_by_identity.items()
        }

    @cached_property
    def _view_by_identity(self) -> Mapping[str, View]:
        return {view.identity: view for view in self._views}

    @cached_property
    def _indexed_values(self) -> Mapping[str, WithheldValues]:
        return {name: WithheldValues(secrets) for name, secrets in self._values_by_identity.items()}

    def _is_refused_row(self, identity: str, secret: WithheldValue, result: Result) -> bool:
        """Whether other calls of a list are refused to an identity, and else it withholds no row.

        Such a refusal concerns the call: the row may be on a further page of the identity's own.
        """
        is_row = secret.reach == "call" and secret.kept == "refused" and "[]" in secret.leaf.path
        if not is_row or secret.tool != result.call.tool or result.key in secret.keys:
            return False
        same = (one for one in self._iterate_results(identity) if one.key in secret.keys)
        return not any(one.call.outcome == "ok" for one in same)

    def _is_on_page(self, identity: str, secret: WithheldValue) -> bool:
        """Whether a page of an identity's own has the value in the same field and record."""
        place = identity, secret.tool, secret.leaf.path, secret.value
        return any(
            same_record(secret.leaf.record, leaf.record, except_for=leaf.name) is not False
            for leaf in self._page_leaves.get(place, ())
        )

    def _has_more(self, identity: str, secret: WithheldValue) -> bool:
        """Whether rows may be missing from an identity's answer because its page is full."""
        rows = secret.leaf.path[: secret.leaf.path.rfind("[]") + 2]
        given = _count_rows(secret.answered, rows)
        return any(
            _count_rows(result, rows) >= given or any(map(_is_paging, result.leaves))
            for result in self._iterate_results(identity)
            if result.key in secret.keys
        )

    def _iterate_results(self, name: str) -> Iterator[Result]:
        """Yield the regular answers to an identity."""
        return (result for view in self._views if view.identity == name for result in view.results)

    def find_withholding_calls(self, identity: str) -> Mapping[CallKey, tuple[str, ...]]:
        """Return the calls that withhold data from ``identity`` → the identities that get it.

        The identity that gets most comes first.
        """
        givers: dict[CallKey, Counter[str]] = {}
        for secret in self._values_by_identity.get(identity, ()):
            for key in secret.keys:
                givers.setdefault(key, Counter()).update([*secret.givers])
        return {key: tuple(dict(count.most_common())) for key, count in givers.items()}

    def find_failing_calls(self, identity: str) -> Mapping[CallKey, tuple[str, ...]]:
        """Return the calls that fail for ``identity`` without a refusal → who gets an answer.

        A record that is hidden from somebody is often *not found* for them.
        """
        answered: dict[CallKey, dict[str, None]] = {}
        failed: set[CallKey] = set()
        for view in self._views:
            for result in view.results:
                if result.call.outcome == "ok":
                    answered.setdefault(result.key, {})[view.identity] = None
                elif result.call.outcome == "tool_error" and view.identity == identity:
                    failed.add(result.key)
        return {key: tuple(names) for key, names in answered.items() if key in failed}

    def list_results(self) -> tuple[Result, ...]:
        """Return every answer."""
        return tuple(result for view in self._views for result in view.results)

    def list_leaves(self) -> tuple[Leaf, ...]:
        """Return every field of every answer."""
        return tuple(leaf for result in self.list_results() for leaf in result.leaves)

    def list_fields(self, identity: str) -> tuple[str, ...]:
        """Return the names of the fields that are withheld from ``identity`` as such."""
        secrets = self._values_by_identity.get(identity, ())
        return tuple(dict.fromkeys(one.leaf.name for one in secrets if one.reach == "field"))

    def find_gain(
        self,
        identity: str,
        made: ToolCall,
        asked: JsonObject,
        brought: JsonObject,
        *,
        same: bool,
        by_chance: bool = False,
        past_refusals: bool = True,
    ) -> ForgeryGain | None:
        """Return the gain of a forged call of ``identity``; ``None`` if there is none.

        Args:
            identity: The caller.
            made: The call and its answer.
            asked: The arguments that identify the requested record.
            brought: The values that were sent in addition, and the caller's attributes.
            same: Whether it requests the same record as a regular call.
            by_chance: Whether rows may come and go by chance, so that they count for nothing.
            past_refusals: Whether rows count that only the refusal of another call withholds.
        """
        if identity not in self._indexed_values or made.is_unanswered:
            return None
        # What the caller sent may come back in any answer.
        sent = Prose(json.dumps([made.arguments, brought], ensure_ascii=False, default=str))
        # Compared as what was asked for, not as what the forgery made of it.
        result = Result(call=replace(made, arguments=asked))
        candidates = (
            *self._search_answer(identity, result, same=same),
            *self._find_ordered_values(identity, result, made.arguments),
        )
        found = [
            secret
            # By identity: three searches may find one value, and two records have equal values.
            for secret in {id(one): one for one in candidates}.values()
            if not sent.contains_value(secret.value)
            and not (by_chance and _is_row(secret))
            and not (
                self._is_refused_row(identity, secret, result)
                and (not past_refusals or self._is_on_page(identity, secret))
            )
        ]
        if not found:
            return None
        fields = dict.fromkeys(secret.leaf.path or secret.leaf.name for secret in found)
        givers = dict.fromkeys(giver for secret in found for giver in secret.givers)
        only_refused = all(self._is_refused_row(identity, secret, result) for secret in found)
        return ForgeryGain(tuple(fields), tuple(givers), only_refused)

    def _search_answer(
        self, identity: str, result: Result, *, same: bool
    ) -> tuple[WithheldValue, ...]:
        """Return the withheld values in an answer; equal ones are searched once.

        Most forged calls are refused in the same words, or have the regular answer.
        """
        place = identity, same, result.fingerprint
        # What came beside an answer is not in its digest.
        if result.call.beside or place not in self._searched:
            self._searched[place] = (
                *self._find_given_values(identity, result, same=same),
                *find_values_near_ids(self._indexed_values[identity], result),
            )
        return self._searched[place]

    def _find_ordered_values(
        self, identity: str, result: Result, sent: JsonObject
    ) -> Iterator[WithheldValue]:
        """Yield the withheld values that show in the order of the rows of ``result``."""
        fields = self.list_fields(identity)
        for field in (one for one in sent.values() if isinstance(one, str) and one in fields):
            kept = (one for one in self._values_by_identity[identity] if one.reach == "field")
            secrets = [one for one in kept if one.leaf.name == field]
            own = self._iterate_results(identity)
            usual = [one for one in own if one.call.tool == result.call.tool]
            yield from find_ordered_values(secrets, result, usual)

    def is_given(self, identity: str, tool: str, arguments: JsonObject) -> bool:
        """Whether the regular call itself gives withheld data: a leak, and no gain of another."""
        key = tool, canonical_json(arguments)
        return any(
            self.find_gain(identity, one.call, arguments, {}, same=True, by_chance=True)
            for one in self._iterate_results(identity)
            if one.key == key
        )

    def _find_given_values(
        self, identity: str, result: Result, *, same: bool
    ) -> Iterator[WithheldValue]:
        """Yield the withheld values that ``result`` contains."""
        for sighting in self._occurrences[identity].scan(
            self._view_by_identity[identity], result, "it"
        ):
            if not sighting.is_note:
                yield sighting.secret
        # An error has no fields, and the scan above has read its text.
        if result.call.outcome != "ok":
            return
        secrets = self._indexed_values[identity]
        unsure: list[WithheldValue] = []
        for leaf in result.leaves:
            value = to_comparable(leaf.value)
            for siblings in () if value is None else secrets.find_equal(value):
                for secret in siblings.all:
                    sure = _is_the_same(secret, leaf, result)
                    if sure or (sure is None and same):
                        yield secret
                    elif sure is None:
                        unsure.append(secret)
        yield from self._find_complete_values(identity, unsure)
        if result.is_prose:
            for secret in secrets.find_in_prose(Prose(result.call.text)):
                agrees = same_record(secret.answered.requested_record, result.requested_record, "")
                if secret.tool == result.call.tool and (agrees or (same and agrees is None)):
                    yield secret

    def _find_complete_values(
        self, identity: str, found: Sequence[WithheldValue]
    ) -> Iterator[WithheldValue]:
        """Yield the values of ``found`` that are together everything that one answer withholds.

        Two records may have one equal value by chance, but hardly all values.
        """
        by_answer: dict[int, dict[int, WithheldValue]] = {}
        for secret in found:
            by_answer.setdefault(id(secret.answered), {})[id(secret)] = secret
        for own in by_answer.values():
            answered = next(iter(own.values())).answered
            withheld = self._values_by_identity[identity]
            telling = {id(one) for one in withheld if one.answered is answered and one.value.grade}
            # A single equal value may be chance.
            if len(telling) > 1 and telling <= own.keys():
                yield from own.values()


def _is_the_same(secret: WithheldValue, leaf: Leaf, result: Result) -> bool | None:
    """Whether a field with a secret's value is that secret; ``None`` if no id decides."""
    record = same_record(secret.leaf.record, leaf.record, except_for=leaf.name)
    if record is False:
        return False
    if _is_keyed(secret, leaf):
        return secret.value.grade > 0
    if secret.tool != result.call.tool:
        # A caller who must not see a row in a list must not get it by its id either; a field that
        # is left out of one tool's answers must not be in those of another.
        kept = secret.reach == "field" or _is_row(secret)
        return kept and record is True and are_similar_names(secret.leaf.name, leaf.name)
    if fold_text(leaf.name) != fold_text(secret.leaf.name):
        return False
    if record:
        return True
    wanted = secret.answered.requested_record
    asked = same_record(wanted, result.requested_record, except_for=leaf.name)
    # A value of grade 0, such as true, is equal in many records.
    return asked if secret.value.grade > 0 else False


def _is_row(secret: WithheldValue) -> bool:
    """Whether a value belongs to a row that is missing from a list."""
    return secret.reach == "call" and secret.kept == "left out"


def _is_keyed(secret: WithheldValue, leaf: Leaf) -> bool:
    """Whether a field has the id of the secret's record as its name: ``{"P-1001": 520.75}``."""
    key = to_comparable(leaf.name)
    return key is not None and any(key.text == one.text for one in secret.leaf.record.ids.values())


def _count_rows(result: Result, path: str) -> int:
    return len({id(leaf.record) for leaf in result.leaves if leaf.path.startswith(path)})


def _is_paging(leaf: Leaf) -> bool:
    name = "".join(filter(str.isalpha, fold_text(leaf.name)))
    return bool(leaf.value) and any(name.endswith(word) for word in _PAGING)
