"""Every page begins with a command, and the command works in an empty folder."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from docs.site.pages import ROOT, pages
from docs.site.reference import PAGES
from harness.judging.exit_codes import EXIT_FAILED, EXIT_INVALID
from tests.docs.snippets import typed
from tests.docs.walkthrough import PAID

_LISTING = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
ELSEWHERE = {
    "CHANGELOG.md": "a list",
    "CONTRIBUTING.md": "for a checkout",
    "README.md": "for a checkout: a clone of it",
    "docs/architecture.md": "for a checkout: tests/test_figures.py",
    "docs/engines.md": "installs Ray: tests/end_to_end/engines",
    "docs/leaderboards.md": "fetches data from the package index: tests/base/fetching",
    "docs/performance.md": "for a checkout",
    "docs/planted_faults.md": "for a checkout",
    "docs/policies.md": "builds a project: tests/end_to_end/policies/test_policies_page.py",
    "docs/recipes.md": "installs other people's servers: tests/end_to_end/policies/test_recipes.py",
    "docs/reliability.md": "for a checkout",
    "docs/statistics_checked.md": "for a checkout",
    "docs/tau2.md": "fetches data from the package index: tests/base/fetching",
    "docs/tutorial/index.md": "tests/docs/test_walkthroughs.py follows all of it",
    "docs/web.md": "installs the page and serves until it is stopped: tests/web",
}
"""Page → why its first listing is not run here."""
ENDS = {
    "docs/checks.md": EXIT_FAILED,  # its case fails on purpose
    "docs/conversations.md": EXIT_FAILED,  # the baseline does not answer everything
    "docs/datasets.md": EXIT_FAILED,  # likewise
    "docs/faults.md": EXIT_FAILED,  # a model that gets no answer from the server cannot answer
    "docs/memory.md": EXIT_FAILED,  # the baseline does not answer everything
    "reference/messages.md": EXIT_INVALID,  # it shows a message
}
"""Page → exit code of the last command of its first listing, if it is not 0."""


HERE = sorted({*pages(), *PAGES} - ELSEWHERE.keys())


@cache
def text_of(page: str) -> str:
    return PAGES[page]() if page in PAGES else (ROOT / page).read_text("utf-8")


def first_listing(text: str) -> tuple[str, str]:
    """Return language and text of what stands right below the title of a page, if anything."""
    title, _, rest = text.partition("\n\n")
    assert title.startswith("# ")
    found = _LISTING.match(rest)
    return (found["language"], found["text"]) if found else ("", "")


@pytest.mark.parametrize("page", HERE)
def test_a_page_begins_with_a_command_that_costs_nothing(page: str) -> None:
    language, text = first_listing(text_of(page))
    assert language in ("sh", "console", "python")
    assert not PAID.search(text.replace("--judge-model gpt-4o --dry-run", ""))


@pytest.mark.slow
@pytest.mark.parametrize("page", HERE)
def test_the_command_at_the_beginning_of_a_page_works(
    page: str, tmp_path: Path, programs: Path
) -> None:
    language, text = first_listing(text_of(page))
    if language == "console":
        text = "\n".join(typed(text))
    done = subprocess.run(
        [sys.executable, "-c", text] if language == "python" else ["bash", "-c", text],
        cwd=tmp_path,
        env={
            "PATH": f"{programs}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path),
            "BROWSER": "true",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == ENDS.get(page, 0), done.stdout
    assert "Traceback" not in done.stdout
    assert "Nothing to run" not in done.stdout


def test_every_exception_is_of_a_page_and_names_tests_that_exist() -> None:
    assert [page for page in (*ELSEWHERE, *ENDS) if page not in {*pages(), *PAGES}] == []
    named = [path for why in ELSEWHERE.values() for path in re.findall(r"tests/[\w/.]+", why)]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_listing_below_other_text_is_no_beginning() -> None:
    assert first_listing("# A\n\nText.\n\n```sh\nls\n```\n") == ("", "")
    assert first_listing("# A\n\n```sh\nls\n```\n") == ("sh", "ls\n")
