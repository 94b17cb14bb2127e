"""Writes the tables of ``docs/checks.md``: ``python -m tests.judging.checks.write_docs``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.judging.checks.kind import CheckDoc
from harness.judging.checks.registry import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "checks.md"
_MARKED = re.compile(
    r"(?P<begin><!-- checks: (?P<section>[^>]+) -->\n).*?(?P<end><!-- end of checks -->)", re.DOTALL
)


def documentation() -> dict[str, CheckDoc]:
    """Return what each check says of itself, by name, in the order of the checks."""
    docs = {name: KINDS.get(name).doc for name in KINDS.built_in_names}
    return {name: doc for name, doc in docs.items() if doc is not None}


def written(page: str, docs: Mapping[str, CheckDoc]) -> str:
    """Return ``page`` with the table and the examples of each section between its markers."""

    def section(marked: re.Match[str]) -> str:
        own = {name: doc for name, doc in docs.items() if doc.section == marked["section"]}
        return f"{marked['begin']}\n{_table(own)}\n{_examples(own)}\n{marked['end']}"

    return _MARKED.sub(section, page)


def sections(page: str) -> set[str]:
    """Return the sections that have markers in ``page``."""
    return {marked["section"] for marked in _MARKED.finditer(page)}


def _table(docs: Mapping[str, CheckDoc]) -> str:
    head = "| check | what it asks | a failure begins with |\n|---|---|---|\n"
    rows = (
        f"| `{name}` | {doc.asks} | {' · '.join(f'`{text}`' for text in doc.fails)} |\n"
        for name, doc in docs.items()
    )
    return head + "".join(rows)


def _examples(docs: Mapping[str, CheckDoc]) -> str:
    lines = [line.split("  # ") for doc in docs.values() for line in doc.example.split("\n")]
    width = max((len(value) for value, *comment in lines if comment), default=0)
    shown = [f"{value:{width}}  # {comment[0]}" if comment else value for value, *comment in lines]
    return "```yaml\n" + "\n".join(shown) + "\n```\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), documentation()), "utf-8")
