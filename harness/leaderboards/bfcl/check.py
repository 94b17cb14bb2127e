"""The check of every BFCL case: the official verdict, with the official name of the mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from harness.base import InvalidValue
from harness.judging import KINDS, CheckFinding, Evidence, conclude, passed_if
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.checker.agentic import answer_fault
from harness.leaderboards.bfcl.checker.fault import Fault
from harness.leaderboards.bfcl.checker.multi_turn import Conversation, turns_fault
from harness.leaderboards.bfcl.checker.single import (
    expected_calls_fault,
    no_call_fault,
    some_call_fault,
)
from harness.leaderboards.bfcl.data import Entry
from harness.leaderboards.bfcl.output import Step, first_step, is_no_conversation, turns_of
from harness.leaderboards.bfcl.source import data_folder
from harness.types import Check, CheckResult, JsonObject, JsonPath, Transcript

KIND = "bfcl"
"""The check's name."""

_SHOWN = 300
"""Characters of a reply's text that are shown."""


def check_of(entry: Entry) -> Check:
    """Return the check of a case, with all the data that it needs."""
    category = entry.category
    params: dict[str, Any] = {"category": category.name}
    if entry.answer is not None:
        params["ground_truth"] = entry.answer
    if category.judging == "calls":
        wanted = {name for expected in entry.answer for name in expected}
        several = "multiple" in category.name
        # If one function is offered, every call is a call of it, whatever name the answer uses.
        params["functions"] = [
            {"name": one["name"], "parameters": one["parameters"]}
            for one in entry.functions
            if not several or one["name"] in wanted
        ]
    if category.judging == "multi_turn":
        params["classes"] = entry.question["involved_classes"]
        params["initial_config"] = entry.question["initial_config"]
    return Check(kind=KIND, params=params)


def fault_of(params: JsonObject, transcript: Transcript) -> Fault | None:
    """Return the model's mistake by the rule of the category, or ``None``."""
    category = CATEGORIES[params["category"]]
    match category.judging:
        case "calls":
            return expected_calls_fault(
                category, params["functions"], params["ground_truth"], first_step(transcript)
            )
        case "no_call":
            return no_call_fault(first_step(transcript))
        case "some_call":
            return some_call_fault(first_step(transcript))
        case "answer":
            return answer_fault(_judged(params, transcript), params["ground_truth"])
        case "multi_turn" if is_no_conversation(transcript):
            return Fault("multi_turn:inference_error", "the recorded result is not a list of turns")
        case "multi_turn":
            conversation = Conversation(
                classes=params["classes"],
                initial_config=params["initial_config"],
                expected=params["ground_truth"],
                long_context=category.name == "multi_turn_long_context",
                data=data_folder(),
            )
            return turns_fault(conversation, turns_of(transcript))


@dataclass(frozen=True, slots=True)
class BfclKind:
    """The kind of this check; only cases of the leaderboard have it."""

    names_tools: ClassVar[bool] = False
    """False: the tools in its params come from the case's own data."""

    @property
    def schema(self) -> JsonObject:
        """Return a schema that matches nothing."""
        return {"not": {}}

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, JsonObject]]:
        """Refuse: the parameters come with the leaderboard's data."""
        raise InvalidValue("only cases of BFCL have a check of this kind")

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge by the official rules."""
        fault = fault_of(check.params, evidence.transcript)
        failed = fault is not None
        finding = CheckFinding(
            label=check.params["category"],
            verdict=passed_if(not failed),
            expected=check.params.get("ground_truth") if failed else None,
            actual=_done(_judged(check.params, evidence.transcript)) if failed else None,
            explanation=() if fault is None else (f"{fault.error_type}: {fault.message}",),
        )
        return replace(conclude(check, finding), code=None if fault is None else fault.error_type)


KINDS.add_unlisted(KIND, BfclKind())


def _judged(params: JsonObject, transcript: Transcript) -> Sequence[Sequence[Step]]:
    """Return the turns that count.

    Of several questions to one memory, only the last counts, as if it were the only one.
    """
    turns = turns_of(transcript)
    return turns[-1:] if params.get("among_others") else turns


def _done(turns: Sequence[Sequence[Step]]) -> list[list[Any]]:
    return [[_step(step) for step in steps] for steps in turns]


def _step(step: Step) -> Mapping[str, Any] | list[Any]:
    if step.calls:
        return [{call.name: call.arguments} for call in step.calls]
    return {"text": step.text[:_SHOWN]}
