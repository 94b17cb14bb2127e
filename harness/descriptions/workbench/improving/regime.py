"""The regime test: could better descriptions help a failing case at all?

A case that fails on the server's own list is tried again with a prompt that names the call to make.
If it still fails, the tools' descriptions are not its problem.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, TypeAlias

from harness.base import Trials
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.improving.proposal import expected_call, expected_calls
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import StudyContext
from harness.types import Case, Variant, dataclass

Cause: TypeAlias = Literal["words", "model", "server or check", "unknown"]
"""Why a case fails. ``words``: it passes with a hint that names the call. ``model``: the model does
not make the call even with the hint. ``server or check``: the model makes the call, and the case
still fails. ``unknown``: no hint was tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingCase:
    """A case that fails on the server's own list, and its result with a hint."""

    case: str
    """Its name."""
    clean: Trials
    """(passed, judged) trials without the hint."""
    hinted: Trials | None
    """(passed, judged) trials with the hint; ``None`` if it was not tried or not judged."""
    cause: Cause
    """The cause that follows."""
    text: str
    """The cause as a sentence."""

    @property
    def may_be_words(self) -> bool:
        """Whether a better description may help."""
        return self.cause in {"words", "unknown"}


def write_hint(case: Case) -> str | None:
    """Return a hint with the expected calls; ``None`` if the checks do not give them."""
    hints = []
    for call in expected_calls(case):
        given = json.dumps(call.arguments, ensure_ascii=False)
        hints.append(f"Use the tool {call.tool}{f' with {given}' if call.arguments else ''}.")
    return "\nThen: ".join(hints) or None


def hinted_arm(bench: StudyContext, measured: ModelMeasurements) -> Arm | None:
    """Return the arm with a hint for every failing case that has one; ``None`` without any."""
    prompts = {
        case.name: f"{case.prompt}\n\n{words}"
        for case in _iterate_failing(bench, measured)
        if case.user is None and (words := write_hint(case)) is not None
    }
    if not prompts:
        return None
    variant = Variant(
        name="with a hint",
        prompts=prompts,
        description="Does a failing case pass when it is told which call to make?",
    )
    return Arm(variant=variant, cases=frozenset(prompts))


def failing_cases(bench: StudyContext, measured: ModelMeasurements) -> tuple[FailingCase, ...]:
    """Return every case that fails on the server's own list, in the order of the suite."""
    arm = hinted_arm(bench, measured)
    clean = measured.count_trials()
    hinted = {} if arm is None else measured.count_trials(arm.variant)
    calls = () if arm is None else measured.first_calls(arm.variant)
    called = {call.case: call.tool for call in calls}
    found = []
    for case in _iterate_failing(bench, measured):
        tried = hinted.get(case.name)
        cause, text = _find_cause(case, clean[case.name], tried, called.get(case.name))
        if arm is None or not arm.has_case(case.name):
            why = "no check says which call is right"
            text = f"No hint was tried: {why if case.user is None else 'its user is simulated'}."
        found.append(
            FailingCase(
                case=case.name, clean=clean[case.name], hinted=tried, cause=cause, text=text
            )
        )
    return tuple(found)


def _iterate_failing(bench: StudyContext, measured: ModelMeasurements) -> Iterator[Case]:
    trials = measured.count_trials()
    for case in bench.suite.cases:
        passed, judged = trials.get(case.name, (0, 0))
        if passed < judged:
            yield case


def _find_cause(
    case: Case, clean: Trials, hinted: Trials | None, called: str | None
) -> tuple[Cause, str]:
    if hinted is None:
        return "unknown", "No trial with a hint was judged."
    # Rates, compared by products, so that no rounding decides.
    if hinted[0] * clean[1] > clean[0] * hinted[1]:
        return "words", "It passes when it is told which call to make."
    call = expected_call(case)
    assert call is not None, "a case with a hint has an expected call"
    told = f"Told to call {call.tool}, the model calls"
    if called == call.tool:
        where = "look at the server, at the check, and at what else the case wants"
        return "server or check", f"{told} it, and the case fails all the same: {where}."
    return "model", f"{told} {called or 'nothing'}: it cannot, whatever the description says."
