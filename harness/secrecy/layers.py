"""A text as it can be searched: as it stands, and as up to two encodings make it.

Reading a text takes far longer than searching what was read, and neither depends on the values that
are searched for. Identities are sent the same texts again and again (a list of tools, a refusal),
so short ones that were read last are kept.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.secrecy.decoders import DECODERS, INVERSE, OUTERMOST
from harness.secrecy.normal import Squeezed, normalised

DEEPEST = 2
"""Encodings that are undone one after the other."""
GROWTH = 4
"""All that a text decodes to is at most so many times as long as the text."""
_ROOM = 20_000
"""Characters that a text may decode to in any case."""
_SHORT = 50_000
"""Characters up to which a text that was read is kept."""


class Layer(NamedTuple):
    """What a text holds at one depth of encoding, line by line."""

    plain: str
    """All lines, normalised: the form in which they are searched."""
    kept: str
    """The same with its capitals, as far as it could be kept."""
    hay: Squeezed
    """The letters and digits of `plain`."""
    begins: Sequence[int]
    """Where each line begins in `plain`."""
    lines: Sequence[int]
    """For each line, the number of the line of the text that it comes from."""
    how: Sequence[tuple[str, ...]]
    """For each line, the encodings that were undone, the outermost first."""
    sources: Sequence[str]
    """For each line that was decoded, the characters as they stand in the text."""


class Layers(NamedTuple):
    """Everything that a text can be read as."""

    layers: tuple[Layer, ...]
    """The text itself, and what it decodes to."""
    is_whole: bool
    """Whether everything that may be encoded was decoded."""


def layers_of(text: str) -> Layers:
    """Return ``text`` and what it decodes to."""
    return _read_lately(text) if len(text) <= _SHORT else _read(text)


def _read(text: str) -> Layers:
    lines = range(text.count("\n") + 1)
    raw = _Raw(text, lines, [()] * len(lines), [""] * len(lines))
    layers = [_searchable(raw)]
    room, is_whole = GROWTH * len(text) + _ROOM, True
    for _ in range(DEEPEST):
        raw, fits = _decoded(raw, room)
        is_whole = is_whole and fits
        if not raw.lines:
            break
        layers.append(_searchable(raw))
    return Layers(tuple(layers), is_whole)


_read_lately = lru_cache(maxsize=32)(_read)


class _Raw(NamedTuple):
    """A layer before it is normalised; the fields are those of `Layer`."""

    text: str
    lines: Sequence[int]
    how: Sequence[tuple[str, ...]]
    sources: Sequence[str]


def _searchable(raw: _Raw) -> Layer:
    text, lines, how, sources = raw
    if text.isascii():
        plain, kept = text.lower(), text
    else:
        plain = kept = normalised(text)
    return Layer(plain, kept, Squeezed(plain), _beginnings(plain), lines, how, sources)


def _beginnings(text: str) -> list[int]:
    """Return where each line of ``text`` begins."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _decoded(raw: _Raw, room: int) -> tuple[_Raw, bool]:
    """Return everything that a layer decodes to, and whether all of it fits into ``room``."""
    texts: list[str] = []
    lines: list[int] = []
    hows: list[tuple[str, ...]] = []
    sources: list[str] = []
    begins = _beginnings(raw.text)
    for name, decode in DECODERS.items():
        for stretch in decode(raw.text):
            line = bisect_right(begins, stretch.at) - 1
            before = raw.how[line]
            if name == INVERSE and name in before:
                continue  # twice reversed is what it was
            if before and (name in OUTERMOST or before[-1] in OUTERMOST):
                continue
            room -= 0 if name in OUTERMOST else len(stretch.text)  # those are bounded as it is
            if room < 0:
                return _Raw("\n".join(texts), lines, hows, sources), False
            texts.append(stretch.text.replace("\n", " "))
            lines.append(raw.lines[line])
            hows.append((*before, name))
            sources.append(raw.sources[line] if before else stretch.source)
    return _Raw("\n".join(texts), lines, hows, sources), True
