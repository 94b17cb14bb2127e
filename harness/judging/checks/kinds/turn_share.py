"""The check ``turns_passed``: a share of all checked turns is right.

It makes a case of fifty questions one trial: a wrong answer is shown but does not decide; the share
decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from harness.judging.checks.evidence import Evidence
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    CheckKind,
    Parsed,
    build_check_result,
)
from harness.judging.checks.parsing import SHARE, long_form, read_mapping, read_share
from harness.judging.matching.texts import format_line
from harness.types import Check, CheckResult, CheckTrait, JsonObject, Verdict

_QUESTION_SHOWN = 100
_MANY = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckedTurn:
    """A checked turn and its verdict."""

    turn: int
    """1-based, among all turns."""
    name: str
    """Its name in reports: ``question 3``."""
    prompt: str
    """What the user said first."""
    verdict: Verdict
    """``passed`` if all of its deciding checks passed."""
    reason: str
    """The first line of what was wrong."""


class TurnShareKind(CheckKind):
    """Counts the right turns of a conversation."""

    name = "turns_passed"
    doc = CheckDoc(
        section="Memory",
        asks=(
            "of all turns that have checks, at least this share passes. A wrong turn is "
            "then shown as a warning and does not decide"
        ),
        fails=("Too few turns are right: 38 of 50 (score 0.76, at least 0.80 expected)",),
        example="turns_passed: 0.8  # long: {at_least: 0.8}",
    )
    schema: JsonObject = {  # noqa: RUF012 - read-only
        "anyOf": [SHARE, long_form({"at_least": SHARE}, required=("at_least",))]
    }

    def parse(self, value: Any) -> Parsed:
        """Return the one check that ``value`` asks for.

        Raises:
            InvalidValue: it is no share above 0 and up to 1.
        """
        if not isinstance(value, Mapping):
            return (((), {"at_least": read_share(value, ())}),)
        found = read_mapping(value, (), required=("at_least",))
        return (((), {**found, "at_least": read_share(found["at_least"], ("at_least",))}),)

    def traits(self, params: JsonObject) -> Sequence[CheckTrait]:
        """Say that the share of right turns decides."""
        return ("counts_turns",)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Count the results of the turns; nothing is judged again."""
        asked = _collect_turns(evidence)
        finding = _build_finding(check.params["at_least"], asked)
        right = sum(one.verdict == "passed" for one in asked)
        score = None if finding.verdict == "not_judged" or not asked else right / len(asked)
        return replace(build_check_result(check, finding), score=score)


TURNS_PASSED = TurnShareKind()


def _collect_turns(evidence: Evidence) -> list[_CheckedTurn]:
    deciding = [
        result
        for result in evidence.turn_results
        if result.severity == "fail" and result.turn is not None
    ]
    return [
        _summarise_turn(turn, list(results), evidence)
        # The results come turn by turn, as `groupby` needs them.
        for turn, results in groupby(deciding, lambda result: result.turn or 0)
    ]


def _summarise_turn(turn: int, results: Sequence[CheckResult], evidence: Evidence) -> _CheckedTurn:
    verdicts = [result.verdict for result in results]
    verdict: Verdict = (
        "failed" if "failed" in verdicts else "not_judged" if "not_judged" in verdicts else "passed"
    )
    reason = next((result.explanation for result in results if result.verdict == verdict), "")
    return _CheckedTurn(
        turn=turn,
        # `evaluate_checks` puts the name of the turn before each label.
        name=results[0].label.partition(":")[0],
        prompt=evidence.case.turns[turn - 1].prompt.strip().partition("\n\n")[0],
        verdict=verdict,
        reason=format_line(reason.partition("\n")[0], 160),
    )


def _build_finding(at_least: float, asked: Sequence[_CheckedTurn]) -> CheckFinding:
    wrong = [one for one in asked if one.verdict == "failed"]
    unknown = [one for one in asked if one.verdict == "not_judged"]
    right = len(asked) - len(wrong) - len(unknown)
    base = CheckFinding(
        label=f"{at_least:g}", verdict="not_judged", expected={"at_least": at_least}
    )
    if not asked:
        return replace(
            base, explanation=["No turn of this case is checked, so no share of them can be right"]
        )
    actual = {
        "right": right,
        "asked": len(asked),
        "wrong": [
            {"turn": one.turn, "question": format_line(one.prompt, 200), "why": one.reason}
            for one in wrong
        ],
    }
    base = replace(base, actual=actual)
    # Enough turns are right, whatever those are that could not be judged.
    if right >= at_least * len(asked):
        return replace(base, verdict="passed")
    # It depends on the turns that could not be judged.
    if right + len(unknown) >= at_least * len(asked):
        return replace(
            base,
            explanation=[
                f"{len(unknown)} of {len(asked)} turns could not be judged",
                *_format_turns(unknown),
            ],
        )
    bound = f"score {right / len(asked):.2f}, at least {at_least:.2f} expected"
    return replace(
        base,
        verdict="failed",
        explanation=[
            f"Too few turns are right: {right} of {len(asked)} ({bound})",
            *_format_turns(wrong),
        ],
        hint="See in the transcript (--debug) what was stored when it was told, and looked up when "
        "it was asked.",
    )


def _format_turns(turns: Sequence[_CheckedTurn]) -> list[str]:
    """Return the questions of ``turns``; a long list begins with all names, as it may be cut."""
    # An explanation is cut at its end, where the later questions stand.
    every = [f"Wrong: {', '.join(turn.name for turn in turns)}."] if len(turns) > _MANY else []
    return [
        *every,
        *(f"{turn.name}: {format_line(turn.prompt, _QUESTION_SHOWN)}" for turn in turns),
    ]
