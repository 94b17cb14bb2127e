from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.leaderboards.bfcl.apis.common import ApiCall, get_public_state
from harness.leaderboards.bfcl.apis.execution import (
    CLASSES,
    execute_call,
    list_method_names,
    make_instance,
    make_instances,
)
from tests.leaderboards.bfcl.apis.scenes import TABLES, an_api, text_of, tree


def test_a_class_that_is_not_there_is_told_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"BFCL has no API 'TicketApi' here\n.*TicketAPI"):
        make_instance("TicketApi", {}, long_context=False, data=TABLES)
    with pytest.raises(UsageError, match=r"here\n  There are GorillaFileSystem, MathAPI, "):
        make_instance("?", {}, long_context=False, data=TABLES)


def test_the_configuration_and_the_tables_stay_as_they_are() -> None:
    config: dict[str, Any] = {"TicketAPI": {"current_user": "ann", "ticket_queue": []}}
    before = repr((config, TABLES))
    api = make_instance("TicketAPI", config, long_context=False, data=TABLES)
    text_of(api, "create_ticket", title="T")
    messenger = make_instance("MessageAPI", {}, long_context=False, data=TABLES)
    text_of(messenger, "add_contact", user_name="Zoe")
    assert repr((config, TABLES)) == before


def test_instances_share_nothing() -> None:
    one, other = an_api("MessageAPI"), an_api("MessageAPI")
    text_of(one, "add_contact", user_name="Zoe")
    assert get_public_state(one) != get_public_state(other)


def test_what_a_call_brings_along_is_not_shared_either() -> None:
    tags = ["#a"]
    account = an_api("TwitterAPI", authenticated=True)
    text_of(account, "post_tweet", content="x", mentions=tags)
    text_of(account, "mention", tweet_id=4, mentioned_usernames=["b"])
    assert tags == ["#a"]


def test_each_tool_is_found_in_the_class_that_has_it() -> None:
    config = {"GorillaFileSystem": {"root": tree(note="x")}, "TicketAPI": {"current_user": "ann"}}
    instances = make_instances(
        ["GorillaFileSystem", "TicketAPI"], config, long_context=False, data=TABLES
    )
    assert execute_call(instances, ApiCall("cat", {"file_name": "note"})) == '{"file_content": "x"}'
    assert execute_call(instances, ApiCall("logout")) == '{"success": true}'


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ApiCall("fly"), "name 'fly' is not defined"),
        (ApiCall("_item", {"name": "x"}), "name '_item' is not defined"),
        (ApiCall("__init__"), "name '__init__' is not defined"),
        (ApiCall("root"), "name 'root' is not defined"),
        (ApiCall("GorillaFileSystem.pwd"), "name 'GorillaFileSystem.pwd' is not defined"),
        (
            ApiCall("cd", {"dir": "x"}),
            "GorillaFileSystem.cd() got an unexpected keyword argument 'dir'",
        ),
        (ApiCall("cd"), "GorillaFileSystem.cd() missing 1 required positional argument: 'folder'"),
        (ApiCall("cd", {"folder": 5}), "'int' object has no attribute 'rstrip'"),
    ],
)
def test_a_call_that_cannot_be_executed_has_a_result_that_says_so(call: ApiCall, text: str) -> None:
    disk = an_api("GorillaFileSystem")
    assert execute_call({"GorillaFileSystem": disk}, call) == f"Error during execution: {text}"


@pytest.mark.parametrize("class_name", CLASSES)
def test_a_table_that_is_missing_is_no_result_of_a_tool(class_name: str) -> None:
    tables = {
        class_name: {
            key: value
            for key, value in TABLES.get(class_name, {}).items()
            if key == "DEFAULT_STATE"
        }
    }
    assert make_instance(class_name, {}, long_context=False, data=tables)
    assert list_method_names(class_name)


def test_arguments_may_come_by_position() -> None:
    assert text_of(an_api("GorillaFileSystem", root=tree(docs={})), "cd", "docs") == (
        '{"current_working_directory": "docs"}'
    )
