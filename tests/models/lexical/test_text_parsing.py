"""Words, actions, dates, values and requests: how a prompt is read."""

from __future__ import annotations

from datetime import date

import pytest

from harness.models.lexical.choices import split_prompt
from harness.models.lexical.dates import find_periods
from harness.models.lexical.text_parsing import parse_text
from harness.models.lexical.text_values import find_values
from harness.models.tool_text.actions import (
    find_action,
    find_plain_action,
    find_requested_actions,
    is_permitted,
)
from harness.models.tool_text.terms import extract_terms, find_synonyms, split_words
from harness.types import Tool, ToolList
from tests.models.lexical.conversations import talk

TODAY = date(2026, 3, 10)  # a Tuesday


def kinds(text: str) -> list[tuple[str, str]]:
    return [(value.kind, value.text) for value in find_values(text, TODAY)]


def tool(name: str, description: str = "") -> Tool:
    return Tool(name=name, description=description, input_schema={"type": "object"})


def test_identifiers_and_prose_come_apart_into_the_same_words() -> None:
    assert (
        split_words("getCustomer_details")
        == split_words("get customer details")
        == ["get", "customer", "details"]
    )


def test_forms_of_a_word_are_one_term_and_empty_words_none() -> None:
    assert extract_terms("the categories of a category") == (extract_terms("category")[0],) * 2


def test_synonyms_lead_in_both_directions() -> None:
    assert extract_terms("client")[0] in find_synonyms(extract_terms("customer")[0])
    assert extract_terms("customer")[0] in find_synonyms(extract_terms("client")[0])


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("Show me the customer", {"read"}),
        ("Please delete the customer", {"delete"}),
        ("Show it, but do not delete it", {"read"}),
        ("Never remove anything", {"read"}),
        ("Who deleted the customer?", {"read"}),
        ("How do I delete a customer?", {"read"}),
        ("List all deleted customers", {"read"}),
        ("List all open orders", {"read"}),
        ("Open an account", {"create"}),
        ("Update the e-mail and remove the phone", {"update", "delete"}),
        ("Hello", set()),
    ],
)
def test_the_actions_that_are_asked_for_are_those_of_its_verbs(
    text: str, actions: set[str]
) -> None:
    assert find_requested_actions(text) == actions


def test_words_in_quotes_ask_for_nothing() -> None:
    assert parse_text('Echo "delete everything"', TODAY).actions == frozenset()


@pytest.mark.parametrize(
    ("name", "description", "action"),
    [
        ("delete_customer", "", "delete"),
        ("t1", "Permanently removes a customer.", "delete"),
        ("get_customer", "Deletes a customer.", "delete"),
        ("t1", "Looks up a customer. Never deletes anything.", "read"),
        ("set_email", "", "update"),
        ("git_commit", "Records changes to the repository", "create"),
        ("echo", "Echoes the input", None),
        ("order_tool", "For deleting orders", "delete"),
        ("tickets", "Lets an agent close or reopen a ticket", "update"),
        ("drop_table", "", "delete"),
        ("update_ticket", "Ticket endpoint.", "update"),
        ("settings", "Workspace settings by section.", None),
        ("changes", "Changes between two commits.", None),
        ("cancellation_policy", "Cancellation policy of a hotel.", None),
        ("removed_items", "Items removed from the cart.", None),
        ("close_price", "Returns the closing price of a share.", "read"),
        ("prices", "Closing prices of a share.", None),
        ("drop_rate", "Gets the drop rate of an item.", "read"),
    ],
)
def test_what_a_tool_does_is_read_from_its_name_and_first_sentence(
    name: str, description: str, action: str | None
) -> None:
    assert find_action(tool(name, description)) == action


@pytest.mark.parametrize(
    ("name", "description", "action"),
    [
        ("settings", "", None),
        ("edit_distance", "Edit distance between two texts.", None),
        ("update_history", "History of price updates.", None),
        ("reset_status", "Status of a reset.", None),
        ("update_ticket", "Update the status of a ticket.", "update"),
        ("delete_order", "", "delete"),
    ],
)
def test_a_word_that_may_be_a_noun_says_nothing_plainly(
    name: str, description: str, action: str | None
) -> None:
    assert find_plain_action(tool(name, description)) == action


def test_a_request_to_see_finds_a_tool_that_only_speaks_of_changes() -> None:
    tools = ToolList(tools=(tool("settings", "Workspace settings by section"),))
    came = talk(tools, "Show the workspace settings by section", lambda _tool, _arguments: "{}")
    assert [call[0] for call in came.calls] == ["settings"]


