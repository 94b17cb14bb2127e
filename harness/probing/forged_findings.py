"""Findings about forged calls, from the log of a probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from harness.probing.caller_views import Lived, bases_of, facts_of, name_of
from harness.probing.forged_calls import Forgery
from harness.probing.gains import Gain, Withheld
from harness.probing.report import ProbeFinding, Problem
from harness.safe_text import one_line
from harness.types import TrialResult

_PROBLEMS: Mapping[Forgery, Problem] = {
    "identity": "smuggled_identity",
    "arguments": "opened_by_arguments",
}
_MOST_FIELDS = 4


def forged_gains(lived: Lived) -> Iterator[ProbeFinding]:
    """Yield each forged call that gave withheld data twice, while the regular call did not."""
    if not lived.forged:
        return
    withheld = withheld_by(lived)
    gained: dict[tuple[str, str, str], dict[str, Gain | None]] = {}
    for run in lived.forged:
        forged = facts_of(run)["forged"]
        steps = gained.setdefault((name_of(run), forged["words"], forged["call"]), {})
        if forged["step"] != "before":
            steps[forged["step"]] = _gain(run, lived, withheld)
    for run in lived.forged:
        forged = facts_of(run)["forged"]
        steps = gained[name_of(run), forged["words"], forged["call"]]
        first = steps.get("forged")
        if (
            forged["step"] == "forged"
            and first is not None
            and steps.get("again") is not None
            and steps.get("plain") is None
        ):
            yield _finding(run, first)


def withheld_by(lived: Lived) -> Withheld:
    """Return what the server withholds from each of the suite's own identities."""
    own = (run for run in lived.runs if not bases_of(run))
    views = (lived.views.get(run.key) for run in own)
    return Withheld([view for view in views if view is not None and view.results])


def forged_kinds(lived: Lived) -> Mapping[str, int]:
    """Return the number of forged calls by kind of forgery."""
    made = (facts_of(run)["forged"] for run in lived.forged)
    count = Counter(forged["kind"] for forged in made if forged["step"] in ("before", "forged"))
    sent = (facts_of(run)["cursor"]["step"] for run in lived.turned)
    if crossed := sum(step == "cross" for step in sent):
        count["cursor"] = crossed
    return {kind: count[kind] for kind in (*_PROBLEMS, "cursor") if count[kind]}


def not_forged(lived: Lived) -> int:
    """Return the number of forged calls beyond the maximum."""
    return max((facts_of(run)["forged"]["left_out"] for run in lived.forged), default=0)


def _gain(trial: TrialResult, lived: Lived, withheld: Withheld) -> Gain | None:
    result, forged = lived.result(trial), facts_of(trial)["forged"]
    if result is None:
        return None
    return withheld.gain(
        name_of(trial), result.call, forged["asked"], forged["brought"], same=forged["same"]
    )


def _finding(result: TrialResult, gain: Gain) -> ProbeFinding:
    forged = facts_of(result)["forged"]
    fields = ", ".join(gain.fields[:_MOST_FIELDS])
    words = (
        f"{forged['of']} gives {name_of(result)} {fields} {forged['words']}, and not without: "
        f"only {' and '.join(gain.givers)} may see that"
    )
    return ProbeFinding(
        problem=_PROBLEMS[forged["kind"]],
        words=one_line(words),
        callers=(name_of(result),),
        call=forged["call"],
    )
