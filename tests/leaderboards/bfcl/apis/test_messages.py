from __future__ import annotations

import json
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import an_api, text_of


def a_messenger(**scenario: Any) -> Api:
    return an_api("MessageAPI", **{"current_user": "USR001", **scenario})


def test_a_message_gets_a_number_that_the_seed_determines() -> None:
    one, other = a_messenger(), a_messenger()
    sent = json.loads(text_of(one, "send_message", receiver_id="USR002", message="Hi"))
    assert json.loads(text_of(other, "send_message", receiver_id="USR002", message="Hi")) == sent
    number = sent["message_id"]["new_id"]
    assert sent["message"] == "Message sent to 'USR002' successfully."
    state = get_public_state(one)
    assert (state["generated_ids"], state["message_count"], state["inbox"][-1]) == (
        {number},
        2,
        {"USR002": "Hi"},
    )


def test_a_number_is_never_given_twice() -> None:
    first = json.loads(text_of(a_messenger(), "send_message", receiver_id="USR002", message="Hi"))[
        "message_id"
    ]
    again = text_of(
        a_messenger(generated_ids={first["new_id"]}),
        "send_message",
        receiver_id="USR002",
        message="Hi",
    )
    assert json.loads(again)["message_id"] != first


def test_nobody_is_written_to_who_is_not_there() -> None:
    messenger = a_messenger()
    assert text_of(messenger, "send_message", receiver_id="USR009", message="Hi") == (
        '{"error": "Receiver ID \'USR009\' not found."}'
    )
    assert get_public_state(messenger)["message_count"] == 1


def test_deleting_takes_the_latest_message_and_of_equal_ones_the_first() -> None:
    inbox = [{"USR002": "a"}, {"USR001": "x"}, {"USR002": "b"}, {"USR002": "a"}]
    messenger = a_messenger(inbox=inbox)
    assert json.loads(text_of(messenger, "delete_message", receiver_id="USR002")) == {
        "deleted_status": True,
        "receiver_id": "USR002",
        "message": "Receiver USR002's latest message deleted successfully.",
    }
    assert get_public_state(messenger)["inbox"] == [
        {"USR001": "x"},
        {"USR002": "b"},
        {"USR002": "a"},
    ]
    assert (
        text_of(messenger, "delete_message", receiver_id="USR009")
        == '{"error": "Receiver ID USR009 not found."}'
    )
    assert get_public_state(messenger)["message_count"] == 1


def test_messages_are_viewed_searched_and_counted_by_receiver() -> None:
    messenger = a_messenger(
        inbox=[{"USR002": "Lunch?"}, {"USR001": "No"}, {"USR002": "Later lunch"}]
    )
    assert text_of(messenger, "view_messages_sent") == (
        '{"messages": {"USR002": ["Lunch?", "Later lunch"], "USR001": ["No"]}}'
    )
    found = json.loads(text_of(messenger, "search_messages", keyword="LUNCH"))["results"]
    assert [one["message"] for one in found] == ["Lunch?", "Later lunch"]
    assert (
        text_of(messenger, "get_message_stats")
        == '{"stats": {"received_count": 3, "total_contacts": 2}}'
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("send_message", {"receiver_id": "USR002", "message": "x"}),
        ("delete_message", {"receiver_id": "USR002"}),
        ("view_messages_sent", {}),
        ("search_messages", {"keyword": "x"}),
        ("get_message_stats", {}),
    ],
)
def test_a_stranger_reads_and_writes_nothing(tool: str, arguments: dict[str, str]) -> None:
    messenger = a_messenger(current_user=None)
    assert text_of(messenger, tool, **arguments) == '{"error": "No user is currently logged in."}'


def test_a_contact_gets_the_next_number_which_counts_even_where_it_is_taken() -> None:
    messenger = a_messenger()
    assert json.loads(text_of(messenger, "add_contact", user_name="Cid"))["user_id"] == "USR003"
    assert (
        text_of(messenger, "add_contact", user_name="Cid")
        == '{"error": "User name \'Cid\' already exists."}'
    )
    clash = a_messenger(user_count=1)
    assert (
        text_of(clash, "add_contact", user_name="Cid")
        == '{"error": "User ID \'USR002\' already exists."}'
    )
    assert get_public_state(clash)["user_count"] == 2


def test_users_are_found_by_name_and_logged_in_by_number() -> None:
    messenger = a_messenger(current_user=None)
    assert text_of(messenger, "list_users") == '{"user_list": ["Ann", "Ben"]}'
    assert text_of(messenger, "get_user_id", user="Ben") == '{"user_id": "USR002"}'
    assert (
        text_of(messenger, "get_user_id", user="Zoe")
        == '{"error": "User \'Zoe\' not found in the workspace."}'
    )
    assert text_of(messenger, "message_login", user_id="USR009") == (
        '{"login_status": false, "message": "User ID \'USR009\' not found."}'
    )
    assert text_of(messenger, "message_get_login_status") == '{"login_status": false}'
    assert text_of(messenger, "message_login", user_id="USR002") == (
        '{"login_status": true, "message": "User \'USR002\' logged in successfully."}'
    )
    assert text_of(messenger, "message_get_login_status") == '{"login_status": true}'
