"""What a probe has asked so far, what its budget leaves, and what stays unasked.

Without a budget everything is asked. With one, the likeliest holes come first, and no step may
take all that is left, so that the next one has its turn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TypeVar

from harness.base import make_one_line, shorten_text
from harness.types import dataclass

EVERY_S = 5.0
"""Seconds between two lines on a step that takes long."""
_FOUND_CHARS = 160

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeBudget:
    """The bounds of a probe."""

    calls: int | None = None
    """Maximum number of calls."""
    minutes: float | None = None
    """Maximum time."""

    @property
    def options(self) -> tuple[str, ...]:
        """The bounds, as options of the command."""
        chosen = {"--max-calls": self.calls, "--minutes": self.minutes}
        return tuple(f"{option} {most:g}" for option, most in chosen.items() if most is not None)


NO_BUDGET = ProbeBudget()


@dataclass(slots=True)
class Effort:
    """The calls of a probe so far."""

    budget: ProbeBudget = NO_BUDGET
    tell: Callable[[str], None] | None = None
    """Gets a line on each step, and on each finding so far."""
    calls: int = 0
    """How many were made."""
    unasked: dict[str, int] = field(default_factory=dict)
    """Step → the number of calls that the budget left out; 0 if it is not known."""
    found: dict[str, None] = field(default_factory=dict)
    """The findings so far."""
    _step: str = ""
    _is_whole: bool = False
    _began: float = field(default_factory=lambda: time.monotonic())  # noqa: PLW0108 - found late
    _told: float = 0.0
    _last_call: float = math.inf
    _last_moment: float = math.inf

    def begin_step(self, step: str, share: float = 1.0, *, whole: bool = False) -> None:
        """Begin a step, which may take this share of what is left.

        ``whole``: once it is begun it is not cut off, since a part of it says nothing.
        """
        now, most = time.monotonic(), self.budget
        self._step, self._is_whole = step, False
        if most.calls is not None:
            self._last_call = self.calls + math.ceil(max(0, most.calls - self.calls) * share)
        if most.minutes is not None:
            end = self._began + 60 * most.minutes
            self._last_moment = now + max(0.0, end - now) * share
        self._is_whole = whole and not self.is_spent()
        self._tell_state(now)

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        return bool(self.budget.options)

    def is_spent(self) -> bool:
        """Whether the step at hand may make no more calls."""
        if self._is_whole:
            return False
        return self.calls >= self._last_call or time.monotonic() >= self._last_moment

    def count_call(self) -> None:
        """Count a call that is made; say from time to time how far the probe is."""
        self.calls += 1
        if self.tell is not None and (now := time.monotonic()) - self._told >= EVERY_S:
            self._tell_state(now)

    def leave_out(self, number: int) -> None:
        """Note that so many calls of the step at hand are not made."""
        if number:
            self.unasked[self._step] = self.unasked.get(self._step, 0) + number

    def leave_step_out(self) -> None:
        """Note that the step at hand is not begun, whatever it would have asked."""
        self.unasked.setdefault(self._step, 0)

    def choose_affordable(self, calls: Sequence[_T], cost: int) -> Sequence[_T]:
        """Return as many of ``calls`` as the step may make, each of which takes ``cost`` calls."""
        most = len(calls) if self._last_call == math.inf else int(self._last_call) - self.calls
        chosen = calls[: max(0, most // cost)] if self._last_call < math.inf else calls
        self.leave_out(cost * (len(calls) - len(chosen)))
        return chosen

    def add_found(self, findings: Iterable[str]) -> None:
        """Tell each finding that is not known yet."""
        for words in findings:
            if words not in self.found:
                self.found[words] = None
                if self.tell is not None:
                    self.tell(f"✗ so far: {shorten_text(make_one_line(words), _FOUND_CHARS)}")

    def _tell_state(self, now: float) -> None:
        self._told = now
        if self.tell is not None:
            found = len(self.found)
            told = f"{found} findings" if found > 1 else "1 finding" if found else "no finding"
            self.tell(f"{now - self._began:.0f} s, {self.calls} calls, {told} so far: {self._step}")
