"""Finds values in texts, as they are and up to two encodings deep, in time linear in the texts.

Every value is known by its letters and digits (`harness.secrecy.normal`). A text is squeezed in the
same way, and at each place where a word begins it takes one look-up to tell whether a value begins
there. So it does not matter how a value is grouped or cased; what may stand between its letters and
digits depends on its kind. The text is then decoded and searched again, twice at most, and within
bounds that `Search.cut` reports when they are reached.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from harness.secrecy.layers import Layer, layers_of
from harness.secrecy.normal import Squeezed
from harness.secrecy.values import Form

Owner = TypeVar("Owner")

LONGEST = 1_000_000
"""Characters of one page that are searched."""
_PREFIX = 5
_SHOWN = 120
_GAP = re.compile(r"[\s,'\"\[\]{}()<>|:;]+")


@dataclass(slots=True)
class Page:
    """A text that is searched, of lines that each stand for one place in what a server sent."""

    name: str = "the text"
    """What it is called where it is said that only a part of it was searched."""
    places: list[str] = field(default_factory=list)
    """Where each line stands: ``result[].login``."""
    lines: list[str] = field(default_factory=list)
    """The lines; none has a line break in it."""

    def add(self, place: str, text: str) -> None:
        """Add a text, which may have several lines."""
        for line in text.split("\n"):
            self.places.append(place)
            self.lines.append(line.replace("\r", " "))


class Found(NamedTuple, Generic[Owner]):
    """A value that stands in a page."""

    owner: Owner
    """Whose value it is."""
    line: int
    """The number of the line, from 0."""
    place: str
    """The place that the line stands for."""
    how: tuple[str, ...]
    """How it had to be decoded, the outermost encoding first; empty if it stands there plainly."""
    source: str
    """The bytes as they were sent."""
    whole: bool
    """Whether nothing else stands on that line."""


class Search(Generic[Owner]):
    """Looks for many values at once."""

    def __init__(self, values: Iterable[tuple[Form, Owner]]) -> None:
        """Index ``values``, each with its owner."""
        self.cut: dict[str, None] = {}
        """Places of which only a part was searched, in words."""
        self._owners: dict[str, list[tuple[Form, Owner]]] = {}
        self._lengths: dict[str, set[int]] = {}
        for form, owner in values:
            self._owners.setdefault(form.squeezed, []).append((form, owner))
            self._lengths.setdefault(form.squeezed[:_PREFIX], set()).add(len(form.squeezed))

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._owners)

    def of(self, page: Page) -> Iterator[Found[Owner]]:
        """Yield every value that stands in ``page``; one that is decoded comes after plain ones."""
        if not self._owners or not page.lines:
            return
        text = "\n".join(page.lines)
        if len(text) > LONGEST:
            self._cut(page, f"only the first {LONGEST:,} characters were searched")
            text = text[:LONGEST]
        read = layers_of(text)
        if not read.is_whole:
            self._cut(page, "only a part of what may be encoded was decoded")
        for layer in read.layers:
            yield from self._in_layer(page, layer)

    def _cut(self, page: Page, what: str) -> None:
        self.cut[f"{page.name}: {what}"] = None

    def _in_layer(self, page: Page, layer: Layer) -> Iterator[Found[Owner]]:
        plain, kept, hay, begins = layer.plain, layer.kept, layer.hay, layer.begins
        for start, length, form, owner in self._matches(hay):
            first, last = hay.span(start, start + length)
            line = bisect_right(begins, first) - 1
            split = bisect_right(begins, last - 1) - 1 > line
            found = plain[first:last]
            if not _may_be(form, found, split=split):
                continue
            number = layer.lines[line]
            how = layer.how[line]
            if not how:
                how = _manner(form, kept[first:last], split=split)
            end = begins[line + 1] - 1 if line + 1 < len(begins) else len(plain)
            whole = not split and Squeezed(plain[begins[line] : end]).squeezed == form.squeezed
            source = layer.sources[line] if layer.how[line] else kept[first:last]
            yield Found(owner, number, page.places[number], how, source[:_SHOWN], whole)

    def _matches(self, hay: Squeezed) -> Iterator[tuple[int, int, Form, Owner]]:
        squeezed, ends = hay.squeezed, hay.ends
        for start in hay.starts:
            lengths = self._lengths.get(squeezed[start : start + _PREFIX])
            for length in lengths or ():
                if start + length in ends:
                    for form, owner in self._owners.get(squeezed[start : start + length], ()):
                        yield start, length, form, owner


def _may_be(form: Form, found: str, *, split: bool) -> bool:
    """Whether a stretch with a value's letters and digits is that value.

    Whatever else stands between the letters of an e-mail address, its ``@`` must be in its place:
    *Ines Okafor, example.com* is a name and a site. Where a value is split, the ``@`` may be gone.
    """
    if split and form.strength == "telling":
        return False
    if form.kind == "email":
        rest = _GAP.sub("", found)
        if split:
            return _bare(rest) == _bare(form.text)
        return rest == form.text or _kept(rest) == _kept(form.text)
    return form.kind != "text" or form.strength == "unmistakable" or not split


def _bare(address: str) -> str:
    return address.replace("@", "")


def _kept(address: str) -> str:
    """Return the letters and digits of an address, and its ``@``."""
    return "".join(one for one in address if one.isalnum() or one == "@")


def _manner(form: Form, found: str, *, split: bool) -> tuple[str, ...]:
    """Return in what a value that needs no decoder differs from the one that is withheld."""
    if split:
        return ("split over neighbouring places",)
    plain = " ".join(found.split())
    if plain.lower() == form.text:
        return ()
    return ("grouped differently",) if form.kind == "digits" else ("with other signs between",)
