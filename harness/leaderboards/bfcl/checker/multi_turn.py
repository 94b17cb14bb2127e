"""Multi-turn cases: after each turn, the state (a text of it) must equal the expected one.

The model's calls and the expected calls are executed side by side, each on their own instances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.apis.common import (
    NotACall,
    get_public_state,
    parse_call,
    reparse_call,
    share_state,
)
from harness.leaderboards.bfcl.apis.execution import (
    Data,
    Instances,
    execute_call,
    format_failure,
    make_instances,
)
from harness.leaderboards.bfcl.apis.file_tree import Directory, File
from harness.leaderboards.bfcl.checker.values import Fault
from harness.leaderboards.bfcl.transcript_steps import OutputCall, Step
from harness.types import dataclass

_LONGEST = 200


def describe_difference(place: str, is_now: Any, should_be: Any) -> str:
    """Return the first difference between two unequal values, with its path from ``place`` on."""
    if type(is_now) is type(should_be):
        mine, theirs = _get_parts(is_now), _get_parts(should_be)
        for key, right in theirs.items():
            if key not in mine:
                return f"{place} lacks {key!r}: {shorten_text(repr(right))}"
            if mine[key] != right:
                return describe_difference(f"{place}[{key!r}]", mine[key], right)
        for key, left in mine.items():
            if key not in theirs:
                return f"{place} has the extra {key!r}: {shorten_text(repr(left))}"
    # Else the values have no parts, or differ by something else, such as a directory's name.
    return f"{place} is {shorten_text(repr(is_now))}, expected {shorten_text(repr(should_be))}"


def shorten_text(text: str) -> str:
    """Return ``text``, shortened if it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _get_parts(value: Any) -> Mapping[Any, Any]:
    """Return the parts of ``value`` by key or index."""
    match value:
        case Directory(contents=contents):
            return contents
        case File(content=content):
            return {"content": content}
        case dict():
            return value
        case list():
            return dict(enumerate(value))
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiTurnCase:
    """The initial state of a case, and its expected calls."""

    classes: Sequence[str]
    """The APIs of the case."""
    initial_config: Mapping[str, Any]
    """Class → its initial state."""
    expected: Sequence[Sequence[str]]
    """Calls, turn by turn, as the data writes them."""
    long_context: bool
    """Whether results are made longer."""
    data: Data
    """The fetched tables of the APIs."""

    def create_instances(self) -> Instances:
        """Return the APIs in the state in which the case begins."""
        return make_instances(
            self.classes, self.initial_config, long_context=self.long_context, data=self.data
        )


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """An expected call and its result."""

    call: str
    """The call, as the data writes it."""
    result: str
    """Its result as text, as a model reads it."""


def find_turns_fault(conversation: MultiTurnCase, turns: Sequence[Sequence[Step]]) -> Fault | None:
    """Return the fault of the first wrong turn.

    A turn without expected calls is executed but not judged; its changes count in the next turn. A
    step without readable calls is ignored.
    """
    there, wanted_turns = len(turns), len(conversation.expected)
    if there != wanted_turns:
        words = f"the conversation has {there} turns instead of {wanted_turns}: it was broken off"
        return Fault("multi_turn:force_terminated", words)
    model, truth = conversation.create_instances(), conversation.create_instances()
    share_state(truth, model)
    found: list[str] = []
    pairs = zip(turns, conversation.expected, strict=True)
    for number, (steps, expected) in enumerate(pairs, start=1):
        calls = [call for step in steps for call in step.calls]
        found += [execute_model_call(model, call) for call in calls]
        wanted = [ExecutedCall(text, execute_call(truth, parse_call(text))) for text in expected]
        if not wanted:
            continue
        if not calls:
            words = f"turn {number} expects calls, and none was made"
            return Fault("multi_turn:empty_turn_model_response", words)
        # The state first, as upstream: it names the fault if the results are wrong, too.
        fault = find_state_fault(number, model, truth) or find_results_fault(number, found, wanted)
        if fault is not None:
            return fault
    return None


def find_state_fault(number: int, model: Instances, truth: Instances) -> Fault | None:
    """Return the first difference between the public attributes of the instances, if any."""
    for name, instance in truth.items():
        found = get_public_state(model[name])
        for attribute, value in get_public_state(instance).items():
            if found[attribute] != value:
                words = describe_difference(f"{name}.{attribute}", found[attribute], value)
                return Fault("multi_turn:instance_state_mismatch", f"after turn {number}, {words}")
    return None


def find_results_fault(
    number: int, found: Sequence[str], wanted: Sequence[ExecutedCall]
) -> Fault | None:
    """Return the fault if an expected result is missing among all results so far.

    The order is free. Each result matches one expected result: if one is expected twice, it must
    occur twice.
    """
    # A copy, since later turns need all results again.
    left = list(found)
    for outcome in wanted:
        if outcome.result not in left:
            words = (
                f"no call up to turn {number} returned what {outcome.call} returns: "
                f"{shorten_text(outcome.result)}"
            )
            return Fault("multi_turn:execution_response_mismatch", words)
        left.remove(outcome.result)
    return None


def execute_model_call(instances: Instances, call: OutputCall) -> str:
    """Execute a model's call and return its result as text; an invalid call gets a text too."""
    try:
        return execute_call(instances, reparse_call(call.name, call.arguments))
    except NotACall as problem:
        return format_failure(str(problem))
