"""What a person says of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person's verdict on one trial. It stands beside the machine's and never replaces it."""

    key: str
    """`TrialResult.key`."""
    verdict: Literal["passed", "failed"]
    """What the person says."""
    machine: Literal["passed", "failed"]
    """The verdict that the person looked at."""
    by: str
    """The person's name."""
    note: str = ""
    """The reason; never empty if the verdict is overruled."""
    at: str = ""
    """UTC, ISO 8601."""

    @property
    def decision(self) -> Literal["accepted", "overruled"]:
        """Whether the two agree."""
        return "accepted" if self.verdict == self.machine else "overruled"
