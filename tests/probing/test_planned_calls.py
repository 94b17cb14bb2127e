"""What a probe asks: the suites' calls, and one of each tool that only reads."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.models.tool_text.permission import Leave
from harness.probing.planned_calls import ProbeCall, choose_calls
from harness.types import Case, Check, Tool

ID = {"type": "string", "pattern": r"^C-\d{2}$", "description": "Id of the customer, such as C-17."}


def tool(name: str, *, reads: bool = True, **properties: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tool(name=name, input_schema=schema, read_only=reads)


GET, DELETE = tool("get_customer", id=ID), tool("delete_customer", reads=False, id=ID)


def expecting(*calls: tuple[str, Any]) -> Case:
    checks = [
        Check(kind="must_call", params={"tool": name, "args": arguments})
        for name, arguments in calls
    ]
    return Case(name="c", prompt="p", checks=tuple(checks))


def chosen(
    *calls: tuple[str, Any], tools: tuple[Tool, ...] = (GET, DELETE), destructive: bool = False
) -> Any:
    found, skipped = choose_calls(
        [expecting(*calls)], {each.name: each for each in tools}, destructive=destructive
    )
    return [(call.tool, dict(call.arguments)) for call in found], {
        each.tool: each.reason for each in skipped
    }


def test_the_calls_of_the_suite_are_made_once_each() -> None:
    made, _ = chosen(
        ("get_customer", {"id": "C-01"}),
        ("get_customer", {"id": "C-01"}),
        ("get_customer", {"id": "C-02"}),
    )
    assert made == [("get_customer", {"id": "C-01"}), ("get_customer", {"id": "C-02"})]


def test_a_call_with_exactly_these_arguments_is_made_also_without_any() -> None:
    optional = Tool(name="list", input_schema={"type": "object"}, read_only=True)
    made, _ = chosen(
        ("get_customer", {"$equals": {"id": "C-01"}}),
        ("list", {"$equals": {}}),
        ("list", {"city": "Oslo"}),
        ("list", {"city": {"$any": True}}),
        tools=(GET, optional),
    )
    assert made == [("get_customer", {"id": "C-01"}), ("list", {}), ("list", {"city": "Oslo"})]


def test_a_tool_that_reads_and_that_no_suite_calls_is_called_with_drafted_arguments() -> None:
    made, _ = chosen()
    assert made == [("get_customer", {"id": "C-17"})]


def test_a_tool_whose_verbs_nobody_knows_is_called_on_request_or_with_leave_only() -> None:
    push = Tool(name="git_push", description="Push the commits.", input_schema={"type": "object"})
    cases = [expecting(("git_push", {"$equals": {}}))]
    made, skipped = choose_calls(cases, {"git_push": push}, destructive=False)
    assert not made
    assert "not known to read" in skipped[0].reason
    for allowed in (
        {"destructive": True},
        {"destructive": False, "leave": Leave(tools=frozenset({"git_push"}))},
        {"destructive": False, "leave": Leave(everything=True)},
    ):
        (call,), _ = choose_calls(cases, {"git_push": push}, **allowed)
        assert (call.tool, call.changes) == ("git_push", True)


def test_what_changes_something_is_called_on_request_only_and_last() -> None:
    made, skipped = chosen(("delete_customer", {"id": "C-01"}))
    assert made == [("get_customer", {"id": "C-17"})]
    assert "--destructive" in skipped["delete_customer"]
    made, skipped = chosen(
        ("delete_customer", {"id": "C-01"}), tools=(DELETE, GET), destructive=True
    )
    assert made == [("get_customer", {"id": "C-17"}), ("delete_customer", {"id": "C-01"})]
    assert skipped == {}


def test_where_a_server_is_used_read_only_no_tool_is_called_that_is_not_marked() -> None:
    plain = Tool(name="show", input_schema={"type": "object"})
    tools = {each.name: each for each in (GET, DELETE, plain)}
    made, skipped = choose_calls([], tools, destructive=True, read_only=True)
    assert [call.tool for call in made] == ["get_customer"]
    assert [each.tool for each in skipped] == ["delete_customer", "show"]
    assert all("read-only" in each.reason for each in skipped)


def test_no_call_is_made_up_for_a_tool_that_is_not_marked_whatever_its_words_say() -> None:
    find = Tool(name="find_customer", description="Find a customer.", input_schema=GET.input_schema)
    made, skipped = chosen(tools=(find,))
    assert made == []
    assert "not marked as read-only" in skipped["find_customer"]
    assert chosen(("find_customer", {}), tools=(find,))[0] == []
    assert chosen(("find_customer", {"id": "C-01"}), tools=(find,))[0] == [
        ("find_customer", {"id": "C-01"})
    ]
    assert chosen(tools=(find,), destructive=True)[0] == [("find_customer", {"id": "C-17"})]


def test_a_call_that_a_suite_forbids_is_sent_only_to_a_tool_that_is_marked_as_read_only() -> None:
    forbidden = Check(kind="must_not_call", params={"tool": "get_customer", "args": {"id": "C-66"}})
    case = Case(name="c", prompt="p", checks=(forbidden,))
    unmarked = Tool(name="get_customer", input_schema=GET.input_schema)
    for one, destructive, calls in [(GET, False, 1), (unmarked, False, 0), (unmarked, True, 1)]:
        assert len(choose_calls([case], {one.name: one}, destructive=destructive)[0]) == calls


def test_a_tool_that_nobody_is_shown_may_change_something() -> None:
    made, skipped = chosen(("drop_all", {"sure": True}))
    assert ("drop_all", {"sure": True}) not in made
    assert "nobody is shown it" in skipped["drop_all"]
    made, _ = chosen(("drop_all", {"sure": True}), destructive=True)
    assert ("drop_all", {"sure": True}) in made


def test_arguments_that_are_patterns_or_do_not_fit_are_not_sent() -> None:
    made, _ = chosen(
        ("get_customer", {"id": {"$regex": "^C"}}), ("get_customer", {"id": "seventeen"})
    )
    assert made == [("get_customer", {"id": "C-17"})]


def test_arguments_that_a_suite_leaves_open_are_filled_in() -> None:
    both = tool("get_order", id=ID, limit={"type": "integer", "minimum": 1})
    made, _ = chosen(("get_order", {"id": "C-05"}), tools=(both,))
    assert [(name, arguments["id"]) for name, arguments in made] == [("get_order", "C-05")]
    assert isinstance(made[0][1]["limit"], int)


def test_a_tool_whose_arguments_nobody_can_guess_is_told() -> None:
    odd = tool("lookup", key={"type": "string", "pattern": r"^(?=a)(?!a).*$"})
    made, skipped = chosen(tools=(odd,))
    assert made == []
    assert set(skipped) == {"lookup"}


@given(
    st.dictionaries(st.text(max_size=20), st.text(max_size=60), max_size=4), st.text(max_size=60)
)
def test_two_calls_never_share_a_label_that_fits_in_a_table(
    arguments: dict[str, str], more: str
) -> None:
    one = ProbeCall(tool="t", arguments=arguments, changes=False)
    other = ProbeCall(tool="t", arguments={**arguments, "more": more}, changes=False)
    assert one.label != other.label
    assert len(one.label) <= 70
