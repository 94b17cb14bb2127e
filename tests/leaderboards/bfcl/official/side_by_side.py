"""Our verdicts beside the official ones, on recorded outputs and on altered ones."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from harness.leaderboards.bfcl.catalog import CATEGORIES, Category
from harness.leaderboards.bfcl.check import build_check, find_fault
from harness.leaderboards.bfcl.data import BfclEntry, find_entry
from harness.leaderboards.bfcl.result_files import BfclRecording
from tests.leaderboards.bfcl.official.alterations import altered_calls, altered_item, altered_turns
from tests.leaderboards.bfcl.official.renderings import FAMILIES, Family

JUDGE = Path(__file__).with_name("judge.py")


@dataclass(frozen=True)
class Case:
    """One output in a recording of one model."""

    family: Family
    id: str
    result: Any
    altered: bool


@dataclass(frozen=True)
class Pair:
    """Both verdicts on it: the error type, or ``None`` where it is valid."""

    case: Case
    ours: str | None
    official: str | None
    crashed: str | None
    """The exception with which the official functions ended, if they did."""


def official(python: Path, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Return what the official functions say."""
    lines = "".join(
        json.dumps({"model": one.family.model, "id": one.id, "result": one.result}) + "\n"
        for one in cases
    )
    done = subprocess.run(
        [python, JUDGE],
        input=lines,
        capture_output=True,
        text=True,
        timeout=1000,
        check=True,
        env=dict(os.environ),
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(verdicts) == len(cases)
    return verdicts


def compared(python: Path, made: Sequence[Sequence[Case]]) -> Iterator[Pair]:
    """Yield both verdicts on each output of each recording.

    Ours is made of the whole of the recording.
    """
    verdicts = iter(official(python, [case for recording in made for case in recording]))
    for recording in made:
        rows = {one.id: {"id": one.id, "result": one.result} for one in recording}
        read = BfclRecording(rows, find_entry, recording[0].family.model)
        for case, verdict in zip(recording, verdicts, strict=False):
            (transcript,) = read.get_transcripts(case.id)
            fault = find_fault(build_check(find_entry(case.id)).params, transcript)
            ours = None if fault is None else fault.error_type
            yield Pair(case, ours, verdict.get("error_type"), verdict.get("crashed"))


def recordings(rows: Sequence[dict[str, Any]], count: int, seed: int) -> Iterator[list[Case]]:
    """Yield recordings of each family in turn, until ``count`` outputs in them are altered.

    Every second one is.
    """
    random = Random(seed)
    while count > 0:
        for family in FAMILIES:
            picked: dict[str, dict[str, Any]] = {row["id"]: row for row in random.sample(rows, 200)}
            made = [
                _case(random, family, row, altered=bool(place % 2))
                for place, row in enumerate(picked.values())
            ]
            yield made
            count -= sum(one.altered for one in made)


def _case(random: Random, family: Family, row: dict[str, Any], *, altered: bool) -> Case:
    entry = find_entry(row["id"])
    category = entry.category
    if category.judging not in ("multi_turn", "answer"):
        return Case(
            family, row["id"], _item(random, family, row["result"], entry, altered=altered), altered
        )
    turns = deepcopy(row["result"])
    inner = altered and random.random() < 0.6
    place = random.randrange(len(turns)) if turns else -1
    written = [
        [_item(random, family, step, entry, altered=inner and number == place) for step in steps]
        for number, steps in enumerate(turns)
    ]
    return Case(
        family,
        row["id"],
        altered_turns(random, written) if altered and not inner else written,
        altered,
    )


def _item(random: Random, family: Family, item: Any, entry: BfclEntry, *, altered: bool) -> Any:
    calls = _calls(item)
    if calls is None:
        return _words(item)
    inside = altered and random.random() < 0.6
    if inside:
        calls = altered_calls(random, calls)
    names = {one["name"].replace(".", "_"): one["name"] for one in entry.functions}
    dots = {name: shown for shown, name in names.items()}
    if not inside:
        calls = [
            (names.get(name, name) if family.dotted else dots.get(name, name), given)
            for name, given in calls
        ]
    written = family.render(calls, entry.category.language) if calls else _nothing(family)
    return altered_item(random, written) if altered and not inside else written


def _nothing(family: Family) -> Any:
    return "" if isinstance(family.render([], "python"), str) else []


def _words(item: Any) -> str:
    return (
        item
        if isinstance(item, str)
        else " ".join(map(str, item))
        if isinstance(item, list)
        else str(item)
    )


def _calls(item: Any) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the calls of a recorded reply; ``None`` where it is words."""
    if not isinstance(item, list) or not all(isinstance(one, dict) for one in item):
        return None
    try:
        pairs = [(name, json.loads(given)) for one in item for name, given in one.items()]
    except ValueError:
        return None
    return pairs if all(isinstance(given, dict) for _, given in pairs) else None


def category_of(case: str) -> Category:
    """Return the category of a case."""
    return CATEGORIES[case.rpartition("_")[0]]
