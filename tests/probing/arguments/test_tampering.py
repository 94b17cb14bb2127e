"""Arguments are bent into every spelling that a check may miss and a tool may understand."""

from __future__ import annotations

from typing import Any

from harness.probing.arguments.tampering import ArgumentTamperer
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.smuggling import smuggle_identity
from harness.sessions.identity.deliveries.meta import MetaDelivery
from harness.types import Tool

CLERK = ProbeCaller(name="clerk", user_context={"role": "clerk"})
ADMIN = ProbeCaller(name="admin", user_context={"role": "admin", "user_id": "U-1"})
SCHEMA: dict[str, Any] = {
    "properties": {
        "person_id": {"type": "string"},
        "name": {"type": "string"},
        "ward": {"type": "string", "enum": ["north"]},
        "limit": {"type": "integer"},
    }
}
CALL = ProbeCall(tool="get_person", arguments={"person_id": "P-17"}, changes=False)


def bent(name: str) -> list[Any]:
    """Return what the argument is bent to in some call."""
    bending = ArgumentTamperer(
        Tool(name="get_person", input_schema=SCHEMA), {"person_id": ["P-17", "P-18"]}
    )
    return [one.arguments.get(name, CALL) for one in bending.tamper(CLERK, CALL, ())]


def test_an_id_is_tried_in_every_spelling_of_the_same_and_of_another_record() -> None:
    tried = bent("person_id")
    assert {"p-17", " P-17 ", "P-017", "P%2D17", "P-17,P-18", "P-17/../P-18", "P-18", "*"} <= {
        one for one in tried if isinstance(one, str)
    }
    assert "Ｐ－１７" in tried


def test_an_argument_that_the_call_leaves_out_is_tried_with_whatever_stands_for_anything() -> None:
    assert {"*", "%", "", ".*"} <= {one for one in bent("name") if isinstance(one, str)}
    assert all(isinstance(one, int) for one in bent("limit") if one is not CALL)


def test_an_id_that_nothing_has_is_tried_before_anything_that_may_be_left_out() -> None:
    bending = ArgumentTamperer(
        Tool(name="get_person", input_schema=SCHEMA), {"person_id": ["P-17", "P-99"]}
    )
    tried = [one.arguments.get("person_id") for one in bending.tamper(CLERK, CALL, ())]
    assert next(one for one in tried if one != "P-17") == "P-17x"


def test_what_no_schema_declares_is_asked_for_at_once() -> None:
    assert "*" in bent("fields")
    assert True in bent("include_sensitive")


def test_an_identity_travels_under_the_names_of_those_whom_one_acts_for() -> None:
    sent = [*smuggle_identity(CLERK, CALL, ADMIN, SCHEMA, MetaDelivery())]
    assert any(one.arguments.get("impersonate") == "admin" for one in sent)
    assert any(one.arguments.get("on_behalf_of") == "U-1" for one in sent)
    assert any(one.arguments.get("roles") == ["admin"] for one in sent)


def test_where_the_identity_travels_in_meta_another_one_is_put_beside_it() -> None:
    beside = [
        one.meta for one in smuggle_identity(CLERK, CALL, ADMIN, SCHEMA, MetaDelivery()) if one.meta
    ]
    assert [meta["role"] for meta in beside] == ["admin"]
    assert "harness/user_context" not in beside[0]


def test_an_own_key_of_meta_is_never_taken_and_is_tried_in_the_arguments() -> None:
    sent = [
        *smuggle_identity(CLERK, CALL, ADMIN, SCHEMA, MetaDelivery(meta_key="com.example/user"))
    ]
    assert all("com.example/user" not in one.meta for one in sent)
    assert any("com.example/user" in one.arguments.get("_meta", {}) for one in sent)
