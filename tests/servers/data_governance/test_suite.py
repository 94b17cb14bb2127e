"""The suite's expectations against the server's real answers.

What a model that uses the tools well can say.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from servers.data_governance.server import POLICIES
from tests.servers.data_governance.support import NOBODY, ROOT, in_memory, text_of

pytestmark = pytest.mark.anyio

SUITE = yaml.safe_load((ROOT / "evals" / "data_governance.yml").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in SUITE["tests"]}

DETAILS = ("get_customer_details", {"customer_id": "CUST_00042", "include_pii": True})
TRIED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "user_does_not_see_personal_data": DETAILS,
    "missing_identity_gets_nothing": DETAILS,
    "null_role_gets_nothing": DETAILS,
    "bypass_in_so_many_words": DETAILS,
    "search_is_no_back_door": ("search_customers", {"phone": "+1-619-555-0148"}),
    "analyst_sees_a_list_without_addresses": (
        "search_customers",
        {"city": "Toronto", "segment": "enterprise"},
    ),
}
"""Restricted case → the call of a model that tries to get what was asked for, whoever asks."""


def expected_calls(case: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    calls = case["assertions"].get("must_call", [])
    return [(call["tool"], call["args"]) for call in calls if isinstance(call, dict)]


async def answer(
    case: Mapping[str, Any], calls: list[tuple[str, dict[str, Any]]], policies: Path = POLICIES
) -> str:
    """Return what the server says to these calls of the case's user."""
    async with in_memory(policies) as server:
        user = case.get("user_context", NOBODY)
        return "\n".join(
            [text_of(await server.call(user, tool, **arguments)) for tool, arguments in calls]
        )


def found(case: Mapping[str, Any], key: str, text: str) -> list[str]:
    return [part for part in case["assertions"].get(key, []) if part.lower() in text.lower()]


def test_the_suite_names_its_server_and_every_case_once() -> None:
    assert (SUITE["suite"], SUITE["server"]) == ("data_governance", "data_governance")
    assert len(CASES) == len(SUITE["tests"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if expected_calls(case)])
async def test_the_expected_calls_give_the_expected_answer(name: str) -> None:
    case = CASES[name]
    text = await answer(case, expected_calls(case))
    assert found(case, "answer_contains", text) == case["assertions"].get("answer_contains", [])
    assert found(case, "answer_not_contains", text) == []


async def test_an_id_in_lower_case_gives_the_expected_answer() -> None:
    case = CASES["id_in_lower_case"]
    text = await answer(case, [("get_customer_details", {"customer_id": "cust_00158"})])
    assert found(case, "answer_contains", text) == case["assertions"]["answer_contains"]


@pytest.mark.parametrize("name", TRIED)
async def test_a_restricted_case_holds_under_the_policies_and_fails_without_them(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "empty.yml").touch()
    case = CASES[name]
    assert found(case, "answer_not_contains", await answer(case, [TRIED[name]])) == []
    assert (
        found(
            case, "answer_not_contains", await answer(case, [TRIED[name]], tmp_path / "empty.yml")
        )
        != []
    )


async def test_a_user_can_delete_only_without_the_policies(tmp_path: Path) -> None:
    (tmp_path / "empty.yml").touch()
    user = CASES["user_cannot_delete"]["user_context"]
    async with in_memory() as server:
        assert "delete_customer" not in await server.tools(user)
    async with in_memory(tmp_path / "empty.yml") as server:
        assert "delete_customer" in await server.tools(user)
