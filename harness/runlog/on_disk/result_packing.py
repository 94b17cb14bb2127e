"""Results as rows of plain values: what many of them have in common is written and held once."""

from __future__ import annotations

import pickle
from dataclasses import fields
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeAlias

from harness.runlog.interning import ValueInterner
from harness.types import CaseFacts, TrialResult

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
