"""Public leaderboards: suites by name, whose cases come from data that somebody fetched.

A leaderboard is asked for as ``NAME``, or as ``NAME:PART`` with one or more of its parts joined by
commas: ``bfcl:simple_python,parallel``, ``tau2:airline``. Those that come with harness have a folder
each. To add one, write an object that satisfies `Leaderboard` and name it here or under the
entry-point group ``harness.leaderboards``. One whose outputs others have recorded also satisfies
`Replayable`, and ``--model recorded:FILE`` works for it. Checks of its own are added to
`harness.checks.KINDS` by the module that makes them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.errors import UsageError
from harness.fetching import Source
from harness.registry import Registry
from harness.types import Case, Judgement, Suite, Transcript


class Leaderboard(Protocol):
    """A family of suites under one name."""

    def suites(self, part: str | None) -> Sequence[Suite]:
        """Return the suites of ``part`` (what stands behind the colon); ``None`` means all.

        Each has `Suite.leaderboard` set to the leaderboard's name and `Suite.reference` to how it is
        named again.

        Raises:
            UsageError: there is no such part.
            NothingToRun: the data is not there; the message has the command that fetches it.
        """
        ...


class Recording(Protocol):
    """What one model did in a leaderboard, as somebody recorded it elsewhere."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences for the user: which files and parts were left out, and why."""
        ...

    def cases(self) -> Collection[str]:
        """Return the names of the cases that were recorded."""
        ...

    def transcripts(self, case: str) -> Sequence[Transcript]:
        """Return every recorded trial of that case; none where it was not recorded."""
        ...


@runtime_checkable
class CarriedOut(Recording, Protocol):
    """A recording whose calls are carried out again, on the suite's own server: only their results of now count."""

    def case(self, case: Case) -> Case:
        """Return ``case`` as it was when it was recorded, its checks above all."""
        ...

    def verdicts(self, case: str, index: int) -> Mapping[str, Judgement]:
        """Return ``statement → judgement`` of the judge of then on a trial of that case; empty where nobody judged."""
        ...


@runtime_checkable
class Replayable(Protocol):
    """A leaderboard whose recorded outputs can stand for a model's."""

    def recordings(self, path: Path) -> Mapping[str, Recording]:
        """Return what is in the file or folder ``path``, by the name of the model that was recorded.

        Raises:
            UsageError: there is no recording of this leaderboard.
        """
        ...


LEADERBOARDS: Registry[Leaderboard] = Registry(
    "harness.leaderboards",
    "leaderboard",
    {
        "bfcl": "harness.leaderboards.bfcl.suite:BFCL",
        "tau2": "harness.leaderboards.tau2.suite:TAU2",
    },
    formerly="harness.benchmarks",
)
"""Name → the leaderboard."""

SOURCES: Registry[Source] = Registry(
    "harness.sources",
    "leaderboard",
    {
        "bfcl": "harness.leaderboards.bfcl.source:BFCL_SOURCE",
        "tau2": "harness.leaderboards.tau2.source:TAU2_SOURCE",
    },
)
"""Name → its data, as ``harness fetch NAME`` finds it."""


def leaderboard_of(name: str) -> tuple[str, str | None] | None:
    """Return the leaderboard and the part that ``name`` asks for; ``None`` if it is no leaderboard's name."""
    leaderboard, colon, part = name.partition(":")
    return (leaderboard, part if colon else None) if leaderboard in LEADERBOARDS else None


def narrowed(names: Sequence[str], categories: str | None) -> list[str]:
    """Return ``names`` with ``categories`` (joined by commas) as the part of each leaderboard that names none.

    Several parts of one leaderboard are asked for at once, so that they are one suite where they can
    be.

    Raises:
        UsageError: ``categories`` are given, and there is no such leaderboard.
    """
    parts: dict[str, list[str] | None] = {}
    placed: list[str] = []
    for name in names:
        asked = leaderboard_of(name)
        if asked is None:
            placed.append(name)
            continue
        leaderboard, part = asked[0], asked[1] if asked[1] is not None else categories
        if leaderboard not in parts:
            placed.append(leaderboard)
            parts[leaderboard] = []
        known = parts[leaderboard]
        parts[leaderboard] = None if part is None or known is None else [*known, part]
    if categories is not None and not parts:
        known_names = ", ".join(LEADERBOARDS.names())
        raise UsageError(
            "--category picks parts of a leaderboard, and none is named",
            meant=f"There are: {known_names}.",
        )
    return [
        f"{name}:{','.join(chosen)}" if (chosen := parts.get(name)) else name for name in placed
    ]
