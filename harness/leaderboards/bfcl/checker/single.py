"""Categories with one reply: the expected calls, no call, any call, or an answer in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.catalog import Category
from harness.leaderboards.bfcl.checker.calls import find_calls_fault
from harness.leaderboards.bfcl.checker.values import Fault, standardize_answer
from harness.leaderboards.bfcl.transcript_steps import Step


def find_expected_calls_fault(
    category: Category,
    functions: Sequence[Mapping[str, Any]],
    expected: Sequence[Mapping[str, Any]],
    step: Step,
) -> Fault | None:
    """Return the fault of a reply that must make the expected calls."""
    if step.unreadable == "words":
        return Fault("ast_decoder:decoder_failed", "the reply cannot be read as calls")
    if step.unreadable is not None:
        words = "the arguments of a call are not an object"
        return Fault("ast_decoder:decoder_wrong_output_format", words)
    return find_calls_fault(category.name, category.language, functions, step.calls, expected)


def find_no_call_fault(step: Step) -> Fault | None:
    """Return the fault of a reply that must not make a call."""
    if not step.calls:
        return None
    called = ", ".join(call.name for call in step.calls)
    return Fault("irrelevance_error:decoder_success", f"called {called}, though no function fits")


def find_some_call_fault(step: Step) -> Fault | None:
    """Return the fault of a reply that must make a call."""
    if step.calls:
        return None
    return Fault("relevance_error:decoder_failed", "called nothing, though a function fits")


def find_answer_fault(turns: Sequence[Sequence[Step]], answers: Sequence[str]) -> Fault | None:
    """Return the fault if the last message of ``turns`` without a call lacks every answer."""
    if len(turns) != 1:
        return Fault("agentic:inference_error", f"there are {len(turns)} turns instead of one")
    words = [step.text for step in turns[0] if not step.calls]
    if not words or not words[-1]:
        return Fault("agentic:no_last_message", "there is no message that is not a call")
    said = standardize_answer(words[-1])
    if any(re.search(rf"\b{re.escape(standardize_answer(answer))}\b", said) for answer in answers):
        return None
    return Fault("agentic:answer_not_found", f"the last message contains none of {list(answers)!r}")
