"""Categories with one reply: the expected calls, no call, or any call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.catalog import Category
from harness.leaderboards.bfcl.checker.calls import find_calls_fault
from harness.leaderboards.bfcl.checker.values import Fault
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
