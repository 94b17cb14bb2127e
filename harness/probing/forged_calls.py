"""Calls whose arguments or metadata are forged to get what is withheld, in which order, how many.

A forged call is made by one of the suite's own identities. What counts as a gain is what
`harness.probing.gains` says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import Literal, TypeAlias

from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.safe_text import shorten
from harness.types import JsonObject

MOST_FORGED = 1_000
"""Forged calls of one probe, those left out that only confirm a gain."""
_META_CHARS = 60

Forgery: TypeAlias = Literal["identity", "arguments"]
"""What is forged: ``identity``, another's attributes are added to a call; ``arguments``, they are
bent to get more, or the call is repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedCall:
    """A call of a caller, and how it differs from one that everybody makes."""

    caller: ProbeCaller
    """Who makes it."""
    base: ProbeCall
    """The call that everybody makes."""
    kind: Forgery
    """What is forged."""
    words: str
    """How it differs, in words: ``with 'role' of admin in the arguments``."""
    arguments: JsonObject
    """What is sent."""
    meta: JsonObject = field(default_factory=dict)
    """Entries that are added to ``_meta`` of the request."""
    asked: JsonObject | None = None
    """Those of the arguments that say what it is about; ``None``: all of `base`."""
    same: bool = True
    """Whether it asks the same question as `base`, so that any withheld value in its answer is one
    of that question."""
    times: int = 1
    """How often it is made; the last answer counts."""

    @property
    def call(self) -> ProbeCall:
        """The call as it is sent."""
        return ProbeCall(tool=self.base.tool, arguments=self.arguments, changes=self.base.changes)

    @property
    def label(self) -> str:
        """What tables call it."""
        if self.times > 1:
            return f"{self.call.label} ×{self.times}"
        if not self.meta:
            return self.call.label
        meta = json.dumps(dict(self.meta), ensure_ascii=False)
        return f"{self.call.label} _meta={shorten(meta, _META_CHARS)}"


def within_bounds(forged: Sequence[ForgedCall]) -> Sequence[ForgedCall]:
    """Return the first of ``forged`` that come to no more than `MOST_FORGED` calls."""
    sums = accumulate(one.times for one in forged)
    return [one for one, calls in zip(forged, sums, strict=True) if calls <= MOST_FORGED]


def in_turns(each: Iterable[Iterator[ForgedCall]]) -> list[ForgedCall]:
    """Return the first of all, then the second of all …, so that none is left out for another."""
    return [one for together in zip_longest(*each) for one in together if one is not None]


def by_caller(forged: Sequence[ForgedCall]) -> Mapping[str, list[ForgedCall]]:
    """Return the calls of each caller, by name."""
    found: dict[str, list[ForgedCall]] = {}
    for one in forged:
        found.setdefault(one.caller.name, []).append(one)
    return found
