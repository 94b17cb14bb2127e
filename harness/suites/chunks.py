"""A long text in pieces, cut where people would cut it."""

from __future__ import annotations

_BREAKS = ("\n\n", "\n", ". ", " ")
"""Where a text may be cut, the best first: between paragraphs, lines, sentences, words."""


def chunks_of(text: str, size: int) -> tuple[str, ...]:
    """Return ``text`` in pieces of at most ``size`` characters, without the white space around them.

    A piece ends at the last paragraph in its second half; without one at the last line, sentence or
    word there, and a run of letters that is longer is cut within. Nothing but white space is lost.
    """
    pieces: list[str] = []
    begins = 0
    while begins < len(text):
        ends = _end(text, begins, size)
        if piece := text[begins:ends].strip():
            pieces.append(piece)
        begins = ends
    return tuple(pieces)


def _end(text: str, begins: int, size: int) -> int:
    if len(text) - begins <= size:
        return len(text)
    for mark in _BREAKS:
        found = text.rfind(mark, begins + size // 2, begins + size)
        if found > begins:
            return found + len(mark)
    return begins + size
