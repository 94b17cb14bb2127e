"""The explanation and hint for an expected text that is not in the answer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.judging.checks import Evidence
from harness.judging.checks.explaining.no_calls import hint_without_calls, without_calls
from harness.judging.checks.explaining.transcript_lines import as_made, ending, no_answer, outcome
from harness.judging.checks.kinds.answer_refusal import declines
from harness.judging.checks.kinds.result_text import where
from harness.judging.matching.amounts import amounts, close
from harness.judging.matching.json_values import show
from harness.judging.matching.texts import find, fold, line, nearest
from harness.types import ToolCall


def explain_missing(wanted: str, evidence: Evidence) -> tuple[list[str], str]:
    """Return the explanation and the hint for a ``wanted`` text that the answer lacks."""
    transcript = evidence.transcript
    lines = [f"Answer does not contain expected text: {show(wanted, 200)}"]
    if not transcript.answer.strip():
        lines.append(no_answer(transcript, ending(transcript)))
        return lines, "See the calls: the model stopped before it answered."
    other = _in_other_notation(wanted, transcript.answer)
    near = nearest(wanted, transcript.answer)
    if other is not None:
        lines.append(f"The same number stands there in another notation: “{line(other)}”")
        return (
            lines,
            f"Use answer_number: {show(_value(wanted))} to accept a figure in any notation.",
        )
    if near is not None:
        lines.append(f"Nearest passage: “{near.context}”")
    else:
        lines.append(
            f"Nothing in the answer is similar; it begins: “{line(transcript.answer, 200)}”"
        )
    reasons, hint = _why(wanted, evidence)
    return [*lines, *reasons], hint


def _why(wanted: str, evidence: Evidence) -> tuple[list[str], str]:
    transcript = evidence.transcript
    refusal = declines(transcript)
    if refusal is not None:
        return [
            f"The model declined: “{refusal}”"
        ], "Reword the prompt, or assert `refuses: true` if that is right here."
    if not transcript.tool_calls:
        return [without_calls(transcript)], hint_without_calls(
            transcript,
            "Ask for data that only a tool can know, or say in the tool's description when it is "
            "to be used.",
        )
    if _words_apart(wanted, transcript.answer):
        return ["All its words stand in the answer, but not next to each other."], (
            "Relax the assertion: ask for the telling words one by one, or use answer_matches."
        )
    return _by_the_results(wanted, transcript.tool_calls)


def _by_the_results(wanted: str, calls: Sequence[ToolCall]) -> tuple[list[str], str]:
    source = next(((call, found) for call in calls if (found := where(wanted, call))), None)
    if source is not None:
        return [f"{as_made(source[0], 80)} returned it: “{source[1].context}”"], (
            "The model had the text and did not pass it on: ask for it in the prompt, or relax the "
            "assertion."
        )
    failed = next((call for call in calls if call.is_error), None)
    if failed is not None:
        return [f"No tool returned it. A call failed: {as_made(failed, 80)} → {outcome(failed)}"], (
            "See first why the call failed: the answer can only be as good as what the tools "
            "return."
        )
    return [f"No tool returned it either, in {len(calls)} call{'s' if len(calls) > 1 else ''}."], (
        "See whether the right tool was called with the right arguments, or whether the expected "
        "text is out of date; relax the assertion if the answer says the same in other words."
    )


def _words_apart(wanted: str, answer: str) -> bool:
    words = fold(wanted).split()
    return len(words) > 1 and all(find(word, answer) for word in words)


def _value(wanted: str) -> float | None:
    """Return the number that ``wanted`` consists of, or ``None``."""
    found = [amount.readings[0] for amount in amounts(wanted) if fold(amount.text) == fold(wanted)]
    if not found:
        return None
    return int(found[0]) if found[0].is_integer() else found[0]


def _in_other_notation(wanted: str, answer: str) -> str | None:
    value = _value(wanted)
    if value is None:
        return None
    hits = (
        found
        for found in amounts(answer)
        if any(close(value, reading, 0) for reading in found.readings)
    )
    return next((found.text for found in hits), None)
