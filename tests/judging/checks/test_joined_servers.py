"""A prohibition of a tool's own name also covers the longer name on a joined server."""

from __future__ import annotations

from typing import Any

import pytest

from harness.runlog.lines import ToolsLine, dump_line, parse_line
from harness.sessions.joined_servers import JoinedTools
from harness.types import Tool, ToolList
from tests.judging.checks.scenes import call, fails, judge, passes, scene


def _seen(**servers: list[str]) -> ToolList:
    lists = [
        ToolList(tools=tuple(Tool(name=name, input_schema={}) for name in names))
        for names in servers.values()
    ]
    return JoinedTools(list(servers), lists).offered


GUEST = _seen(shop=["find"], mail=["find", "wipe"])
"""Sees ``wipe`` on one server, by its own name."""
ADMIN = _seen(shop=["find", "wipe"], mail=["find", "wipe"])
"""Sees it on both, as ``shop__wipe`` and ``mail__wipe``."""


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("must_not_call", ["wipe"]),
        ("must_not_call", [{"tool": "wipe", "args": {"all": True}}]),
        ("only_call", ["find"]),
        ("only_call", ["wipe"]),
        ("max_calls", {"tool": "wipe", "limit": 0}),
        ("tool_result_not_contains", {"tool": "wipe", "text": "gone"}),
    ],
)
def test_a_prohibition_covers_the_tool_under_the_names_of_joined_servers(
    kind: str, value: Any
) -> None:
    for name in ("shop__wipe", "mail__wipe"):
        fails(kind, value, scene(call(name, {"all": True}, text="gone"), tools=ADMIN), "")
    if value != ["wipe"] or kind == "must_not_call":
        fails(kind, value, scene(call("wipe", {"all": True}, text="gone"), tools=GUEST), "")


@pytest.mark.parametrize(
    ("value", "forbidden"),
    [
        ({"must_call": ["wipe"]}, True),
        ({"must_call": [{"tool": "wipe", "args": {"all": True}}]}, True),
        ({"must_call": [{"tool": "wipe", "min_times": 2}]}, True),
        ({"must_call": [{"tool": "wipe", "min_times": 3}]}, False),
        ({"must_call": [{"tool": "wipe", "args": {"all": False}}]}, False),
        ({"must_call": ["shop__wipe"]}, True),
        ({"must_call": ["post__wipe"]}, False),
        ({"must_call_any": ["find", "wipe"]}, True),
        ({"must_call_in_order": ["wipe", "shop__wipe"]}, False),
        ({"must_call_in_order": ["shop__wipe", "wipe"]}, True),
        ({"must_succeed": ["wipe"]}, True),
        ({"must_be_denied": ["wipe"]}, False),
        ({"tool_result_contains": {"tool": "wipe", "text": "gone"}}, True),
        ({"tool_result": {"tool": "wipe", "value": "gone"}}, True),
        ({"decision": {"tool": "wipe", "is": "allowed"}}, True),
        ({"decision": {"tool": "wipe", "is": "hidden"}}, False),
        ({"any_of": [{"must_call": ["wipe"]}, {"answer_contains": ["no"]}]}, True),
        ({"all_of": [{"must_call": ["wipe"]}, {"answer_contains": ["no"]}]}, False),
    ],
)
def test_what_must_not_hold_of_a_tool_must_not_hold_of_it_on_any_joined_server(
    value: Any, forbidden: bool
) -> None:
    calls = [
        call(name, {"all": True}, text="gone", reply=reply)
        for reply, name in enumerate(("shop__wipe", "mail__wipe"), 1)
    ]
    assert judge("not", value, scene(*calls, tools=ADMIN)).verdict == (
        "failed" if forbidden else "passed"
    )


def test_what_must_hold_of_a_tool_is_not_shown_by_another_name_of_it_however_many_nots_it_has() -> (
    None
):
    called = scene(call("shop__wipe"), tools=ADMIN)
    assert judge("must_call", ["wipe"], called).verdict == "failed"
    assert judge("not", {"not": {"must_call": ["wipe"]}}, called).verdict == "failed"
    assert judge("not", {"not": {"must_call": ["shop__wipe"]}}, called).verdict == "passed"


def test_calls_that_must_not_fail_are_those_of_the_tool_on_every_joined_server() -> None:
    for name in ("shop__wipe", "mail__wipe"):
        failed = scene(call(name, outcome="tool_error"), call("shop__find"), tools=ADMIN)
        fails("no_tool_errors", {"tool": "wipe"}, failed, "Tool call failed")
        passes("no_tool_errors", {"tool": "find"}, failed)


def test_a_prohibition_covers_no_other_name() -> None:
    for name in ("find__wipe", "shop__wipe_all", "shop__find", "rewipe"):
        passes("must_not_call", ["wipe"], scene(call(name), tools=ADMIN))
    passes("must_not_call", ["shop__wipe"], scene(call("mail__wipe"), tools=ADMIN))
    passes("must_not_call", ["wipe"], scene(call("shop__wipe")))  # no server is joined


def test_a_run_that_is_graded_again_from_its_log_forbids_the_same() -> None:
    line = parse_line(dump_line(ToolsLine(server="shop+mail", tools=ADMIN)).encode())
    assert isinstance(line, ToolsLine)
    fails("must_not_call", ["wipe"], scene(call("shop__wipe"), tools=line.tools), "")