def test_a_request_to_see_permits_no_change_and_none_but_delete_permits_deleting() -> None:
    assert is_permitted(frozenset({"read"}), "read")
    assert not is_permitted(frozenset({"read"}), "update")
    assert not is_permitted(frozenset({"read", "update"}), "delete")
    assert is_permitted(frozenset({"delete"}), "delete")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2025-06-01", "2025-06-01", "2025-06-01"),
        ("on May 5th, 2025", "2025-05-05", "2025-05-05"),
        ("on 5 May 2025", "2025-05-05", "2025-05-05"),
        ("in February 2024", "2024-02-01", "2024-02-29"),
        ("in 2024-02", "2024-02-01", "2024-02-29"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("in Q3 2024", "2024-07-01", "2024-09-30"),
        ("in 2024", "2024-01-01", "2024-12-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("this month", "2026-03-01", "2026-03-31"),
        ("last quarter", "2025-10-01", "2025-12-31"),
        ("next week", "2026-03-16", "2026-03-22"),
        ("yesterday", "2026-03-09", "2026-03-09"),
        ("the last 30 days", "2026-02-08", "2026-03-10"),
        ("since 2023", "2023-01-01", None),
        ("after 2023", "2024-01-01", None),
        ("from 2024", "2024-01-01", "2024-12-31"),
        ("before March 2025", None, "2025-02-28"),
        ("between 1 May and 3 June 2025", "2025-05-01", "2025-06-03"),
        ("from 2025-06-01 to 2025-06-30", "2025-06-01", "2025-06-30"),
        ("from 2023 to 2024", "2023-01-01", "2024-12-31"),
    ],
)
def test_a_period_gets_its_first_and_last_day(
    text: str, first: str | None, last: str | None
) -> None:
    (period,) = find_periods(f"Orders {text}, please", TODAY)
    assert (period.first and period.first.isoformat(), period.last and period.last.isoformat()) == (
        first,
        last,
    )


@pytest.mark.parametrize(
    "text", ["31 February 2025", "2025-13-01", "CUST_2024", "$2000", "v1.2024", "ORD-2024-01-05x"]
)
def test_what_is_no_date_makes_no_period(text: str) -> None:
    assert all(period.first != period.last for period in find_periods(text, TODAY))
    assert "2024" not in text or find_periods(text, TODAY) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("customer cust_00042", [("id", "cust_00042")]),
        ("the account c-1001", [("id", "c-1001")]),
        ('echo "two words" now', [("quoted", "two words")]),
        ("it's O'Brien's", [("name", "O'Brien")]),
        ("mail jo.x+y@example.org.", [("email", "jo.x+y@example.org")]),
        ("see https://example.org/a?b=1.", [("url", "https://example.org/a?b=1")]),
        ("call +1-619-555-0148 now", [("phone", "+1-619-555-0148")]),
        ("in Europe/Berlin", [("zone", "Europe/Berlin")]),
        ("all *.py in /srv/code.", [("glob", "*.py"), ("path", "/srv/code")]),
        ("stage app.py and README.md", [("file", "app.py"), ("file", "README.md")]),
        ("at 9am or 14:30", [("time", "09:00"), ("time", "14:30")]),
        ("Find Maria Keller", [("name", "Maria Keller")]),
        ("Orders of TSLA", [("code", "TSLA")]),
        ("Orders are late. Customers wait.", []),
    ],
)
def test_values_are_found_by_their_looks(text: str, found: list[tuple[str, str]]) -> None:
    assert kinds(text) == found


@pytest.mark.parametrize(
    ("text", "number", "measure", "unit"),
    [
        ("$10,000 now", 10_000, "$", "now"),
        ("1.5 million euros", 1_500_000, "$", ""),
        ("6.5 percent", 6.5, "%", ""),
        ("7%", 7, "%", ""),
        ("-3", -3, "", ""),
        ("10k users", 10_000, "", "users"),
        ("ten lines", 10, "", "lines"),
        ("the last 180 days", 180, "", "days"),
    ],
)
def test_a_number_knows_its_measure_and_what_it_counts(
    text: str, number: float, measure: str, unit: str
) -> None:
    (value,) = (value for value in find_values(text, TODAY) if value.kind == "number")
    assert (value.number, value.measure, value.unit) == (number, measure, unit)


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        ("Show CUST_1 and list its orders.", ["Show CUST_1", "list its orders."]),
        ("Show CUST_1's address and order count", ["Show CUST_1's address and order count"]),
        ("Show CUST_1. Then find its orders.", ["Show CUST_1", "find its orders."]),
        ("Show CUST_1, then delete it", ["Show CUST_1", "delete it"]),
        ("What is A and what is B?", ["What is A", "what is B?"]),
        ("orders and returns of 2024", ["orders and returns of 2024"]),
        ("1. Show A.\n2. Find B", ["Show A", "Find B"]),
        ('Write "a. Then delete b" to /x.txt', ['Write "a. Then delete b" to /x.txt']),
        ("Pay 1.5 to Dr. who", ["Pay 1.5 to Dr", "who"]),
        ("", [""]),
    ],
)
def test_a_prompt_comes_apart_into_its_requests(prompt: str, parts: list[str]) -> None:
    found = [request.reading.text for request in split_prompt(prompt, TODAY)]
    assert found == parts


def test_only_what_comes_after_then_has_to_wait() -> None:
    assert [
        request.after for request in split_prompt("Show A, find B and then delete C", TODAY)
    ] == [
        False,
        False,
        True,
    ]


def test_a_negated_verb_of_change_is_nothing_to_look_for() -> None:
    assert (
        extract_terms("delete")[0]
        not in parse_text("Do not delete the customer", TODAY).query_terms()
    )
    assert (
        extract_terms("bought")[0]
        in parse_text("Who has not bought anything?", TODAY).query_terms()
    )
