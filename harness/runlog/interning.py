"""Equal parts of results as one object, in memory and in rows: trials of a case differ in little.

A result takes 2.4 kB of memory, most of it for its case's facts, its checks and its counts. A log
of many repeats holds these once for each case in place of once for each trial. What is left are
names, counts and expectations that many cases have in common: these are held once for many cases.
"""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeAlias

from harness.types import CaseFacts, TrialResult

_SHARED_PARTS = ("case", "checks", "usage", "judge_usage", "user_usage", "judgements", "outcomes")
_SHARED_VALUES = (
    "suite",
    "model",
    "axes",
    "waited_s",
    "started_at",
    "finished_at",
    "events_digest",
)
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
        for part in _SHARED_PARTS:
            known, own = getattr(first, part), getattr(result, part)
            # 1, 1.0 and true are equal, and written otherwise.
            if first is result or known != own or repr(known) != repr(own):
                known = self._values.intern_value(own)
            object.__setattr__(result, part, known)  # a copy would take longer
        for name in _SHARED_VALUES:
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


Row: TypeAlias = tuple[Any, ...]
"""The number of the case, the values of `_PARTS` as bytes, then those of `_PLAIN`."""

_PARTS = ("checks", "error", "usage", "judge_usage", "user_usage", "judgements", "outcomes")
"""Fields that are made of several values, and often equal for several trials."""
_PLAIN = tuple(field.name for field in fields(TrialResult) if field.name not in {"case", *_PARTS})
_parts = attrgetter(*_PARTS)
_plain = attrgetter(*_PLAIN)
_SLOTS = vars(TrialResult)
_set_case = _SLOTS["case"].__set__
_SET_PARTS = tuple(_SLOTS[name].__set__ for name in _PARTS)
_SET_PLAIN = tuple(_SLOTS[name].__set__ for name in _PLAIN)
"""A result is made for each trial of each pass, and `__init__` takes three times as long."""
_MOST_KNOWN = 5_000
"""Parts that are remembered at a time: about 5 MB."""


class ResultPacker:
    """Turns results into rows and back; the one that made a row must read it."""

    def __init__(self) -> None:
        """Start without any case."""
        self._cases: list[CaseFacts] = []
        self._numbers: dict[int, int] = {}
        """id of a case → its number; the list keeps the case, so that the id stays its own."""
        self._shared = ValueInterner()
        """Values that cases have in common."""
        self._digests: dict[bytes, int] = {}
        """Digest of a case → the number of an equal one."""
        self._bytes: dict[int, tuple[Any, bytes]] = {}
        """id of a part → the part, which keeps the id its own, and its bytes."""
        self._values: dict[bytes, Any] = {}
        """Bytes → the part."""

    def pack_row(self, result: TrialResult) -> Row:
        """Return ``result`` as a row."""
        return (
            self._number_case(result.case),
            [*map(self._pack_part, _parts(result))],
            *_plain(result),
        )

    def unpack_row(self, row: Row) -> TrialResult:
        """Return the result that ``row`` was made from."""
        number, parts, *plain = row
        # The class is frozen, so its slots are set by their descriptors.
        result = TrialResult.__new__(TrialResult)
        _set_case(result, self._cases[number])
        for set_value, part in zip(_SET_PARTS, parts, strict=True):
            set_value(result, None if part is None else self._unpack_part(part))
        for set_value, value in zip(_SET_PLAIN, plain, strict=True):
            set_value(result, value)
        return result

    def _number_case(self, case: CaseFacts) -> int:
        """Return the number of ``case``, or of one that is written in the same way."""
        number = self._numbers.get(id(case))
        if number is None:
            # By digest: the facts of a case are another object in each trial that is read.
            digest = blake2b(pack_value(case), digest_size=16).digest()
            number = self._digests.setdefault(digest, len(self._cases))
            if number == len(self._cases):
                self._cases.append(self._shared.intern_value(case))
                self._numbers[id(self._cases[-1])] = number
        return number

    def _pack_part(self, part: Any) -> bytes | None:
        if part is None:
            return None
        known = self._bytes.get(id(part))
        return self._remember_part(part, pack_value(part)) if known is None else known[1]

    def _unpack_part(self, data: bytes) -> Any:
        known = self._values.get(data)
        if known is None:
            known = unpack_value(data)
            self._remember_part(known, data)
        return known

    def _remember_part(self, part: Any, data: bytes) -> bytes:
        if len(self._bytes) >= _MOST_KNOWN:
            self._bytes, self._values = {}, {}  # what is frequent is soon there again
        self._bytes[id(part)] = part, data
        self._values.setdefault(data, part)
        return data


def pack_value(value: Any) -> bytes:
    """Return ``value`` as bytes; what is the same object in it is written once."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack_value(data: bytes) -> Any:
    """Return what `pack_value` was given; only for bytes of a file that nobody else can open."""
    return pickle.loads(data)  # noqa: S301 - our own, from a file without a name
