"""The check ``turns_passed``: a share of all checked turns is right.

It makes a case of fifty questions one trial: a wrong answer is shown but does not decide; the share
decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.parsing import SHARE, either_form, read_either_form, read_share
from harness.judging.matching.texts import format_line
from harness.types import CheckResult, JsonObject, Verdict

_QUESTION_SHOWN = 100
_MANY = 12


class _CheckedTurn(NamedTuple):
    """A checked turn and its verdict."""

    number: int
    """1-based, among all turns."""
    name: str
    """Its name in reports: ``question 3``."""
    prompt: str
    """What the user said first."""
    verdict: Verdict
    """``passed`` if all of its deciding checks passed."""
    reason: str
    """The first line of what was wrong."""


def _judge_share(params: JsonObject, evidence: Evidence) -> CheckFinding:
    """Count the results of the turns; nothing is judged again."""
    at_least = params["at_least"]
    deciding = [result for result in evidence.turn_results if result.severity == "fail"]
    asked = [
        _summarise_turn(turn, list(results), evidence)
        # The results come turn by turn, as `groupby` needs them.
        for turn, results in groupby(deciding, lambda result: result.turn)
        if turn is not None
    ]
    found = CheckFinding(label=f"{at_least:g}", expected={"at_least": at_least})
    if not asked:
        line = "No turn of this case is checked, so no share of them can be right"
        return replace(found, verdict="not_judged", why=([line], None))
    wrong = [turn for turn in asked if turn.verdict == "failed"]
    unknown = [turn for turn in asked if turn.verdict == "not_judged"]
    right, needed = len(asked) - len(wrong) - len(unknown), at_least * len(asked)
    actual = {
        "right": right,
        "asked": len(asked),
        "wrong": [
            {"turn": turn.number, "question": format_line(turn.prompt, 200), "why": turn.reason}
            for turn in wrong
        ],
    }
    found = replace(found, actual=actual, score=right / len(asked))
    # Enough turns are right, whatever those are that could not be judged.
    if right >= needed:
        return found
    # It depends on the turns that could not be judged.
    if right + len(unknown) >= needed:
        lines = [f"{len(unknown)} of {len(asked)} turns could not be judged"]
        why = [*lines, *_format_turns(unknown)], None
        return replace(found, verdict="not_judged", why=why, score=None)
    bound = f"score {right / len(asked):.2f}, at least {at_least:.2f} expected"
    lines = [f"Too few turns are right: {right} of {len(asked)} ({bound})", *_format_turns(wrong)]
    return replace(found, why=(lines, _HINT))


_HINT = (
    "See in the transcript (--debug) what was stored when it was told, and looked up when it was "
    "asked."
)


def _summarise_turn(turn: int, results: Sequence[CheckResult], evidence: Evidence) -> _CheckedTurn:
    verdicts = [result.verdict for result in results]
    # The first of these that any check has.
    verdict = next(word for word in ("failed", "not_judged", "passed") if word in verdicts)
    reason = next(result.explanation for result in results if result.verdict == verdict)
    return _CheckedTurn(
        number=turn,
        # `evaluate_checks` puts the name of the turn before each label.
        name=results[0].label.partition(":")[0],
        prompt=evidence.case.turns[turn - 1].prompt.strip().partition("\n\n")[0],
        verdict=verdict,
        reason=format_line(reason.partition("\n")[0], 160),
    )


def _format_turns(turns: Sequence[_CheckedTurn]) -> list[str]:
    """Return the questions of ``turns``; a long list begins with all names, as it may be cut."""
    # An explanation is cut at its end, where the later questions stand.
    every = [f"Wrong: {', '.join(turn.name for turn in turns)}."] if len(turns) > _MANY else []
    return every + [f"{turn.name}: {format_line(turn.prompt, _QUESTION_SHOWN)}" for turn in turns]


TURNS_PASSED = FunctionKind(
    name="turns_passed",
    needs_model=True,
    schema=either_form("at_least", SHARE),
    read=make_single_reader(lambda value: read_either_form(value, (), "at_least", read_share)),
    judge=_judge_share,
    traits=lambda _params: ("counts_turns",),
    doc=CheckDoc(
        section="Memory",
        asks=(
            "of all turns that have checks, at least this share passes. A wrong turn is "
            "then shown as a warning and does not decide"
        ),
        fails=("Too few turns are right: 38 of 50 (score 0.76, at least 0.80 expected)",),
        example="turns_passed: 0.8  # long: {at_least: 0.8}",
    ),
)
