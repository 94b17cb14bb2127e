"""Decode a text into layers for the search: the plain text, and up to two levels of decoding.

Decoding takes far longer than searching, and does not depend on the values that are searched for.
Identities often get the same texts (a list of tools, a refusal), so the latest short ones are
cached.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.judging.secrecy.decoders import DECODERS, INVERSE, OUTERMOST
from harness.judging.secrecy.normalisation import SqueezedText, normalise_text

DEEPEST = 2
"""Maximum number of nested encodings that are decoded."""
GROWTH = 4
"""Maximum length of all decoded text, as a multiple of the length of the text."""
_ROOM = 20_000
"""Number of decoded characters that are always allowed."""
_SHORT = 50_000
"""Maximum length of a text that is cached."""


class Layer(NamedTuple):
    """The lines of a text at one level of decoding."""

    plain: str
    """All lines, normalised for the search."""
    kept: str
    """The same text with its original case where possible."""
    hay: SqueezedText
    """The letters and digits of `plain`."""
    begins: Sequence[int]
    """Start of each line in `plain`."""
    lines: Sequence[int]
    """For each line, the number of its source line in the text."""
    how: Sequence[tuple[str, ...]]
    """For each line, the decoded encodings, the outermost first."""
    sources: Sequence[str]
    """For each decoded line, its source in the text."""


class Layers(NamedTuple):
    """A text and its decoded forms."""

    layers: tuple[Layer, ...]
    """The text itself, and its decoded forms."""
    is_whole: bool
    """Whether decoding was complete, within the bounds."""


def decode_layers(text: str) -> Layers:
    """Return ``text`` and its decoded forms."""
    return _read_lately(text) if len(text) <= _SHORT else _read_layers(text)


def _read_layers(text: str) -> Layers:
    lines = range(text.count("\n") + 1)
    raw = _RawLayer(text, lines, [()] * len(lines), [""] * len(lines))
    layers = [_build_layer(raw)]
    room, is_whole = GROWTH * len(text) + _ROOM, True
    for _ in range(DEEPEST):
        raw, fits = _decode_layer(raw, room)
        is_whole = is_whole and fits
        if not raw.lines:
            break
        layers.append(_build_layer(raw))
    return Layers(tuple(layers), is_whole)


_read_lately = lru_cache(maxsize=32)(_read_layers)


class _RawLayer(NamedTuple):
    """A layer before it is normalised; the fields are those of `Layer`."""

    text: str
    lines: Sequence[int]
    how: Sequence[tuple[str, ...]]
    sources: Sequence[str]


def _build_layer(raw: _RawLayer) -> Layer:
    text, lines, how, sources = raw
    # Only in ASCII do small letters keep every position, by which `kept` is read.
    if text.isascii():
        plain, kept = text.lower(), text
    else:
        plain = kept = normalise_text(text)
    return Layer(plain, kept, SqueezedText(plain), _line_starts(plain), lines, how, sources)


def _line_starts(text: str) -> list[int]:
    """Return the start of each line of ``text``."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _decode_layer(raw: _RawLayer, room: int) -> tuple[_RawLayer, bool]:
    """Return the decoded forms of a layer, and whether all of them fit into ``room``."""
    texts: list[str] = []
    lines: list[int] = []
    hows: list[tuple[str, ...]] = []
    sources: list[str] = []
    begins = _line_starts(raw.text)
    for name, decode in DECODERS.items():
        for stretch in decode(raw.text):
            line = bisect_right(begins, stretch.at) - 1
            before = raw.how[line]
            if name == INVERSE and name in before:
                continue  # reversing twice gives the original text
            # They fit every line: combined with others, they would double all that is decoded.
            if before and (name in OUTERMOST or before[-1] in OUTERMOST):
                continue
            room -= 0 if name in OUTERMOST else len(stretch.text)  # outermost ones have a bound
            if room < 0:
                return _RawLayer("\n".join(texts), lines, hows, sources), False
            # A line break here would shift the lists that have one entry for each line.
            texts.append(stretch.text.replace("\n", " "))
            lines.append(raw.lines[line])
            hows.append((*before, name))
            # The outermost encoded text is the one that was sent.
            sources.append(raw.sources[line] if before else stretch.source)
    return _RawLayer("\n".join(texts), lines, hows, sources), True
