"""What calls with another token than that of their session gave, from the log of a probe."""

from __future__ import annotations

from collections.abc import Iterator

from harness.probing.caller_views import Lived, facts_of, label_of, name_of
from harness.probing.report import ProbeFinding
from harness.safe_text import one_line


def swapped_gains(lived: Lived) -> Iterator[ProbeFinding]:
    """Yield each call that works within somebody's session, and otherwise not with that token."""
    answered = lived.answered()
    for run in lived.swapped:
        facts, result = facts_of(run), lived.result(run)
        own = answered.get((name_of(run), facts["of"]))
        if result is None or result.call.outcome != "ok" or own is None:
            continue
        if not lived.gets_as_much(own, result):
            words = (
                f"{facts['of']} works {facts['words']}, and in a session of their own it is "
                f"refused to {name_of(run)}"
            )
            yield ProbeFinding(
                problem="token_swapped",
                words=one_line(words),
                callers=(name_of(run),),
                call=label_of(run),
            )
