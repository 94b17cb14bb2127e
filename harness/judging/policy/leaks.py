"""Leaks: values that the server withholds from an identity in one place and gives it in another.

A secret (`harness.judging.policy.withheld_values`) is searched for in everything that the identity
got:

| place                               | it is a leak if                                          |
|-------------------------------------|----------------------------------------------------------|
| the same call, the same field       | always (the result's other form, or another time)        |
| the same call, elsewhere            | the field has a similar name, or the value is distinctive|
| a failed call: its text, its result | it does not belong to another record                     |
| another call, field of similar name | its reach is the field, and the record is not another one|
| another call, within a text         | its reach is the field, and the value is distinctive     |
| the answer                          | no call gave it, so the model has it from another source |
| in the mask of the value itself     | the mask leaves too much readable (`secrecy.masks`)      |
| any result of an anonymous caller   | that call is refused to a named one: it fails open       |

A distinctive value, one with no accidental matches, is a leak under any name, in any encoding, and
in everything else that the identity got (`harness.judging.policy.value_scanner`).

It is no leak if the identity sent the value itself (prompt, attributes, earlier arguments). A less
distinctive value is no leak either if a tool's description contains it, or (except in the first
two rows) if the identity also gets it in an unrelated field. Common values (small numbers, single
words) count only in the same field of the same record.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any

from harness.base import digest_json
from harness.judging.policy.comparable_values import (
    Prose,
    is_exact,
    same_record,
    shorten_scalar,
    to_comparable,
)
from harness.judging.policy.value_index import (
    ShownValues,
    Siblings,
    WithheldValues,
    is_same_record_field,
)
from harness.judging.policy.value_scanner import Sighting, ValueScanner
from harness.judging.policy.views import CallKey, Leaf, Result, View
from harness.judging.policy.withheld_values import WithheldValue, find_withheld
from harness.judging.secrecy.masks import is_unreadable, readable_share
from harness.types import NOT_SEARCHED, Leak, ToolList

_UNMISTAKABLE = 8
"""A text of at least this length, found in another text, is no accidental match."""


def find_leaks(views: Sequence[View]) -> list[Leak]:
    """Return every leak, one for each field and trial, in the order of ``views``."""
    secrets = find_withheld(views)
    openings = _find_openings(views)
    # Indexed once for each identity: its views are many, and need the same index.
    shown = {
        identity: ShownValues([view for view in views if view.identity == identity])
        for identity in secrets
    }
    kept = {identity: WithheldValues(own) for identity, own in secrets.items()}
    anywhere = {identity: ValueScanner(own, shown[identity]) for identity, own in secrets.items()}
    searches = (
        _LeakSearch(view, kept[view.identity], shown[view.identity], anywhere[view.identity])
        for view in views
    )
    return [
        leak
        for view, search in zip(views, searches, strict=True)
        for leak in (*_merge_by_field(search.find_leaks()), *openings.get(id(view), ()))
    ]


def _find_openings(views: Sequence[View]) -> dict[int, list[Leak]]:
    """Return the calls that are served to an anonymous caller but denied to a named one."""
    refused: dict[CallKey, dict[str, None]] = {}
    for view in views:
        for result in view.results:
            if result.call.outcome == "denied" and not view.nobody:
                refused.setdefault(result.key, {})[view.identity] = None
    found: dict[int, list[Leak]] = {}
    for view in views:
        for number, result in enumerate(view.results, start=1):
            is_served = result.call.outcome == "ok" and result.key in refused
            # A call that is meant for everybody does not fail open, whoever else is refused it.
            if view.nobody and not view.meant and is_served:
                leak = _build_leak(
                    view,
                    field="everything",
                    tool=result.call.tool,
                    kept=f"refused to {' and '.join(refused[result.key])}",
                    place=f"the result of call {number}, {result.call.tool}",
                )
                found.setdefault(id(view), []).append(leak)
    return found


def _build_leak(view: View, **facts: Any) -> Leak:
    """Return a leak of ``view``; what ``facts`` do not say is empty."""
    return Leak(
        suite=view.suite,
        case=view.case,
        key=view.key,
        identity=view.identity,
        **{"shown": "", "tool": "", "allowed_to": (), "place": "", **facts},
    )


def _merge_by_field(leaks: Iterable[Leak]) -> list[Leak]:
    """Return one leak for each field, even if it leaks many values."""
    found: dict[tuple[str, str, bool], Leak] = {}
    for leak in leaks:
        place = (leak.tool, leak.field, leak.is_note)
        first = found.get(place)
        found[place] = leak if first is None else replace(first, values=first.values + 1)
    return list(found.values())


# ── The search ───────────────────────────────────────────────────────────────────────────────


class _LeakSearch:
    """Searches one view for the values that are withheld from its identity."""

    def __init__(
        self, view: View, secrets: WithheldValues, shown: ShownValues, anywhere: ValueScanner
    ) -> None:
        self._view = view
        self._secrets = secrets
        self._shown = shown
        self._anywhere = anywhere
        self._brought = [*map(Prose, view.known)]
        self._offer = _offer_prose(view.tools)
        self._answer = Prose(view.answer)
        # The `id` of secrets that were found or that the identity sent itself, and of siblings
        # that are all settled.
        self._settled: set[int] = set()

    def find_leaks(self) -> Iterator[Leak]:
        """Yield one leak for each value, with all places where it was found."""
        if not self._secrets:
            return
        found: dict[tuple[str, bool], list[Sighting]] = {}
        for sighting in self._find_sightings():
            same = (sighting.secret.value.text, sighting.is_note)
            found.setdefault(same, []).append(sighting)
        for sightings in found.values():
            yield self._merge_sightings(sightings)
        # A place that was not searched completely is a note.
        for words in self._anywhere.list_unread():
            yield _build_leak(self._view, field=words, kept=NOT_SEARCHED, is_note=True)

    def _find_sightings(self) -> Iterator[Sighting]:
        for number, result in enumerate(self._view.results, start=1):
            # Call by call: what an identity sends explains this result and later ones only.
            self._brought.append(
                Prose(json.dumps(result.call.arguments, ensure_ascii=False, default=str))
            )
            call = f"call {number}, {result.call.tool}"
            found = chain(self._find_in_fields(result, call), self._find_in_texts(result, call))
            for secret, place in found:
                # Also where it is known: then it is known in all later places.
                self._settled.add(id(secret))
                if not self._is_known(secret) and not self._offer.contains_value(secret.value):
                    yield Sighting(secret, place)
            yield from self._skip_known(self._under_masks(result, call))
            yield from self._skip_known(self._find_in_other_units(result, call))
            yield from self._skip_known(self._anywhere.scan(self._view, result, call))
        yield from self._skip_known(self._anywhere.scan(self._view, None, ""))
        # Last: what a call returned is settled by now, and told with that call.
        for secret in self._secrets.find_in_prose(self._answer):
            if (
                id(secret) not in self._settled
                and not self._shown.is_rightful(secret)
                and not self._is_known(secret)
                and not self._offer.contains_value(secret.value)
            ):
                yield Sighting(secret, "the answer, although no call of this identity returned it")

    def _under_masks(self, result: Result, call: str) -> Iterator[Sighting]:
        """Yield values whose mask leaves too much readable."""
        for secret in self._secrets.find_masked(result):
            mask, value = secret.masks[result.fingerprint], secret.leaf.value
            path = f".{mask.path.casefold()}"
            # The share of the field that may be readable, if the suite states one.
            limits = [most for name, most in self._view.masks.items() if path.endswith(f".{name}")]
            if not is_unreadable(mask.value, value, min(limits, default=None)):
                how = (f"masked, but {readable_share(mask.value, value):.0%} of it can be read",)
                yield Sighting(secret, mask.describe_place(call), how, str(mask.value))

    def _find_in_other_units(self, result: Result, call: str) -> Iterator[Sighting]:
        """Yield numbers in another unit (cents, thousands), or rounded."""
        for secret, leaf, how, is_rounded in self._anywhere.units.find_in_result(result):
            place = leaf.describe_place(call)
            yield Sighting(secret, place, (how,), str(leaf.value), is_rounded)

    def _skip_known(self, sightings: Iterable[Sighting]) -> Iterator[Sighting]:
        for sighting in sightings:
            # A note settles nothing: the same value may still be found where it is a leak.
            if not sighting.is_note:
                self._settled.add(id(sighting.secret))
            if not self._is_known(sighting.secret):
                yield sighting

    def _find_in_fields(self, result: Result, call: str) -> Iterator[tuple[WithheldValue, str]]:
        for leaf in result.leaves:
            value = to_comparable(leaf.value)
            for siblings in () if value is None else self._secrets.find_equal(value):
                if id(siblings) in self._settled:
                    continue
                given = _find_given_away(siblings, leaf, result)
                for secret in given:
                    if id(secret) not in self._settled:
                        yield secret, leaf.describe_place(call)
                # No further field needs to look at them: a record may have thousands of a value.
                if len(given) == len(siblings.all):
                    self._settled.add(id(siblings))

    def _find_in_texts(self, result: Result, call: str) -> Iterator[tuple[WithheldValue, str]]:
        ok = result.call.outcome == "ok"
        paths = dict[str, str]()  # text → its first place
        for leaf in result.leaves:
            # A single word was already compared as the value of its field.
            if isinstance(leaf.value, str) and " " in leaf.value:
                paths.setdefault(leaf.value, leaf.path)
        if result.is_prose and result.call.text:
            paths.setdefault(result.call.text, "")
        for text, path in paths.items():
            for secret in self._secrets.find_in_prose(Prose(text)):
                if id(secret) not in self._settled and self._may_be_quoted(secret, result, ok=ok):
                    what = f"text of {call}{': ' + path if path else ''}"
                    yield secret, f"the {what}" if ok else f"the error {what}"

    def _may_be_quoted(self, secret: WithheldValue, result: Result, *, ok: bool) -> bool:
        if self._shown.is_rightful(secret):
            return False
        if result.key in secret.keys:
            return True
        # The call is about another record, which may have the same value.
        if same_record(secret.answered.requested_record, result.requested_record, "") is False:
            return False
        if not ok:
            return True
        value = secret.value
        long = bool(value.digits) or (value.number is None and len(value.text) >= _UNMISTAKABLE)
        return secret.reach == "field" and long

    def _is_known(self, secret: WithheldValue) -> bool:
        return any(text.contains_value(secret.value) for text in self._brought)

    def _merge_sightings(self, sightings: Sequence[Sighting]) -> Leak:
        """Return the leak of one value; ``sightings`` are all places where it was found."""
        secret, place, how, source, is_note = sightings[0]
        # Reversed twice: the first of several sightings at one place counts, and the order stays.
        by_place = {sighting.place: sighting for sighting in reversed(sightings)}
        del by_place[place]
        givers = dict.fromkeys(giver for sighting in sightings for giver in sighting.secret.givers)
        return _build_leak(
            self._view,
            field=secret.leaf.path or secret.leaf.name,
            shown=shorten_scalar(secret.leaf.value),
            tool=secret.tool,
            kept=secret.kept,
            allowed_to=tuple(givers),
            place=place,
            in_answer=self._answer.contains_value(secret.value),
            decoded=how,
            source=shorten_scalar(source) if how else "",
            is_note=is_note,
            # A digest joins the leaks of one value in reports without telling it.
            value=digest_json([self._view.suite, secret.value.text])[:8],
            places=tuple(
                f"{one.place} ({', '.join(one.how)})" if one.how else one.place
                for one in reversed(by_place.values())
            ),
        )


def _find_given_away(siblings: Siblings, leaf: Leaf, result: Result) -> Collection[WithheldValue]:
    """Return the secrets that are leaked by a field with their value."""
    secret = siblings.first
    grade = secret.value.grade
    if result.key in secret.keys:
        if secret.reach == "call" or grade == 0:
            return siblings.find_at(leaf.path) if secret.reach == "field" or grade > 0 else ()
        # A field that others get next to the secret is no evidence, unless both have the same
        # exact number: then either field reveals it.
        given_too = secret.is_given_at(leaf.path)
        is_twin = (
            given_too
            and is_exact(secret.value)
            and is_same_record_field(leaf, result, secret) is True
        )
        unmistakable = grade == 2 and (is_twin or not given_too)  # noqa: PLR2004 - see there
        return siblings.all if unmistakable else siblings.find_similar(leaf.name)
    # A boolean proves nothing outside of the call that withholds it.
    if isinstance(secret.leaf.value, bool) or (
        result.call.outcome == "ok" and secret.reach == "call"
    ):
        return ()
    one_thing = is_same_record_field(leaf, result, secret)
    if one_thing is False or not (one_thing or grade == 2):  # noqa: PLR2004
        return ()
    return siblings.find_similar(leaf.name)


# Cached, since many trials are shown the same list.
@lru_cache(maxsize=64)
def _offer_prose(tools: ToolList) -> Prose:
    """Return the tool list as text: names, descriptions and schemas."""
    described = [
        [tool.name, tool.description, tool.input_schema, tool.output_schema] for tool in tools.tools
    ]
    return Prose(json.dumps(described, ensure_ascii=False, default=str))
