"""Public leaderboards: suites by name, whose cases come from fetched data.

A leaderboard is named ``NAME``, or ``NAME:PART`` with one or more of its parts joined by commas:
``bfcl:simple_python,parallel``, ``tau2:airline``. Each built-in leaderboard has a folder. To add
one, write an object that satisfies `Leaderboard` and register it here or under the entry-point
group ``harness.leaderboards``. One with recorded outputs also satisfies `ReplayableLeaderboard`, so
that ``--model recorded:FILE`` works. A module that defines checks of its own adds them to
`harness.judging.checks.KINDS`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.base import Registry, Source, UsageError
from harness.types import Case, Judgement, Suite, Tool, Transcript


class Leaderboard(Protocol):
    """A family of suites with one name."""

    def suites(self, part: str | None) -> Sequence[Suite]:
        """Return the suites of ``part`` (the text after the colon); ``None`` means all.

        Each has `Suite.leaderboard` set to the leaderboard's name

        Raises:
            UsageError: there is no such part.
            NothingToRun: the data was not fetched; the message has the command that fetches it.
        """


class ModelRecording(Protocol):
    """The recorded outputs of one model in a leaderboard."""

    @property
    def notes(self) -> Sequence[str]:
        """Messages for the user: files and parts that were left out, with the reason."""

    def list_cases(self) -> Collection[str]:
        """Return the names of the recorded cases."""

    def get_transcripts(self, case: str) -> Sequence[Transcript]:
        """Return every recorded trial of that case; empty if it was not recorded."""


@runtime_checkable
class ExecutableRecording(ModelRecording, Protocol):
    """A recording whose calls are executed again on the suite's own server.

    Only the new results count.
    """

    def restore_case(self, case: Case) -> Case:
        """Return ``case`` as it was recorded, in particular its checks."""

    def restore_trial(self, case: Case, index: int) -> Case:
        """Return the restored ``case`` as that trial of it began, in particular its setup."""

    def get_verdicts(self, case: str, index: int) -> Mapping[str, Judgement]:
        """Return ``statement → judgement`` of the recorded judge for a trial.

        Empty if there was none.
        """

    def get_reward(self, case: str, index: int) -> float | None:
        """Return the reward that a trial was recorded with; ``None`` if it has none."""


@runtime_checkable
class ReplayableLeaderboard(Protocol):
    """A leaderboard whose recorded outputs can take the place of a model."""

    def load_recordings(self, path: Path) -> Mapping[str, ModelRecording]:
        """Return the recordings in the file or folder ``path``, by the model's name.

        Raises:
            UsageError: there is no recording of this leaderboard.
        """


@runtime_checkable
class AttackableLeaderboard(Protocol):
    """A leaderboard whose tasks can be run under attacks of its own (``--attack``)."""

    def add_attacks(self, part: str | None, attacks: str, model: str) -> str:
        """Return ``part`` with ``attacks``, joined by commas, which address ``model`` by name.

        Raises:
            NothingToRun: its data were not fetched.
        """


@runtime_checkable
class HijackableLeaderboard(Protocol):
    """A leaderboard that knows the calls of its users and of its attackers."""

    def build_hijacks(self, part: str | None) -> Sequence[Suite]:
        """Return suites of calls: those that solve a user's task, then those of an attacker.

        The first check of each case has a result whose code begins with `HIJACK_CODE`.

        Raises:
            UsageError: there is no such part.
            NothingToRun: its data were not fetched.
        """


@runtime_checkable
class DecoyLeaderboard(Protocol):
    """A leaderboard whose tools can make another tool list longer (``add:`` of a variant)."""

    def list_decoys(self) -> Sequence[Tool]:
        """Return its tools, each name once.

        Raises:
            NothingToRun: its data were not fetched.
        """


LEADERBOARDS: Registry[Leaderboard] = Registry("harness.leaderboards", "leaderboard", {})
"""Name → the leaderboard."""

SOURCES: Registry[Source] = Registry("harness.sources", "leaderboard", {})
"""Name → its data, as ``harness fetch NAME`` finds it."""


def parse_leaderboard(name: str) -> tuple[str, str | None] | None:
    """Return the leaderboard and the part in ``name``; ``None`` if it names no leaderboard."""
    leaderboard, colon, part = name.partition(":")
    return (leaderboard, part if colon else None) if leaderboard in LEADERBOARDS else None


def add_categories(names: Sequence[str], categories: str | None) -> list[str]:
    """Return ``names`` with ``categories`` as the part of each leaderboard without one.

    Several parts of one leaderboard are combined, so that they are one suite if possible.

    Raises:
        UsageError: ``categories`` are given, but no leaderboard is named.
    """
    parts: dict[str, list[str] | None] = {}
    placed: list[str] = []
    for name in names:
        asked = parse_leaderboard(name)
        if asked is None:
            placed.append(name)
            continue
        leaderboard, part = asked[0], asked[1] if asked[1] is not None else categories
        # At the place of its first mention: suites run in the order in which they are named.
        if leaderboard not in parts:
            placed.append(leaderboard)
            parts[leaderboard] = []
        known = parts[leaderboard]
        # All of it contains every part.
        parts[leaderboard] = None if part is None or known is None else [*known, part]
    if categories is not None and not parts:
        meant = f"There are: {', '.join(LEADERBOARDS.list_names())}."
        message = "--category selects parts of a leaderboard, but none is named"
        raise UsageError(message, meant=meant)
    return [
        f"{name}:{','.join(chosen)}" if (chosen := parts.get(name)) else name for name in placed
    ]


def add_attacks(names: Sequence[str], attacks: str, model: str) -> list[str]:
    """Return ``names``, each leaderboard that has attacks with ``attacks`` on ``model``.

    Raises:
        UsageError: none of them has attacks.
    """
    placed: list[str] = []
    for name in names:
        leaderboard, part = parse_leaderboard(name) or ("", None)
        found: object = LEADERBOARDS.get(leaderboard) if leaderboard else None
        if isinstance(found, AttackableLeaderboard):
            placed.append(f"{leaderboard}:{found.add_attacks(part, attacks, model)}")
        else:
            placed.append(name)
    if placed == list(names):
        message = (
            "--attack names attacks of a leaderboard, but no leaderboard that has any is named"
        )
        raise UsageError(
            message, meant="Name one: harness evals agentdojo:banking --attack direct."
        )
    return placed


def find_hijacks(names: Sequence[str]) -> tuple[list[Suite], list[str]]:
    """Return the replays of the leaderboards among ``names``, and the names of what is none.

    Raises:
        UsageError: a leaderboard does not know the calls of an attacker.
    """
    found: list[Suite] = []
    others: list[str] = []
    for name in names:
        asked = parse_leaderboard(name)
        if asked is None:
            others.append(name)
            continue
        leaderboard: object = LEADERBOARDS.get(asked[0])
        if not isinstance(leaderboard, HijackableLeaderboard):
            message = f"{asked[0]} has no attacks that could be replayed"
            raise UsageError(message, meant="Name agentdojo, or a suite of your own.")
        found += leaderboard.build_hijacks(asked[1])
    return found, others
