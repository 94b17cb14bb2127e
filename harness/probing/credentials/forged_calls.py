"""Forged calls: calls whose arguments or metadata are forged to get withheld data; their order.

A forged call is made as one of the suite's own identities. `harness.probing.gains` defines what
counts as a gain.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import Literal, TypeAlias

from harness.base import shorten_text
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.sessions import RequestAdditions
from harness.types import JsonObject

MOST_FORGED = 2_000
"""Maximum number of forged calls of one probe, not counting those that confirm a gain."""
MOST_RISKY = 600
"""The same for calls on which a simple server may end."""
_META_CHARS = 60

Forgery: TypeAlias = Literal["identity", "arguments", "request"]
"""``identity``: another identity's attributes are added to a call. ``arguments``: the arguments are
tampered with, or the call is repeated. ``request``: a resource, a prompt or a completion is asked
for, so that there is no regular call to compare with (`harness.probing.requests`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedCall:
    """A forged variant of a regular call."""

    caller: ProbeCaller
    """The caller."""
    base: ProbeCall
    """The regular call."""
    kind: Forgery
    """The kind of forgery."""
    words: str
    """The difference in words: ``with 'role' of admin in the arguments``."""
    arguments: JsonObject
    """The arguments that are sent."""
    meta: JsonObject = field(default_factory=dict)
    """Entries that are added to ``_meta`` of the request."""
    asked: JsonObject | None = None
    """Those arguments that identify the requested record; ``None``: all arguments of `base`."""
    same: bool = True
    """Whether it requests the same record as `base`, so that a withheld value in its answer belongs
    to that record."""
    times: int = 1
    """Number of repetitions; any of the answers counts."""
    additions: RequestAdditions = field(default_factory=RequestAdditions)
    """What each HTTP request has meanwhile, beside the caller's identity."""
    brought: JsonObject = field(default_factory=dict)
    """What these additions say of somebody, without tokens."""
    tool: str | None = None
    """Another name under which the tool is called; ``None``: its own."""
    is_risky: bool = False
    """Whether a simple server may end on it, so that it is made in a process of its own."""

    @property
    def call(self) -> ProbeCall:
        """The call as it is sent."""
        name = self.tool or self.base.tool
        return ProbeCall(tool=name, arguments=self.arguments, changes=self.base.changes)

    @property
    def label(self) -> str:
        """Its name in tables."""
        if self.times > 1:
            return f"{self.call.label} ×{self.times}"
        if not self.meta:
            return self.call.label
        meta = json.dumps(dict(self.meta), ensure_ascii=False)
        return f"{self.call.label} _meta={shorten_text(meta, _META_CHARS)}"


def within_bounds(forged: Sequence[ForgedCall], most: int = MOST_FORGED) -> Sequence[ForgedCall]:
    """Return the first of ``forged``, up to ``most`` calls including repetitions."""
    # A repeated call counts as often as it is made.
    sums = accumulate(one.times for one in forged)
    return [one for one, calls in zip(forged, sums, strict=True) if calls <= most]


def interleave_calls(each: Iterable[Iterator[ForgedCall]]) -> list[ForgedCall]:
    """Return the first call of each iterator, then the second of each, and so on (round robin)."""
    return [one for together in zip_longest(*each) for one in together if one is not None]


def group_by_caller(forged: Sequence[ForgedCall]) -> Mapping[str, list[ForgedCall]]:
    """Return the calls of each caller, by name."""
    found: dict[str, list[ForgedCall]] = {}
    for one in forged:
        found.setdefault(one.caller.name, []).append(one)
    return found
