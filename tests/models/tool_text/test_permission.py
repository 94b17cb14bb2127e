"""Which tools are known to read: by their marks, or else by their verbs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.tool_text.instructions import find_instructions
from harness.models.tool_text.permission import Leave, is_read_only, may_call
from harness.types import Tool
from tests.models.tool_text.public_tools import marked_as_changing, servers, unmarked

MOST_MISTAKEN = 2  # of 189 tools that their authors mark as changing, if the marks are removed
LEAST_KNOWN = 0.75  # of those marked as reading, likewise: else "nothing reads" would pass

TOOLS = [tool for tools in servers().values() for tool in tools.tools]
BARE = {
    (server, tool.name): tool
    for server, tools in servers().items()
    for tool in unmarked(tools).tools
}


def bare(name: str, description: str = "", **properties: object) -> Tool:
    return Tool(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": {key: {} for key in properties}},
    )


def test_no_public_tool_reads_that_its_author_marks_as_changing() -> None:
    assert [tool.name for tool in TOOLS if marked_as_changing(tool) and is_read_only(tool)] == []


def test_without_its_marks_hardly_a_public_tool_is_mistaken_for_one_that_reads() -> None:
    changing = [
        BARE[server, tool.name]
        for server, tools in servers().items()
        for tool in tools.tools
        if marked_as_changing(tool)
    ]
    assert len(changing) > 150
    assert len([tool.name for tool in changing if is_read_only(tool)]) <= MOST_MISTAKEN


def test_most_public_tools_that_read_are_known_to() -> None:
    reading = [tool for tool in TOOLS if tool.read_only and not tool.destructive]
    assert all(map(is_read_only, reading))
    known = [
        is_read_only(BARE[server, tool.name])
        for server, tools in servers().items()
        for tool in tools.tools
        if tool.read_only
    ]
    assert sum(known) >= LEAST_KNOWN * len(known)


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("git_push", ""),
        ("git_push", "Push changes to a remote repository."),
        ("git_fetch", "Fetch updates from a remote repository."),
        ("copy_sheet", "Copy a sheet from one spreadsheet to another."),
        ("merge_cells", "Merge a range of cells."),
        ("get_or_create_customer", "Get a customer, or create one."),
        ("find_and_lock", "Find the first free row and lock it."),
        ("next_message", "Returns the next message and marks it as read."),
        ("read_inbox", "Reads the inbox. It also deletes what is older than a week."),
        ("check_out", "Check out a book."),
        ("return_book", "Returns a book to the library."),
        ("query", "Run a query"),
        ("tabs", "List, create, close, or select a browser tab."),
        ("frobnicate", "Frobnicate the orders."),
        ("get_widget", "Merge the widgets."),
        ("", ""),
        ("list_append", ""),
        ("listPush", ""),
        ("view.drop", ""),
        ("check-rerun", ""),
        ("show_cancel", ""),
        ("find-replace", ""),
        ("compareAndDelete", ""),
        ("get_set", ""),
        ("get_rid_of_user", ""),
        ("list_prepend", "Prepends elements to a list"),
        ("get_loeschen", "Löscht alles"),
        ("check_task", "Check off a task"),
        ("show_popup", "Show a popup to all users"),
        ("control", "Returns control to the robot"),
        ("list_property", "Lists a property on the market"),
        ("browse", "Browse to a URL and click"),
        ("payroll", "Calculate the payroll and pay employees"),
        ("read_messages", "Read new messages. Messages are marked as read."),
        ("get_cart", "Returns the cart (creates it when missing)"),
        ("rotate", "Returns the new key after rotation"),
        ("lint", "Check code and fix problems"),
        ("get_seat", "Get a seat: reserves the seat for ten minutes"),
    ],
)
def test_what_is_not_known_to_read_does_not_read(name: str, description: str) -> None:
    assert not is_read_only(bare(name, description))


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_order", ""),
        ("list_update_history", "List the update history of a record."),
        ("search_posts", "Search all posts by text."),
        ("org_chart", "Returns the reporting lines."),
        ("get_weather", "Current weather of a city"),
        ("slack_list_channels", "List the channels of a workspace."),
        ("listOpenOrders", "Lists open orders and their totals."),
        ("list_open_orders", ""),
        ("check_stocks", ""),
        ("whoami", "Returns the identity of the user"),
        ("tables", "START HERE for SQLite: List available tables"),
        ("search_files", "Recursively search for files."),
        ("provider", "This tool retrieves details of a provider."),
        ("provider", "Gets up-to-date details of a provider."),
    ],
)
def test_a_tool_whose_verbs_only_read_reads(name: str, description: str) -> None:
    assert is_read_only(bare(name, description))


def test_code_to_execute_may_do_anything() -> None:
    assert not is_read_only(bare("get_rows", "Get the rows of a query.", sql=""))


@pytest.mark.parametrize(
    ("method", "others", "known"),
    [
        ({"enum": ["get", "get_comments"]}, {}, True),
        ({"enum": ["get", "delete"]}, {}, False),
        ({"enum": ["GET", "POST"]}, {}, False),
        ({"enum": ["mean", "median"]}, {}, True),
        ({"type": "string"}, {"url": {}}, False),
        ({"type": "string"}, {"id": {}}, True),
    ],
)
def test_a_parameter_that_chooses_what_is_done_has_to_offer_only_reading(
    method: dict[str, object], others: dict[str, object], known: bool
) -> None:
    schema = {"type": "object", "properties": {"method": method, **others}}
    assert is_read_only(Tool(name="get_it", description="Get it.", input_schema=schema)) is known


WORDS = st.text(st.characters(categories=["Ll"]), min_size=3, max_size=9)
TEXTS = st.lists(WORDS | st.sampled_from(["get", "list", "delete", "the", "and"]), max_size=6).map(
    " ".join
)
HINTS = st.sampled_from([None, True, False])


@given(TEXTS, TEXTS, HINTS, HINTS)
def test_marks_decide_whatever_the_words_say(
    name: str, description: str, read_only: bool | None, destructive: bool | None
) -> None:
    tool = Tool(
        name=name,
        description=description,
        input_schema={},
        read_only=read_only,
        destructive=destructive,
    )
    if read_only is not None or destructive:
        assert is_read_only(tool) == (read_only is True and not destructive)
    else:
        assert is_read_only(tool) == is_read_only(bare(name, description))


@given(WORDS, st.sampled_from(["", "{} the orders.", "{} orders of a customer."]))
def test_a_verb_that_nobody_knows_is_not_one_of_reading(verb: str, description: str) -> None:
    tool = bare(f"{verb}_orders", description.format(verb.capitalize()))
    assert not is_read_only(tool) or is_read_only(bare(verb))


def test_made_up_arguments_need_a_mark() -> None:
    tool = bare("get_order")
    marked = Tool(name="get_order", input_schema={}, read_only=True)
    assert may_call(tool)
    assert not may_call(tool, invented=True)
    assert may_call(marked, invented=True)


def test_leave_covers_the_tools_that_it_names() -> None:
    push, merge = bare("git_push"), bare("git_merge")
    leave = Leave(tools=frozenset({"git_push"}))
    assert may_call(push, leave)
    assert not may_call(merge, leave)
    assert may_call(merge, Leave(everything=True))


@pytest.mark.parametrize(
    ("prompt", "tool"),
    [
        ("Push the commit.", bare("git_push", "Push changes to a remote repository.")),
        ("Push the commit.", bare("git_push")),
        ("Could you please merge the cells A1:B2?", bare("merge_cells")),
        ("Show the cells, and merge them.", bare("merge_cells", "Merge a range of cells.")),
        ("Remove order 7", bare("delete_order", "Delete an order.")),
        ("Please archive channel random", bare("archive_channel", "Archive a channel")),
        ("Book me a table for two", bare("reserve", "Book a table at a restaurant")),
        ("Send Ann a message saying hello", bare("send_message", "Send a message")),
        ("Send me an email about it", bare("send_email", "Send an email")),
        ('Post "hi" in #general', bare("post_message", "Post a message to a channel")),
        ("Draft an email and send it to Bob", bare("send_email", "Send an email")),
        ("Add Ann to the channel general", bare("add_member", "Add a member to a channel")),
        ("Create a list called Done", bare("create_list", "Create a list on a board")),
        ("Set the thermostat to 21", bare("set_heat", "Set the thermostat of a room")),
    ],
)
def test_a_change_that_the_user_orders_may_be_made(prompt: str, tool: Tool) -> None:
    assert may_call(tool, orders=find_instructions(prompt))


@pytest.mark.parametrize(
    ("prompt", "tool"),
    [
        ("Fetch the remotes.", bare("git_fetch", "Fetch changes from a remote.")),
        ("Create a list of the sheets.", bare("create_sheet", "Create a sheet.")),
        ("Push the commit.", bare("git_merge", "Merge a branch.")),
        ("Order the customers by name.", bare("create_order", "Create an order.")),
        ("Review the changes.", bare("review_write", "Write a review.")),
        ("Put the figures into a table", bare("put_object", "Put an object into a bucket")),
        ("Send me the emails from Bob", bare("send_email", "Send an email")),
        ("Update me on ticket 7", bare("update_ticket", "Update a ticket")),
        ("Merge the results into one table", bare("merge_branches", "Merge branches")),
        ("Drop the weekends from the table", bare("drop_table", "Drop a table")),
        ("Create a table of the top customers", bare("create_table", "Create a table")),
        ("Create me an issue overview", bare("create_issue", "Create an issue")),
        ("Format it as JSON", bare("format_disk", "Format a disk")),
        ("Mark my words: what is new?", bare("mark_read", "Mark a message as read")),
        ("Resolve the host name example.org", bare("resolve_ticket", "Resolve a ticket")),
        ("Cancel rate of orders", bare("cancel_order", "Cancel an order")),
        ("Please refund status order 7", bare("refund_payment", "Refund a payment")),
        ("Restart count of pod x", bare("restart_pod", "Restart a pod")),
    ],
)
def test_an_order_for_something_else_allows_nothing(prompt: str, tool: Tool) -> None:
    assert not may_call(tool, orders=find_instructions(prompt))
