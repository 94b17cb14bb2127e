"""How long the pages take to read: ``python -m tests.docs.reading`` prints it.

A reader follows links: each step of a job is a page, a part of it (``page#heading``) or its head
(``page^``: what stands before its first part), and an earlier step leads there.
"""

from __future__ import annotations

import posixpath
import re
import sys

from docs.site.pages import ROOT, pages

WORDS_A_MINUTE = 220
"""People read technical prose in a foreign language at 200 to 240 words a minute."""
MINUTES = 10
START = "README.md#what-else"
OWN = "README.md#your-own-server-in-five-commands"
PAGES = "docs/overview.md^"
JOBS = {
    "a first run": ("README.md",),
    "a suite of one's own": (
        *(OWN, START, PAGES, "docs/init.md"),
        *("docs/suites.md^", "docs/suites.md#assertions"),
    ),
    "a model and its key": (
        *(OWN, START, PAGES, "docs/models.md^"),
        *("docs/models.md#which-model-runs", "docs/models.md#the-files"),
    ),
    "a job in CI": (START, "docs/ci.md"),
    "a comparison with a gate": (START, "docs/compare.md"),
    "a policy": (START, "docs/policies.md"),
    "better descriptions": (
        *(START, "docs/workbench.md^"),
        "docs/workbench.md#a-worked-example-bad-descriptions-improved-step-by-step",
        "docs/workbench.md#improve-descriptions-and-test-the-improvement",
    ),
    "a dataset in CSV, and a judge": (START, PAGES, "docs/datasets.md", "docs/judge.md"),
    "what failed, and why": (
        *(START, PAGES, "docs/reports.md#terminal", "docs/reports.md#the-html-report"),
        "docs/troubleshooting.md#a-case-fails",
    ),
    "a server over HTTP with tokens": (
        *(START, PAGES, "docs/servers.md^"),
        "docs/servers.md#a-server-that-harness-starts-over-http",
        "docs/identity.md#bearer-tokens",
    ),
}
"""What people do most often → what they read for it."""

_HEADING = re.compile(r"^(?P<marks>#+) (?P<words>.*)$", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?P<to>[^)\s#]+)")


def read_step(step: str) -> str:
    """Return the text of a step."""
    page, mark, heading = step.partition("^") if "^" in step else step.partition("#")
    text = (ROOT / page).read_text("utf-8")
    parts = _list_headings(text)
    if mark == "^":
        return text[: parts[1][1]] if len(parts) > 1 else text
    if not heading:
        return text
    at = next(place for place, part in enumerate(parts) if part[2] == heading)
    level, begin, _ = parts[at]
    ends = [part[1] for part in parts[at + 1 :] if part[0] <= level]
    return text[begin : ends[0] if ends else len(text)]


def _list_headings(text: str) -> list[tuple[int, int, str]]:
    """Return level, place and link name of each heading; a listing has none."""
    prose = _CODE.sub(lambda code: re.sub(r"#", " ", code[0]), text)
    return [
        (
            len(found["marks"]),
            found.start(),
            re.sub(r"[^\w\- ]", "", found["words"].lower()).replace(" ", "-"),
        )
        for found in _HEADING.finditer(prose)
    ]


def count_words(text: str) -> int:
    """Return the number of words, those of listings included."""
    return len(text.split())


def count_minutes(job: str) -> float:
    """Return how long the steps of a job take to read."""
    return sum(count_words(read_step(step)) for step in JOBS[job]) / WORDS_A_MINUTE


def list_unreached(job: str) -> list[str]:
    """Return the steps of a job to whose page no earlier step leads."""
    reached = {"README.md"}
    unreached = []
    for step in JOBS[job]:
        page = re.split(r"[#^]", step)[0]
        if page not in reached:
            unreached.append(step)
        folder = posixpath.dirname(page)
        reached |= {
            posixpath.normpath(posixpath.join(folder, link["to"]))
            for link in _LINK.finditer(read_step(step))
        }
    return unreached


def count_pages() -> dict[str, int]:
    """Return the words of each page that people write."""
    return {page: count_words((ROOT / page).read_text("utf-8")) for page in pages()}


if __name__ == "__main__":
    counts = count_pages()
    for name, words in sorted(counts.items(), key=lambda one: -one[1]):
        sys.stdout.write(f"{words:7,}  {name}\n")
    sys.stdout.write(f"{sum(counts.values()):7,}  in all\n\n")
    for name in JOBS:
        sys.stdout.write(f"{count_minutes(name):5.1f} min  {name}\n")
