"""Every multi-turn case of the fetched data against the APIs.

Its expected calls, its tools, its configuration.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import (
    filter_by_turn,
    list_case_tools,
    list_class_tools,
    parse_call,
)
from harness.leaderboards.bfcl.apis.execution import (
    CLASSES,
    execute_call,
    list_method_names,
    make_instances,
)
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.checker.multi_turn import MultiTurnCase, find_turns_fault
from harness.leaderboards.bfcl.data import BfclEntry, find_entry, load_entries
from harness.leaderboards.bfcl.transcript_steps import OutputCall, Step
from tests.often import often

MULTI_TURN = [name for name, category in CATEGORIES.items() if category.judging == "multi_turn"]

PARAMETERS = {
    name: list(signature(getattr(api, name)).parameters)[1:]
    for class_name, api in CLASSES.items()
    for name in list_method_names(class_name)
}
"""Tool → the names of its parameters, in order."""


def cases(folder: Path) -> Iterator[BfclEntry]:
    for name in MULTI_TURN:
        yield from load_entries(name, folder)


def conversation_of(entry: BfclEntry, folder: Path) -> MultiTurnCase:
    return MultiTurnCase(
        classes=entry.question["involved_classes"],
        initial_config=entry.question["initial_config"],
        expected=entry.answer,
        long_context=entry.category.name == "multi_turn_long_context",
        data=folder,
    )


def as_steps(texts: Sequence[str]) -> list[Step]:
    """Return expected calls as a model would have made them, one a step, every argument by name."""
    steps = []
    for call in map(parse_call, texts):
        arguments = dict(zip(PARAMETERS[call.name], call.positional, strict=False)) | dict(
            call.arguments
        )
        steps.append(Step(calls=(OutputCall(call.name, arguments),)))
    return steps


@pytest.mark.slow
def test_the_expected_calls_of_every_case_pass(bfcl_data: Path) -> None:
    faults = {
        entry.id: find_turns_fault(
            conversation_of(entry, bfcl_data), [as_steps(texts) for texts in entry.answer]
        )
        for entry in cases(bfcl_data)
    }
    assert len(faults) == 800
    assert {case: fault for case, fault in faults.items() if fault is not None} == {}


@pytest.mark.parametrize(
    ("category", "calls", "digest"),
    often(
        [
            (
                "multi_turn_base",
                1142,
                "2c73682601c5561135e619571c240539daeaae3c732d0493fd1a4a89ca55f992",
            ),
            (
                "multi_turn_miss_func",
                1140,
                "e77b3610710a5aa89666e75e64ba7cbca9e6ea3dee3fc611c20583bb3cabb128",
            ),
            (
                "multi_turn_miss_param",
                1140,
                "f01707e167d472090b4dc7776b248d69d7a5df95589e3b9a2a2c3240735bea71",
            ),
            (
                "multi_turn_long_context",
                1203,
                "6ebf7cdd427d9b7fa9d5a9e549e3e877cedd72ed3dc03bad8bfda4cb48ab9146",
            ),
        ]
    ),
)
def test_every_expected_call_returns_what_upstream_returns(
    bfcl_data: Path, category: str, calls: int, digest: str
) -> None:
    """Compare one digest of all results, a line each, with that of upstream's own classes on the
    same calls.
    """
    results = []
    for entry in load_entries(category, bfcl_data):
        instances = conversation_of(entry, bfcl_data).create_instances()
        results += [
            execute_call(instances, parse_call(text)) for texts in entry.answer for text in texts
        ]
    lines = "".join(f"{result}\n" for result in results)
    assert (len(results), hashlib.sha256(lines.encode()).hexdigest()) == (calls, digest)


@pytest.mark.slow
def test_without_the_last_expected_calls_no_case_passes(bfcl_data: Path) -> None:
    for entry in cases(bfcl_data):
        last = max(turn for turn, texts in enumerate(entry.answer) if texts)
        turns = [as_steps(texts) for texts in entry.answer]
        turns[last] = [Step(unreadable="words", text="Done.")]
        fault = find_turns_fault(conversation_of(entry, bfcl_data), turns)
        assert fault is not None, entry.id
        assert fault.error_type == "multi_turn:empty_turn_model_response"


@pytest.mark.parametrize("class_name", CLASSES)
def test_every_tool_that_is_described_is_there_with_these_parameters(
    bfcl_data: Path, class_name: str
) -> None:
    tools = {tool.name: tool.parameters for tool in list_class_tools(class_name, bfcl_data)}
    assert sorted(tools) == sorted(list_method_names(class_name))
    for name, schema in tools.items():
        own = list(signature(getattr(CLASSES[class_name], name)).parameters.values())[1:]
        assert {one.name for one in own} == set(schema["properties"]), name
        assert {one.name for one in own if one.default is Parameter.empty} == set(
            schema["required"]
        ), name


def test_every_expected_tool_is_offered_in_its_turn_but_for_a_mistake_of_the_data(
    bfcl_data: Path,
) -> None:
    late, too_late = 0, {}
    for entry in cases(bfcl_data):
        held_out: dict[str, Any] = entry.question.get("missed_function", {})
        tools = list_case_tools(entry.question["involved_classes"], held_out, bfcl_data)
        late += any(tool.from_turn for tool in tools)
        for turn, texts in enumerate(entry.answer):
            offered = {tool.name for tool in filter_by_turn(tools, turn)}
            if missing := {parse_call(text).name for text in texts} - offered:
                too_late[entry.id, turn] = missing
    assert late == 200
    assert too_late == {("multi_turn_miss_func_49", 1): {"tail"}}


def test_instances_of_a_case_begin_as_its_configuration_says(bfcl_data: Path) -> None:
    entry = find_entry("multi_turn_base_0")
    again = [
        make_instances(
            entry.question["involved_classes"],
            entry.question["initial_config"],
            long_context=flag,
            data=bfcl_data,
        )
        for flag in (False, True)
    ]
    texts = [execute_call(instances, parse_call("find()")) for instances in again]
    assert len(texts[1]) > len(texts[0])
