"""Who is told while a run goes on: progress displays and live pages. Reports come from the log."""

from __future__ import annotations

from typing import Protocol

from harness.types import Trial, TrialResult


class Observer(Protocol):
    """Told of every trial, in the order in which things happen, on the event loop: must not block."""

    def planned(self, total: int) -> None:
        """Hear how many trials will end."""
        ...

    def started(self, trial: Trial) -> None:
        """Hear that a trial begins."""
        ...

    def waiting(self, result: TrialResult) -> None:
        """Hear that a trial has ended and is in the log, whose status the suite's other identities may still change."""
        ...

    def finished(self, result: TrialResult) -> None:
        """Hear of a result that is settled, after it is in the log; each trial's comes once."""
        ...

    def note(self, text: str) -> None:
        """Hear something of the run as a whole."""
        ...


class Silent:
    """An observer that does nothing."""

    def planned(self, total: int) -> None:
        """Ignore it."""

    def started(self, trial: Trial) -> None:
        """Ignore it."""

    def waiting(self, result: TrialResult) -> None:
        """Ignore it."""

    def finished(self, result: TrialResult) -> None:
        """Ignore it."""

    def note(self, text: str) -> None:
        """Ignore it."""
