"""A subject that is offered no tool judges nothing, unless the case says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.base.errors import ServerError
from harness.runner.preflight.preflight import require_tools
from harness.types import Caller, Case, Check, Tool, ToolList, ToolProblem

ONE = ToolList(tools=(Tool(name="a", input_schema={}),))
NONE = ToolList(tools=())
BROKEN = ToolList(
    tools=(),
    problems=tuple(
        ToolProblem(tool=f"t{n}", problem="its inputSchema is missing") for n in range(5)
    ),
)


HIDDEN = Check(kind="decision", params={"is": ["hidden"], "tool": "a"})


def case(*checks: tuple[str, dict[str, Any]], **more: Any) -> Case:
    return Case(
        name="c",
        prompt="p",
        checks=tuple(Check(kind=kind, params=params) for kind, params in checks),
        **more,
    )


def test_one_tool_in_one_of_its_sessions_is_enough() -> None:
    require_tools(case(), "shop", [ONE], "")
    require_tools(case(), "shop", [NONE, ONE], "")


def test_no_tool_at_all_is_an_error_that_says_how_to_expect_it() -> None:
    with pytest.raises(ServerError) as failed:
        require_tools(
            case(("must_not_call", {"tool": "a", "args": {}})), "shop", [NONE, NONE], "last words"
        )
    assert str(failed.value).startswith(
        "server 'shop' offers this user no tools, so there is nothing to judge. "
    )
    assert "'allow_no_tools: true'" in str(failed.value)
    assert failed.value.stderr_tail == "last words"


def test_tools_of_which_none_can_be_offered_are_named_with_their_reasons() -> None:
    with pytest.raises(
        ServerError, match=r"lists no tool that can be offered.*: t0: its .*t2.*; and 2 more"
    ):
        require_tools(case(("decision", {"is": ["hidden"], "tool": "a"})), "shop", [BROKEN], "")


@pytest.mark.parametrize(
    "says_so",
    [
        case(caller=Caller(allow_no_tools=True)),
        case(("decision", {"is": ["hidden"], "tool": "a"})),
        case(("decision", {"is": ["denied", "hidden"], "tool": "a"})),
        replace(case(), checks=(Check(kind="any_of", params={}, options=((HIDDEN,),)),)),
    ],
)
def test_a_case_may_say_that_there_is_none(says_so: Case) -> None:
    require_tools(says_so, "shop", [NONE], "")


def test_what_is_expected_of_tools_that_are_there_does_not_say_so() -> None:
    with pytest.raises(ServerError):
        require_tools(
            case(("decision", {"is": ["denied"]}), ("must_call", {"tool": "a", "args": {}})),
            "s",
            [NONE],
            "",
        )
