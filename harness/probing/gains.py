"""What a forged call gives a caller that is withheld from them otherwise.

Another answer is no gain: a server may ignore forged arguments, refuse them, or answer what they
ask for. A gain is a value that the caller's own calls withhold and that another identity rightly
gets, in a field of the same name and the same tool, and about the same record as far as ids tell.
Values that the forged call brought itself are left out, and rows beyond the end of a page, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from harness.judging.policy import View
from harness.judging.policy.comparable_values import Prose, value_of
from harness.judging.policy.index import Shown, WithheldValues
from harness.judging.policy.same_field import akin
from harness.judging.policy.same_record import same_thing
from harness.judging.policy.views import CallKey, Leaf, Result
from harness.judging.policy.withheld import WithheldValue, kept_from
from harness.matching.texts import fold
from harness.types import JsonObject, ToolCall

_PAGING = ("next", "cursor", "hasmore", "more", "continuation", "nextpage", "nextcursor")
"""Fields, folded, that say that there is more than a page shows."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What one forged call gave."""

    fields: tuple[str, ...]
    """The fields."""
    givers: tuple[str, ...]
    """The identities that rightly get them."""


class Withheld:
    """What is withheld from each identity, by the calls that everybody made."""

    def __init__(self, views: Sequence[View]) -> None:
        """Compare ``views``: those of the suite's own identities and the calls as they stand."""
        self._views = views

    @cached_property
    def _of(self) -> Mapping[str, tuple[WithheldValue, ...]]:
        kept = kept_from(self._views)
        return {
            identity: tuple(secret for secret in kept[identity] if not self._is_given(view, secret))
            for identity, view in {view.identity: view for view in self._views}.items()
        }

    @cached_property
    def _shown(self) -> Mapping[str, Shown]:
        identities = {view.identity for view in self._views}
        return {
            name: Shown([view for view in self._views if view.identity == name or view.nobody])
            for name in identities
        }

    @cached_property
    def _indexed(self) -> Mapping[str, WithheldValues]:
        return {identity: WithheldValues(secrets) for identity, secrets in self._of.items()}

    def _is_given(self, view: View, secret: WithheldValue) -> bool:
        """Whether the identity, or everybody, gets the value elsewhere, or on a further page."""
        if self._shown[view.identity].rightly(secret):
            return True
        return secret.reach == "call" and secret.kept == "left out" and self._has_more(view, secret)

    def _has_more(self, view: View, secret: WithheldValue) -> bool:
        """Whether rows may be missing from an identity's answer because its page was full."""
        rows = secret.leaf.path[: secret.leaf.path.rfind("[]") + 2]
        given = _rows(secret.answered, rows)
        for one in self._views:
            if one.identity == view.identity:
                for result in one.results:
                    if result.key in secret.keys and (
                        _rows(result, rows) >= given or any(map(_is_paging, result.leaves))
                    ):
                        return True
        return False

    def from_calls(self, identity: str) -> Mapping[CallKey, tuple[str, ...]]:
        """Return the calls that withhold something from ``identity``, and who gets it.

        Whoever gets most comes first.
        """
        givers: dict[CallKey, dict[str, int]] = {}
        for secret in self._of.get(identity, ()):
            for key in secret.keys:
                count = givers.setdefault(key, {})
                for giver in secret.givers:
                    count[giver] = count.get(giver, 0) + 1
        return {
            key: tuple(sorted(count, key=lambda name: -count[name]))
            for key, count in givers.items()
        }

    def leaves(self) -> tuple[Leaf, ...]:
        """Return every field that anybody was given."""
        return tuple(leaf for view in self._views for one in view.results for leaf in one.leaves)

    def gain(
        self, identity: str, made: ToolCall, asked: JsonObject, brought: JsonObject, *, same: bool
    ) -> Gain | None:
        """Return what a forged call gave ``identity``; ``None`` if it is nothing.

        Args:
            identity: Who made it.
            made: The call and its answer.
            asked: The arguments that say what it is about.
            brought: What was sent beside the arguments, and the caller's attributes.
            same: Whether it asks the same question as a call that everybody made.
        """
        if made.outcome != "ok" or identity not in self._indexed:
            return None
        sent = Prose(json.dumps([made.arguments, brought], ensure_ascii=False, default=str))
        result = Result(call=replace(made, arguments=asked))
        found = [
            secret
            for secret in {
                id(one): one for one in self._given_in(identity, result, same=same)
            }.values()
            if not sent.holds(secret.value)
        ]
        if not found:
            return None
        fields = dict.fromkeys(secret.leaf.path or secret.leaf.name for secret in found)
        givers = dict.fromkeys(giver for secret in found for giver in secret.givers)
        return Gain(tuple(fields), tuple(givers))

    def _given_in(self, identity: str, result: Result, *, same: bool) -> Iterator[WithheldValue]:
        """Yield what is withheld and stands in ``result``."""
        secrets = self._indexed[identity]
        unsure: list[WithheldValue] = []
        for leaf in result.leaves:
            value = value_of(leaf.value)
            for siblings in () if value is None else secrets.of(value):
                for secret in siblings.all:
                    sure = _is_the_same(secret, leaf, result)
                    if sure or (sure is None and same):
                        yield secret
                    elif sure is None:
                        unsure.append(secret)
        yield from self._whole(identity, unsure)
        if result.is_prose:
            for secret in secrets.told_in(Prose(result.call.text)):
                agrees = same_thing(secret.answered.asked, result.asked, "")
                if secret.tool == result.call.tool and (agrees or (same and agrees is None)):
                    yield secret

    def _whole(self, identity: str, found: Sequence[WithheldValue]) -> Iterator[WithheldValue]:
        """Yield those of ``found`` that are all that is withheld of one answer.

        Two records may share a value; that they share all is no coincidence.
        """
        by_answer: dict[int, dict[int, WithheldValue]] = {}
        for secret in found:
            by_answer.setdefault(id(secret.answered), {})[id(secret)] = secret
        for own in by_answer.values():
            answered = next(iter(own.values())).answered
            telling = {
                id(secret)
                for secret in self._of[identity]
                if secret.answered is answered and secret.value.grade > 0
            }
            if len(telling) > 1 and telling <= own.keys():
                yield from own.values()


def _is_the_same(secret: WithheldValue, leaf: Leaf, result: Result) -> bool | None:
    """Whether a field with a secret's value is that secret; ``None`` where no id tells."""
    record = same_thing(secret.leaf.record, leaf.record, except_for=leaf.name)
    if record is False:
        return False
    if secret.tool != result.call.tool:
        # Who may not list a row may not get it by its id either.
        is_row = secret.reach == "call" and secret.kept == "left out"
        return is_row and record is True and akin(secret.leaf.name, leaf.name)
    if fold(leaf.name) != fold(secret.leaf.name):
        return False
    if record:
        return True
    asked = same_thing(secret.answered.asked, result.asked, except_for=leaf.name)
    return asked if secret.value.grade > 0 else False


def _rows(result: Result, path: str) -> int:
    return len({id(leaf.record) for leaf in result.leaves if leaf.path.startswith(path)})


def _is_paging(leaf: Leaf) -> bool:
    name = "".join(filter(str.isalpha, fold(leaf.name)))
    return bool(leaf.value) and any(name.endswith(word) for word in _PAGING)
