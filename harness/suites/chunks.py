"""Splits a long text into chunks, at natural breaks."""

from __future__ import annotations

_BREAKS = ("\n\n", "\n", ". ", " ")
"""Where a text may be split, best first: between paragraphs, lines, sentences, words."""


def split_into_chunks(text: str, size: int) -> tuple[str, ...]:
    """Return ``text`` in chunks of at most ``size`` characters, without white space around them.

    A chunk ends at the last paragraph break in its second half, else at the last line, sentence or
    word break there. A longer word is split. Only white space is dropped.
    """
    pieces: list[str] = []
    begins = 0
    while begins < len(text):
        ends = _find_chunk_end(text, begins, size)
        if piece := text[begins:ends].strip():
            pieces.append(piece)
        begins = ends
    return tuple(pieces)


def _find_chunk_end(text: str, begins: int, size: int) -> int:
    if len(text) - begins <= size:
        return len(text)
    for mark in _BREAKS:
        found = text.rfind(mark, begins + size // 2, begins + size)
        if found > begins:
            return found + len(mark)
    return begins + size
