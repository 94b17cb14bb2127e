"""What was said is packed, and found again wherever a log has it, and nowhere else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.reports.querying import texts
from harness.reports.querying.log_indexer import PLACES
from harness.reports.querying.texts import TEXTS, Packer, search_texts
from harness.runlog import LogWriter, TrialLine
from tests.reports.querying.support import find_words
from tests.reports.sample_logs import HOSTILE, a_conversation, a_hostile_log, a_log, a_run


def nothing() -> None:
    """Go on."""


def add_trial(db: sqlite3.Connection, at: int) -> None:
    db.execute('INSERT INTO "_places" (trial_id) VALUES (?)', (at,))


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as one:
        one.execute(TEXTS)
        one.execute(PLACES)
        yield one


def test_a_word_is_found_in_each_text_that_has_it_and_never_across_two(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "PORTION", 12)  # two portions
    packer = Packer(db)
    for number, said in enumerate(("an apple", "", "le an", "apple, apple", "größe \0 x")):
        packer.add_text(100 + number, said)
        add_trial(db, 100 + number)
    packer.close()
    assert db.execute("SELECT count(*) FROM _texts").fetchone() > (1,)
    found = list(search_texts(db, ["apple", "le", "apple\0", "größe", "e \0 x", "pear"], nothing))
    assert found == [
        ("apple", 100), ("le", 100), ("le", 102),
        ("apple", 103), ("le", 103), ("größe", 104), ("e \0 x", 104),
    ]  # fmt: skip


def test_a_search_ends_between_two_portions(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "PORTION", 1)
    packer = Packer(db)
    for number in range(3):
        packer.add_text(number, "pear")
        add_trial(db, number)
    going_on = iter((None, None))  # twice
    search = search_texts(db, ["pear"], lambda: next(going_on))
    found = [next(search), next(search)]
    with pytest.raises(RuntimeError):
        next(search)
    assert found == [("pear", 0), ("pear", 1)]


def test_of_a_trial_that_was_run_again_only_the_last_texts_are_found(tmp_path: Path) -> None:
    path = a_log(tmp_path, [(a_run("one"), a_conversation(answer="an apple"))]).path
    assert len(find_words(path, ["apple", "pear"])["apple"]) == 1
    with LogWriter(path) as writer:
        writer.append(TrialLine(run=a_run("one"), transcript=a_conversation(answer="a pear")))
    found = find_words(path, ["apple", "pear"])
    assert (len(found["apple"]), len(found["pear"])) == (0, 1)


def test_nothing_of_a_hostile_log_is_lost(tmp_path: Path) -> None:
    words = [text.lower().replace("\ud800", "") for text in HOSTILE]
    assert all(find_words(a_hostile_log(tmp_path, big=False).path, words).values())
