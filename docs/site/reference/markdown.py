"""Markdown from plain text and from docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_<>|\[\]])")
_CODE = re.compile(r"``(.+?)``|`([^`]+)`")


def plain(text: str) -> str:
    """Return ``text`` on one line so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def from_docstring(text: str) -> str:
    """Return a paragraph of a docstring on one line: code stays code, all else is plain."""
    parts: list[str] = []
    rest = 0
    for code in _CODE.finditer(text):
        said = " ".join((code[1] or code[2]).split())
        parts += [_SPECIAL.sub(r"\\\1", text[rest : code.start()]), as_code(said)]
        rest = code.end()
    return " ".join("".join([*parts, _SPECIAL.sub(r"\\\1", text[rest:])]).split())


def as_code(text: str) -> str:
    """Return ``text`` as code within a paragraph or a cell of a table."""
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or nothing if there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines, ""]) * bool(
        lines
    )


def fenced(language: str, text: str) -> str:
    """Return a listing."""
    return f"```{language}\n{text.strip()}\n```\n"
