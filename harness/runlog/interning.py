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
_VALUES = ("suite", "model", "axes", "waited_s", "started_at", "finished_at", "events_digest")
"""Fields that many results have in common, of different cases, too."""
MOST_KNOWN = 20_000
"""Values that are remembered at a time: about 5 MB."""
_LONGEST = 200
"""Characters of a text, and parts of a value, beyond which it is not looked for: it is rare."""
_DEEPEST = 12
"""Levels of a value below which nothing is looked for."""


class ResultInterner:
    """Remembers one result of each case, and the values seen last."""

    def __init__(self) -> None:
        """Start without any."""
        self._first: dict[tuple[str, str], TrialResult] = {}
        self._values = ValueInterner()

    def intern_result(self, result: TrialResult) -> TrialResult:
        """Return ``result``, just read and known to nobody else, with the parts of an equal one."""
        first = self._first.setdefault((result.suite, result.case.name), result)
        for part in _PARTS:
            known, own = getattr(first, part), getattr(result, part)
            # 1, 1.0 and true are equal, and written otherwise.
            if first is result or known != own or repr(known) != repr(own):
                known = self._values.intern_value(own)
            object.__setattr__(result, part, known)  # a copy would take longer
        for name in _VALUES:
            object.__setattr__(result, name, self._values.intern_value(getattr(result, name)))
        return result


class ValueInterner:
    """Remembers values by what they are made of, each part being one of those remembered.

    Whatever is remembered holds its own parts, so that an id in its key stays that of the part.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[Any, Any] = {}

    def intern_value(self, value: Any, depth: int = 0) -> Any:
        """Return ``value`` or what was read before and is written in the same way."""
        kind = type(value)
        if kind is int or kind is float:
            # 0.0 and -0.0 are equal, and written otherwise.
            return self._intern_entry((kind, value or repr(value)), value)
        is_long = kind in (str, dict, tuple, list) and len(value) > _LONGEST
        if is_long or (depth > _DEEPEST and kind is not str):
            return value
        if kind is str:
            return self._intern_entry(value, value)
        # A new one, made of the remembered parts: only of these are the ids known.
        if kind is dict:
            own = {self.intern_value(k): self.intern_value(v, depth + 1) for k, v in value.items()}
            return self._intern_entry((dict, *map(id, own), *map(id, own.values())), own)
        if kind is tuple or kind is list:
            array = kind(self.intern_value(part, depth + 1) for part in value)
            return self._intern_entry((kind, *map(id, array)), array)
        # `True`, `None` and the like exist once already.
        return self._intern_facts(value, depth) if is_dataclass(kind) else value

    def _intern_facts(self, value: Any, depth: int) -> Any:
        """Return a dataclass; it was just read, and nobody else has it yet."""
        kind: Any = type(value)
        parts = []
        for name in _list_fields(kind):
            part = self.intern_value(getattr(value, name), depth + 1)
            object.__setattr__(value, name, part)
            parts.append(id(part))
        return self._intern_entry((kind, *parts), value)

    def _intern_entry(self, key: Any, value: Any) -> Any:
        if len(self._known) > MOST_KNOWN:
            self._known = {}  # what is frequent is soon there again
        return self._known.setdefault(key, value)


@cache
def _list_fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
