from __future__ import annotations

import json
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import an_api, text_of


def a_desk(**scenario: Any) -> Api:
    return an_api("TicketAPI", **{"current_user": "ann", **scenario})


def test_a_ticket_is_opened_in_the_users_name_under_the_next_number() -> None:
    desk = a_desk(ticket_counter=5)
    expected = {
        "id": 5,
        "title": "T",
        "description": "",
        "status": "Open",
        "priority": 1,
        "created_by": "ann",
    }
    assert json.loads(text_of(desk, "create_ticket", title="T")) == expected
    assert json.loads(text_of(desk, "get_ticket", ticket_id=5)) == expected
    assert get_public_state(desk)["ticket_counter"] == 6


@pytest.mark.parametrize("priority", [0, 6])
def test_a_priority_is_one_to_five(priority: int) -> None:
    assert "between 1 and 5" in text_of(a_desk(), "create_ticket", title="T", priority=priority)


def test_a_stranger_opens_and_sees_nothing() -> None:
    desk = a_desk(current_user=None)
    assert "Please log in to create" in text_of(desk, "create_ticket", title="T")
    assert text_of(desk, "get_user_tickets") == (
        "[{'error': 'User not authenticated. Please log in to view tickets.'}]"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [("close_ticket", {}, "closed"), ("resolve_ticket", {"resolution": "done"}, "resolved")],
)
def test_a_ticket_is_closed_or_resolved_once(
    tool: str, arguments: dict[str, str], word: str
) -> None:
    desk = a_desk()
    text_of(desk, "create_ticket", title="T")
    assert (
        text_of(desk, tool, ticket_id=1, **arguments)
        == f'{{"status": "Ticket 1 has been {word} successfully."}}'
    )
    assert (
        text_of(desk, tool, ticket_id=1, **arguments)
        == f'{{"error": "Ticket with ID 1 is already {word}."}}'
    )
    assert (
        text_of(desk, tool, ticket_id=2, **arguments) == '{"error": "Ticket with ID 2 not found."}'
    )
    ticket = get_public_state(desk)["ticket_queue"][0]
    assert (ticket["status"].lower(), ticket.get("resolution")) == (
        word,
        arguments.get("resolution"),
    )


def test_only_some_fields_are_edited_and_nothing_is_no_change() -> None:
    desk = a_desk()
    text_of(desk, "create_ticket", title="T")
    assert text_of(desk, "edit_ticket", ticket_id=1, updates={"title": "U", "owner": "x"}) == (
        '{"error": "Invalid fields for update: owner"}'
    )
    assert get_public_state(desk)["ticket_queue"][0]["title"] == "T"
    assert text_of(desk, "edit_ticket", ticket_id=1, updates={"title": "U", "priority": None}) == (
        '{"status": "Ticket 1 has been updated successfully."}'
    )
    ticket = get_public_state(desk)["ticket_queue"][0]
    assert (ticket["title"], ticket["priority"]) == ("U", 1)
    changes = {"title": "V", "description": "D", "status": "Waiting", "priority": 9}
    text_of(desk, "edit_ticket", ticket_id=1, updates=changes)
    assert json.loads(text_of(desk, "get_ticket", ticket_id=1)) == {
        "id": 1,
        "created_by": "ann",
        **changes,
    }
    assert "not found" in text_of(desk, "edit_ticket", ticket_id=9, updates={})


def test_users_see_their_own_tickets_by_status_in_any_case() -> None:
    desk = a_desk()
    text_of(desk, "create_ticket", title="first")
    text_of(desk, "create_ticket", title="second")
    text_of(desk, "close_ticket", ticket_id=1)
    assert "first" not in text_of(desk, "get_user_tickets", status="OPEN")
    assert "second" in text_of(desk, "get_user_tickets", status="OPEN")
    text_of(desk, "ticket_login", username="ben", password="x")
    assert text_of(desk, "get_user_tickets") == "[]"


def test_one_logs_in_with_any_name_and_out_once() -> None:
    desk = a_desk(current_user=None)
    assert text_of(desk, "ticket_get_login_status") == '{"login_status": false}'
    assert text_of(desk, "ticket_login", username="", password="x") == '{"success": false}'
    assert text_of(desk, "ticket_login", username="ben", password="x") == '{"success": true}'
    assert text_of(desk, "ticket_get_login_status") == '{"login_status": true}'
    assert [text_of(desk, "logout") for _ in range(2)] == [
        '{"success": true}',
        '{"success": false}',
    ]
