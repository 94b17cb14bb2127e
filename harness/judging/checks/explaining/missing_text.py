"""The explanation and hint for an expected text that is not in the answer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.judging.checks.explaining.missing_call import explain_no_calls, hint_without_calls
from harness.judging.checks.explaining.transcript_lines import (
    describe_call,
    describe_ending,
    format_call,
    no_answer,
)
from harness.judging.checks.kind import Evidence
from harness.judging.checks.kinds.answer_refusal import find_refusal
from harness.judging.checks.kinds.result_text import find_in_result
from harness.judging.matching.amounts import find_amounts, is_close
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import find_nearest, find_passage, fold_text, format_line
from harness.types import ToolCall


def explain_missing(wanted: str, evidence: Evidence) -> tuple[list[str], str]:
    """Return the explanation and the hint for a ``wanted`` text that the answer lacks."""
    transcript = evidence.transcript
    lines = [f"Answer does not contain expected text: {format_value(wanted, 200)}"]
    if not transcript.answer.strip():
        lines.append(no_answer(transcript, describe_ending(transcript)))
        return lines, "See the calls: the model stopped before it answered."
    # Before the nearest passage: the figure is right, and the check asks for its notation.
    if (number := _parse_number(wanted)) is not None:
        for found in find_amounts(transcript.answer):
            if any(is_close(number, reading, 0) for reading in found.readings):
                other = (
                    f"The same number stands there in another notation: “{format_line(found.text)}”"
                )
                hint = (
                    f"Use answer_number: {format_value(number)} to accept a figure in any notation."
                )
                return [*lines, other], hint
    near, begins = find_nearest(wanted, transcript.answer), format_line(transcript.answer, 200)
    if near is not None:
        lines.append(f"Nearest passage: “{near.context}”")
    else:
        lines.append(f"Nothing in the answer is similar; it begins: “{begins}”")
    reasons, hint = _explain_by_transcript(wanted, evidence)
    return [*lines, *reasons], hint


def _explain_by_transcript(wanted: str, evidence: Evidence) -> tuple[list[str], str]:
    transcript = evidence.transcript
    # First, since a refusal explains all the rest.
    refusal = find_refusal(transcript)
    if refusal is not None:
        hint = "Reword the prompt, or assert `refuses: true` if that is right here."
        return [f"The model declined: “{refusal}”"], hint
    if not transcript.tool_calls:
        return [explain_no_calls(transcript)], hint_without_calls(
            transcript,
            "Ask for data that only a tool can know, or say in the tool's description when it is "
            "to be used.",
        )
    words = fold_text(wanted).split()
    if len(words) > 1 and all(find_passage(word, transcript.answer) for word in words):
        return ["All its words stand in the answer, but not next to each other."], (
            "Relax the assertion: ask for the telling words one by one, or use answer_matches."
        )
    return _explain_by_results(wanted, transcript.tool_calls)


def _explain_by_results(wanted: str, calls: Sequence[ToolCall]) -> tuple[list[str], str]:
    for call in calls:
        if found := find_in_result(wanted, call):
            return [f"{format_call(call, 80)} returned it: “{found.context}”"], (
                "The model had the text and did not pass it on: ask for it in the prompt, or relax "
                "the assertion."
            )
    if failed := next((call for call in calls if call.is_error), None):
        return [f"No tool returned it. A call failed: {describe_call(failed, 80)}"], (
            "See first why the call failed: the answer can only be as good as what the tools "
            "return."
        )
    return [f"No tool returned it either, in {len(calls)} call{'s' if len(calls) > 1 else ''}."], (
        "See whether the right tool was called with the right arguments, or whether the expected "
        "text is out of date; relax the assertion if the answer says the same in other words."
    )


def _parse_number(wanted: str) -> float | None:
    """Return the number that ``wanted`` consists of, or ``None``."""
    for amount in find_amounts(wanted):
        if fold_text(amount.text) == fold_text(wanted):
            found = amount.readings[0]
            # As people write it: 5 and not 5.0.
            return int(found) if found.is_integer() else found
    return None
