"""Every sentence of the pages that says what harness does not support, read or accept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from docs.site.pages import ROOT, pages
from docs.site.reference import PAGES

_SAYS = re.compile(
    r"not supported|unsupported|\b(?:is|are|be) (?:refused|rejected|ignored)\b|\bnot read\b"
    r"|\bnot (?:allowed|accepted|possible)\b|\b(?:does|do) not (?:support|read|know|accept|take)\b"
    r"|\b(?:is|are) (?:all )?(?:an )?errors?\b|\bcannot (?:be \w+|use|define|share)\b"
    r"|\btakes no\b|\bunknown keys?\b|\btakes only\b|\bonly with\b|(?-i:\bOnly the\b)"
    r"|\bcannot express\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`\[*(])")
_ELSEWHERE = frozenset({
    "CONTRIBUTING.md", "CHANGELOG.md",
    # What was measured and what is shown by which test.
    "docs/architecture.md", "docs/performance.md", "docs/planted_faults.md", "docs/reliability.md",
    "reference/messages.md",  # the messages themselves
})  # fmt: skip


@cache
def limits() -> tuple[tuple[str, str], ...]:
    """Return each page with each of its sentences that say so; a row of a table is one."""
    return tuple(
        (page, sentence)
        for page, text in _iterate_pages()
        if page not in _ELSEWHERE
        for sentence in sentences(text)
        if rules_out(sentence)
    )


def rules_out(sentence: str) -> bool:
    """Return whether a sentence may say that something is not taken."""
    return _SAYS.search(sentence) is not None


def _iterate_pages() -> Iterator[tuple[str, str]]:
    for page in pages():
        yield page, (ROOT / page).read_text("utf-8")
    # Help texts, docstrings of what can be imported, keys and checks.
    for page, write in PAGES.items():
        yield page, write()


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page in Markdown, without its listings."""
    for block in _BLOCK.split(_CODE.sub("", text)):
        line = " ".join(block.split())
        yield from [line] if line.startswith("|") else _SENTENCE.split(line)
