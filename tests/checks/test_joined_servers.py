"""A prohibition of a tool's own name also covers the longer name on a joined server."""

from __future__ import annotations

from typing import Any

import pytest

from harness.runlog.lines import ToolsLine, dumped, parsed
from harness.sessions.joined_servers import JoinedTools
from harness.types import Tool, ToolList
from tests.checks.scenes import call, fails, passes, scene


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


def test_a_prohibition_covers_no_other_name() -> None:
    for name in ("find__wipe", "shop__wipe_all", "shop__find", "rewipe"):
        passes("must_not_call", ["wipe"], scene(call(name), tools=ADMIN))
    passes("must_not_call", ["shop__wipe"], scene(call("mail__wipe"), tools=ADMIN))
    passes("must_not_call", ["wipe"], scene(call("shop__wipe")))  # no server is joined


def test_a_run_that_is_graded_again_from_its_log_forbids_the_same() -> None:
    line = parsed(dumped(ToolsLine(server="shop+mail", tools=ADMIN)).encode())
    assert isinstance(line, ToolsLine)
    fails("must_not_call", ["wipe"], scene(call("shop__wipe"), tools=line.tools), "")
