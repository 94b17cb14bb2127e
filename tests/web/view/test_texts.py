"""What was said is packed, and found again wherever a log has it, and nowhere else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.reports.viewer.text_search import find_words
from harness.web.run_view import ensure_view
from harness.web.view import texts
from harness.web.view.tables import CREATED
from harness.web.view.texts import Packer, search_texts
from tests.reports.sample_logs import HOSTILE, a_hostile_log
from tests.reports.viewer.test_text_search import a_log_with_frames


def nothing() -> None:
    """Go on."""


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as one:
        one.execute(next(sql for sql in CREATED if "texts" in sql))
        yield one


def test_a_word_is_found_in_each_text_that_has_it_and_never_across_two(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "PORTION", 12)  # two portions
    packer = Packer(db)
    for number, said in enumerate(("an apple", "", "le an", "apple, apple", "größe \0 x")):
        packer.add_text(number // 2, 100 + number, said)
    packer.close()
    assert db.execute("SELECT count(*) FROM texts").fetchone() > (1,)
    found = list(search_texts(db, ["apple", "le", "apple\0", "größe", "e \0 x", "pear"], nothing))
    assert found == [
        ("apple", 0, 100), ("le", 0, 100), ("le", 1, 102),
        ("apple", 1, 103), ("le", 1, 103), ("größe", 2, 104), ("e \0 x", 2, 104),
    ]  # fmt: skip


def test_a_search_ends_between_two_portions(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "PORTION", 1)
    packer = Packer(db)
    for number in range(3):
        packer.add_text(number, number, "pear")
    going_on = iter((None, None))  # twice
    search = search_texts(db, ["pear"], lambda: next(going_on))
    found = [next(search), next(search)]
    with pytest.raises(RuntimeError):
        next(search)
    assert found == [("pear", 0, 0), ("pear", 1, 1)]


def test_a_view_finds_what_its_log_has(tmp_path: Path) -> None:
    (tmp_path / "frames").mkdir()
    framed = ["s-81f2", "com.example/tenant", "umeå", "-32602", "tools/call", "refund", "passed"]
    hostile = [text.lower().replace("\ud800", "") for text in HOSTILE]
    for log, words in (
        (a_log_with_frames(tmp_path / "frames").path, framed),
        (a_hostile_log(tmp_path, big=False).path, hostile),
    ):
        found: dict[str, list[int]] = {word: [] for word in words}
        with ensure_view(log).open_database() as view:
            for word, _, at in search_texts(view, words, nothing):
                found[word].append(at)
        assert {word: sorted(ats) for word, ats in found.items()} == find_words(log, words)
        assert any(found.values())
