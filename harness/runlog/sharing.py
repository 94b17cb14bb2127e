"""Equal parts of results as one object: the trials of a case mostly differ in little.

A result takes 2.4 kB of memory, most of it for its case's facts, its checks and its counts. A log
of many repeats holds these once for each case in place of once for each trial. What is left are
names, counts and expectations that many cases have in common: these are held once for many cases.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from harness.types import TrialResult

_PARTS = ("case", "checks", "usage", "judge_usage", "user_usage", "judgements", "outcomes")
_VALUES = ("suite", "model", "waited_s", "started_at", "finished_at", "events_digest")
"""Fields that many results have in common, of different cases, too."""
MOST_KNOWN = 20_000
"""Values that are remembered at a time: about 5 MB."""
_LONGEST = 200
"""Characters of a text, and parts of a value, beyond which it is not looked for: it is rare."""
_DEEPEST = 12
"""Levels of a value below which nothing is looked for."""


class Sharing:
    """Remembers one result of each case, and the values seen last."""

    def __init__(self) -> None:
        """Start without any."""
        self._first: dict[tuple[str, str], TrialResult] = {}
        self._values = Values()

    def among(self, result: TrialResult) -> TrialResult:
        """Return ``result``, just read and known to nobody else, with the parts of an equal one."""
        first = self._first.setdefault((result.suite, result.case.name), result)
        for part in _PARTS:
            known, own = getattr(first, part), getattr(result, part)
            # 1, 1.0 and true are equal, and written otherwise.
            if first is result or known != own or repr(known) != repr(own):
                known = self._values.known(own)
            object.__setattr__(result, part, known)  # a copy would take longer
        for name in _VALUES:
            object.__setattr__(result, name, self._values.known(getattr(result, name)))
        return result


class Values:
    """Remembers values by what they are made of, each part being one of those remembered.

    Whatever is remembered holds its own parts, so that an id in its key stays that of the part.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[Any, Any] = {}

    def known(self, value: Any, depth: int = 0) -> Any:
        """Return ``value`` or what was read before and is written in the same way."""
        kind = type(value)
        if kind is str:
            return value if len(value) > _LONGEST else self._one(value, value)
        if kind is int or kind is float:
            # 0.0 and -0.0 are equal, and written otherwise.
            return self._one((kind, value or repr(value)), value)
        return value if depth > _DEEPEST else self._of_parts(value, kind, depth)

    def _of_parts(self, value: Any, kind: type, depth: int) -> Any:
        if kind is dict:
            return self._of_object(value, depth)
        if kind is tuple or kind is list:
            return self._of_array(value, depth)
        return self._of_facts(value, depth) if is_dataclass(kind) else value

    def _of_object(self, value: dict[Any, Any], depth: int) -> Any:
        if len(value) > _LONGEST:
            return value
        own = {self.known(key): self.known(part, depth + 1) for key, part in value.items()}
        return self._one((dict, *map(id, own), *map(id, own.values())), own)

    def _of_array(self, value: tuple[Any, ...] | list[Any], depth: int) -> Any:
        if len(value) > _LONGEST:
            return value
        kind = type(value)
        own = kind(self.known(part, depth + 1) for part in value)
        return self._one((kind, *map(id, own)), own)

    def _of_facts(self, value: Any, depth: int) -> Any:
        """Return a dataclass; it was just read, and nobody else has it yet."""
        kind: Any = type(value)
        parts = []
        for name in _fields(kind):
            part = self.known(getattr(value, name), depth + 1)
            object.__setattr__(value, name, part)
            parts.append(id(part))
        return self._one((kind, *parts), value)

    def _one(self, key: Any, value: Any) -> Any:
        if len(self._known) > MOST_KNOWN:
            self._known = {}  # what is frequent is soon there again
        return self._known.setdefault(key, value)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))
