"""Equal parts of results as one object: the trials of a case mostly differ in little.

A result takes 2.4 kB of memory, most of it for its case's facts, its checks and its counts. A log
of many repeats holds these once for each case in place of once for each trial.
"""

from __future__ import annotations

from harness.types import TrialResult

_PARTS = ("case", "checks", "usage", "judge_usage", "user_usage", "judgements", "outcomes")


class Sharing:
    """Remembers one result of each case."""

    def __init__(self) -> None:
        """Start without any."""
        self._first: dict[tuple[str, str], TrialResult] = {}

    def among(self, result: TrialResult) -> TrialResult:
        """Return ``result``, just read and known to nobody else, with the parts of an equal one."""
        first = self._first.setdefault((result.suite, result.case.name), result)
        if first is not result:
            for part in _PARTS:
                known, own = getattr(first, part), getattr(result, part)
                # 1, 1.0 and true are equal, and written otherwise.
                if known == own and repr(known) == repr(own):
                    object.__setattr__(result, part, known)  # a copy would take longer
        return result
