"""The check of every BFCL case: the official verdict, with the official name of the mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.judging import (
    KINDS,
    CheckFinding,
    Evidence,
    UnlistedKind,
    build_check_result,
)
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.checker.multi_turn import MultiTurnCase, find_turns_fault
from harness.leaderboards.bfcl.checker.single import (
    find_answer_fault,
    find_expected_calls_fault,
    find_no_call_fault,
    find_some_call_fault,
)
from harness.leaderboards.bfcl.checker.values import Fault
from harness.leaderboards.bfcl.data import BfclEntry, data_folder
from harness.leaderboards.bfcl.transcript_steps import (
    Step,
    extract_turns,
    get_first_step,
    is_no_conversation,
)
from harness.types import Check, CheckResult, CheckTrait, JsonObject, Transcript

KIND = "bfcl"
"""The check's name."""

_SHOWN = 300
"""Characters of a reply's text that are shown."""


def build_check(entry: BfclEntry) -> Check:
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
            {"name": function["name"], "parameters": function["parameters"]}
            for function in entry.functions
            if not several or function["name"] in wanted
        ]
    if category.judging == "multi_turn":
        params["classes"] = entry.question["involved_classes"]
        params["initial_config"] = entry.question["initial_config"]
    return Check(kind=KIND, params=params)


def find_fault(params: JsonObject, transcript: Transcript) -> Fault | None:
    """Return the model's mistake by the rule of the category, or ``None``."""
    category = CATEGORIES[params["category"]]
    wanted: Any = params.get("ground_truth")
    step = get_first_step(transcript)
    match category.judging:
        case "calls":
            return find_expected_calls_fault(category, params["functions"], wanted, step)
        case "no_call":
            return find_no_call_fault(step)
        case "some_call":
            return find_some_call_fault(step)
        case "answer":
            return find_answer_fault(_select_judged_turns(params, transcript), wanted)
        case "multi_turn" if is_no_conversation(transcript):
            return Fault("multi_turn:inference_error", "the recorded result is not a list of turns")
        case "multi_turn":
            conversation = MultiTurnCase(
                classes=params["classes"],
                initial_config=params["initial_config"],
                expected=wanted,
                long_context=category.name == "multi_turn_long_context",
                data=data_folder(),
            )
            return find_turns_fault(conversation, extract_turns(transcript))


class BfclKind(UnlistedKind):
    """The kind of this check; only cases of the leaderboard have it."""

    name = KIND
    source = "cases of BFCL"

    def traits(self, params: JsonObject) -> Sequence[CheckTrait]:
        """Say that the leaderboard itself knows which calls are right."""
        return ("no_success",)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge by the official rules."""
        params = check.params
        finding = CheckFinding(label=params["category"], verdict="passed")
        fault = find_fault(params, evidence.transcript)
        if fault is None:
            return build_check_result(check, finding)
        turns = _select_judged_turns(params, evidence.transcript)
        finding = replace(
            finding,
            verdict="failed",
            expected=params.get("ground_truth"),
            actual=[[_show_step(step) for step in steps] for steps in turns],
            why=([f"{fault.error_type}: {fault.message}"], None),
        )
        return replace(build_check_result(check, finding), code=fault.error_type)


KINDS.add_unlisted(KIND, BfclKind())


def _select_judged_turns(params: JsonObject, transcript: Transcript) -> Sequence[Sequence[Step]]:
    """Return the turns that count.

    Of several questions to one memory, only the last counts, as if it were the only one.
    """
    turns = extract_turns(transcript)
    return turns[-1:] if params.get("among_others") else turns


def _show_step(step: Step) -> Mapping[str, Any] | list[Any]:
    if step.calls:
        return [{call.name: call.arguments} for call in step.calls]
    return {"text": step.text[:_SHOWN]}
