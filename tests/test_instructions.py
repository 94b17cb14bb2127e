"""The kept counts of instructions are compared: a tenth more fails, and what has none is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import instructions

ROOT = Path(instructions.__file__).parents[1]
KEPT = {"harness --help": 200, "one case": 1000}


@pytest.mark.parametrize(
    ("counts", "excess"),
    [
        ({"harness --help": 219, "one case": 1099}, []),
        ({"harness --help": 10, "one case": 10}, []),
        ({"harness --help": 221, "one case": 1000}, ["harness --help"]),
        ({"harness --help": 200, "one case": 1101}, ["one case"]),
        ({"a probe": 1}, ["a probe"]),
    ],
    ids=str,
)
def test_a_count_more_than_a_tenth_above_the_kept_one_is_named(
    counts: dict[str, int], excess: list[str]
) -> None:
    assert instructions.find_excess(counts, KEPT) == excess


@pytest.mark.parametrize(("count", "code"), [(219, 0), (221, 1)])
def test_the_exit_code_says_whether_something_takes_more(
    count: int,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(instructions, "KEPT", tmp_path / "kept.json")
    monkeypatch.setattr(instructions, "count_all", lambda: {"harness --help": 200})
    monkeypatch.setattr(shutil, "which", lambda _: "valgrind")
    assert instructions.main(["--keep"]) == 0
    monkeypatch.setattr(instructions, "count_all", lambda: {"harness --help": count})
    assert instructions.main([]) == code
    assert ("more than 10%" in capsys.readouterr().err) is bool(code)


def test_without_valgrind_nothing_fails_but_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert instructions.main([]) == 0
    assert "NOT MEASURED" in capsys.readouterr().err


def test_starts_are_kept_and_the_build_compares_them() -> None:
    kept = json.loads(instructions.KEPT.read_text("utf-8"))["instructions"]
    assert list(kept) == [
        "harness --help",
        "harness evals --help",
        "one case",
        "harness probe",
        f"{instructions.FURTHER} further cases",
    ]
    assert all(count > 0 for count in kept.values())
    assert "\nmake instructions\n" in (ROOT / ".ci/run").read_text("utf-8")
