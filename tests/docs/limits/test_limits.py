"""What the pages say is not supported is refused, with its place and what was meant."""

from __future__ import annotations

import shlex
from itertools import chain
from pathlib import Path

import pytest

from docs.site.pages import ROOT
from tests.docs.limits.fed import OF_CHECKS, OF_SUITES, SUITE, Feed, configure, suite
from tests.docs.limits.fed_elsewhere import FEEDS
from tests.docs.limits.sentences import limits, rules_out, sentences
from tests.docs.limits.shown import NO_LIMITS, SHOWN
from tests.end_to_end.harness_process import Project
from tests.leaderboards.bfcl.small_release import write_release

ALL = (*OF_CHECKS, *OF_SUITES, *FEEDS)
KNOWN = (*(feed.words for feed in ALL), *SHOWN, *chain.from_iterable(NO_LIMITS.values()))


@pytest.mark.slow
@pytest.mark.parametrize("feed", ALL, ids=[f"{feed.words[:40]}: {feed.says[-1]}" for feed in ALL])
def test_what_a_sentence_rules_out_is_refused_in_words(tmp_path: Path, feed: Feed) -> None:
    project = Project(tmp_path, {"HARNESS_CACHE": str(tmp_path / "cache")})
    if feed.command.startswith("evals bfcl"):
        write_release(tmp_path / "cache")
    for name, content in {"harness.yml": configure(), SUITE: suite(), **feed.files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    finished = project.run(*shlex.split(feed.command), **feed.env)
    said = f"{finished.stdout}\n{finished.stderr}"
    assert finished.code == feed.code, said
    assert [words for words in feed.says if words not in said] == [], said
    assert "Traceback" not in said
    # Refused before anything ran, but for what only a running server or program shows.
    if feed.code == 3 and "written" not in feed.words:
        assert [*tmp_path.rglob(".harness/runs/*/log.jsonl")] == []


@pytest.mark.slow  # it makes the pages of the reference
def test_each_sentence_that_rules_something_out_is_fed_to_the_program_or_shown_elsewhere() -> None:
    missing = [
        f"{page}: {sentence}"
        for page, sentence in limits()
        if not any(words in sentence for words in KNOWN)
    ]
    assert missing == []


@pytest.mark.slow
def test_no_row_is_for_a_sentence_that_is_gone() -> None:
    said = [sentence for _, sentence in limits()]
    assert [words for words in KNOWN if not any(words in one for one in said)] == []


def test_the_tests_that_show_a_sentence_exist() -> None:
    for shown in SHOWN.values():
        file, _, name = shown.partition("::")
        assert (ROOT / file).exists(), shown
        assert f"def {name}(" in (ROOT / file).read_text("utf-8") if name else True, shown


@pytest.mark.parametrize(
    "text",
    [
        "Files of Acme are not supported.",
        "| `x` | not allowed |",
        "1. An unknown colour is refused.",
        "Other keys\nare ignored.",
        "The program does not read XML.",
        "Two suns cannot be combined.",
    ],
)
def test_a_new_sentence_would_be_noticed(text: str) -> None:
    assert [one for one in sentences(f"Ordinary.\n\n{text}\n") if rules_out(one)] != []
