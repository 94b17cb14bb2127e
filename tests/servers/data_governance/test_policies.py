"""Who may do what, over the real protocol and the shipped policy file."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.common.identity import USER_CONTEXT_META_KEY, USER_CONTEXT_VARIABLE, identify
from servers.common.policy import MASK, Denied
from servers.common.policy_file import load_policies
from servers.common.shapes import shape_of
from servers.data_governance.database import CustomerDatabase
from servers.data_governance.results import PERSONAL_FIELDS
from servers.data_governance.server import POLICIES
from servers.data_governance.tools import make_tools
from tests.often import often
from tests.servers.data_governance.support import (
    ADMIN,
    ANALYST,
    NOBODY,
    READING,
    USER,
    WRITER,
    Caller,
    in_memory,
    personal_values,
    shared,
    text_of,
)

pytestmark = pytest.mark.anyio

BROKEN: list[Any] = [
    NOBODY,
    {},
    None,
    "admin",
    ["admin"],
    {"role": None},
    {"role": ""},
    {"role": 1},
    {"role": True},
    {"role": ["admin"]},
    {"role": {"admin": True}},
    {"role": "Admin"},
    {"role": "admin "},
    {"role": "root"},
    {"Role": "admin"},
    {"user": {"role": "admin"}},
    {"role": None, "permissions": ["customers:write", "pii:read"]},
    {"role": "admin", "padding": "x" * 20_000},
]
"""Identities that are none."""

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_customer_details", {"customer_id": "CUST_00042"}),
    ("get_customer_details", {"customer_id": "CUST_00042", "include_pii": True}),
    ("search_customers", {"name": "Omar"}),
    ("search_customers", {"email": "omar.petrov42@example.com"}),
    ("get_customer_purchase_history", {"customer_id": "CUST_00042"}),
    ("search_orders", {"customer_id": "CUST_00042"}),
    ("update_customer", {"customer_id": "CUST_00042", "status": "inactive"}),
    ("delete_customer", {"customer_id": "CUST_00042"}),
]
"""Every tool."""

POLICY = load_policies(
    POLICIES,
    {
        tool.name: shape_of(tool.parameters, tool.output_schema or {})
        for tool in make_tools(CustomerDatabase())
    },
)


@pytest.fixture
async def server() -> AsyncIterator[Caller]:
    """A server that the test does not change."""
    async with shared() as caller:
        yield caller


@pytest.fixture
async def fresh() -> AsyncIterator[Caller]:
    """A server of the test's own."""
    async with in_memory() as caller:
        yield caller


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Caller]:
    """The server with its policy file emptied."""
    empty = tmp_path / "policies.yml"
    empty.write_text("# nothing is forbidden\n", encoding="utf-8")
    async with in_memory(empty) as caller:
        yield caller


async def denied(server: Caller, user: Any, tool: str, **arguments: Any) -> str:
    result = await server.call(user, tool, **arguments)
    assert result.is_error
    assert result.structured_content is None
    assert text_of(result).startswith("Access denied: ")
    return text_of(result)


async def test_an_administrator_may_do_everything(fresh: Caller) -> None:
    assert await fresh.tools(ADMIN) == READING | {"update_customer", "delete_customer"}
    for tool, arguments in CALLS:
        assert not (await fresh.call(ADMIN, tool, **arguments)).is_error


@pytest.mark.parametrize("user", [ANALYST, USER, WRITER])
async def test_deleting_does_not_exist_for_anyone_else(server: Caller, user: Any) -> None:
    assert "delete_customer" not in await server.tools(user)
    assert "only an administrator may delete" in await denied(
        server, user, "delete_customer", customer_id="CUST_00042"
    )
    assert (await server.data(ADMIN, "get_customer_details", customer_id="CUST_00042"))[
        "name"
    ] == "Omar Petrov"


@pytest.mark.parametrize("user", [ANALYST, USER, WRITER])
@pytest.mark.parametrize("truth", [True, "true", 1, "yes", "on", "1", 1.0])
async def test_personal_data_is_refused_however_it_is_asked_for(
    server: Caller, user: Any, truth: object
) -> None:
    refusal = await denied(
        server, user, "get_customer_details", customer_id="cust_00042", include_pii=truth
    )
    assert "call again with include_pii=false" in refusal


@pytest.mark.parametrize("user", [ANALYST, USER])
async def test_the_rest_of_the_record_is_for_users_and_analysts(server: Caller, user: Any) -> None:
    details = await server.data(
        user, "get_customer_details", customer_id="CUST_00042", include_pii=False
    )
    assert details["name"] == "Omar Petrov"
    assert not details.keys() & set(PERSONAL_FIELDS)


@pytest.mark.parametrize("untruth", [False, "false", 0, "no", "off", "0"])
async def test_rules_see_arguments_as_the_tool_will(server: Caller, untruth: object) -> None:
    details = await server.data(
        USER, "get_customer_details", customer_id="CUST_00042", include_pii=untruth
    )
    assert details["name"] == "Omar Petrov"
    found = await server.data(USER, "search_customers", name="Omar Petrov", email=None)
    assert found["total_matches"] == 1


async def test_a_list_is_whole_for_admins_masked_for_analysts_and_filtered_for_users(
    server: Caller,
) -> None:
    rows = {
        name: (await server.data(user, "search_customers", name="Omar Petrov"))["customers"][0]
        for name, user in (("admin", ADMIN), ("analyst", ANALYST), ("user", USER))
    }
    assert (rows["admin"]["email"], rows["admin"]["phone"]) == (
        "omar.petrov42@example.com",
        "+1-619-555-0148",
    )
    assert (rows["analyst"]["email"], rows["analyst"]["phone"]) == (MASK, MASK)
    assert rows["user"] == {
        name: value for name, value in rows["admin"].items() if name not in ("email", "phone")
    }


@pytest.mark.parametrize("user", [ANALYST, USER, WRITER])
@pytest.mark.parametrize(
    "filters",
    [
        {"email": "omar"},
        {"phone": "0148"},
        {"email": "omar", "name": "Omar"},
        {"phone": "0148", "city": "San Diego"},
        {"email": "nobody@example.com"},
    ],
)
async def test_a_field_that_may_not_be_read_cannot_be_searched_for(
    server: Caller, user: Any, filters: dict[str, str]
) -> None:
    assert "search by name, city" in await denied(server, user, "search_customers", **filters)


async def test_changing_takes_the_role_and_the_permission(fresh: Caller) -> None:
    for user in (
        ANALYST,
        USER,
        {"role": "analyst"},
        {"role": "analyst", "permissions": "customers:write"},
    ):
        assert "update_customer" not in await fresh.tools(user)
        refusal = await denied(
            fresh, user, "update_customer", customer_id="CUST_00042", status="inactive"
        )
        assert "customers:write" in refusal
    assert "update_customer" in await fresh.tools(WRITER)
    await fresh.data(WRITER, "update_customer", customer_id="CUST_00042", status="inactive")
    assert (await fresh.data(USER, "get_customer_details", customer_id="CUST_00042"))[
        "status"
    ] == "inactive"


@pytest.mark.parametrize(
    "change", [{"email": "a@example.com"}, {"phone": "+1-619-555-0100"}, {"address": "1 Road"}]
)
async def test_personal_data_is_changed_by_administrators_only(
    server: Caller, change: dict[str, str]
) -> None:
    refusal = await denied(
        server, WRITER, "update_customer", customer_id="CUST_00042", city="Denver", **change
    )
    assert "only an administrator may change" in refusal
    assert (await server.data(ADMIN, "get_customer_details", customer_id="CUST_00042"))[
        "city"
    ] == "San Diego"


@pytest.mark.parametrize("user", BROKEN, ids=repr)
async def test_no_valid_identity_is_the_least_privilege(server: Caller, user: Any) -> None:
    assert await server.tools(user) == READING
    for tool, arguments in CALLS:
        await denied(server, user, tool, **arguments)


async def test_a_refusal_is_the_same_whether_the_customer_exists_or_not(server: Caller) -> None:
    for user in (NOBODY, USER):
        there = await denied(
            server, user, "get_customer_details", customer_id="CUST_00042", include_pii=True
        )
        nowhere = await denied(
            server, user, "get_customer_details", customer_id="CUST_99999", include_pii=True
        )
        assert there == nowhere


async def test_each_request_is_judged_by_its_own_identity() -> None:
    async with in_memory(environ={USER_CONTEXT_VARIABLE: '{"role": "admin"}'}) as server:
        assert "delete_customer" in await server.tools(NOBODY)
        assert "delete_customer" not in await server.tools(USER)
        assert "delete_customer" not in await server.tools("admin")
        await denied(
            server, USER, "get_customer_details", customer_id="CUST_00042", include_pii=True
        )
        whole = await server.data(
            NOBODY, "get_customer_details", customer_id="CUST_00042", include_pii=True
        )
        assert whole["email"] == "omar.petrov42@example.com"


async def test_with_the_policy_file_emptied_everything_is_open(opened: Caller) -> None:
    for user in (NOBODY, USER, {"role": None}):
        assert await opened.tools(user) == READING | {"update_customer", "delete_customer"}
        whole = await opened.data(
            user, "get_customer_details", customer_id="CUST_00042", include_pii=True
        )
        assert set(PERSONAL_FIELDS) <= whole.keys()
        found = await opened.data(user, "search_customers", email="omar.petrov42@example.com")
        assert found["customers"][0]["phone"] == "+1-619-555-0148"
    await opened.data(NOBODY, "delete_customer", customer_id="CUST_00042")


async def everything_a_user_can_get(server: Caller, user: Any) -> str:
    """Return all bytes that come back from calls of every tool with all sorts of arguments."""
    calls: list[tuple[str, dict[str, Any]]] = [*CALLS]
    for number in range(1, 301, 3):
        customer_id = f"CUST_{number:05d}"
        calls += [
            ("get_customer_details", {"customer_id": customer_id, "include_pii": number % 2 == 0})
        ]
        if number % 10 == 1:
            calls += [("get_customer_purchase_history", {"customer_id": customer_id})]
            calls += [("search_orders", {"customer_id": customer_id, "limit": 50})]
            calls += [("update_customer", {"customer_id": customer_id, "segment": "consumer"})]
            calls += [("update_customer", {"customer_id": customer_id, "email": "a@example.com"})]
    for letter in "abcdefghijklmnopqrstuvwxyz.@-' ":
        calls += [
            ("search_customers", {"name": letter, "limit": 50}),
            ("search_customers", {"email": letter}),
        ]
    for segment in ("consumer", "small_business", "enterprise"):
        for status in ("active", "inactive", "suspended"):
            calls += [("search_customers", {"segment": segment, "status": status, "limit": 50})]
    calls += [
        ("search_customers", {"phone": f"{end:04d}", "name": "a"}) for end in range(100, 200, 7)
    ]
    calls += [
        ("search_customers", {"limit": "all"}),
        ("get_customer_details", {"customer_id": "666-49-9598"[:5]}),
    ]
    results = [await server.call(user, tool, **arguments) for tool, arguments in calls]
    return "\n".join([result.model_dump_json() for result in results])


@pytest.mark.slow
@pytest.mark.parametrize("user", often([USER, ANALYST, WRITER, NOBODY]))
async def test_no_personal_value_of_anyone_is_in_any_byte_of_any_result(
    fresh: Caller, user: Any
) -> None:
    got = await everything_a_user_can_get(fresh, user)
    assert [value for value in personal_values() if value in got] == []


@pytest.mark.slow
async def test_the_search_for_personal_values_finds_them_where_they_are(opened: Caller) -> None:
    got = await everything_a_user_can_get(opened, USER)
    assert len([value for value in personal_values() if value in got]) > 300


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["admin", "role", "user"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "admin", "x"]), inner)
    ),
    max_leaves=5,
)


@given(JSON | st.fixed_dictionaries({"role": JSON, "permissions": JSON}))
def test_only_the_three_known_roles_ever_get_an_answer(value: Any) -> None:
    identity = identify({USER_CONTEXT_META_KEY: value}, {})
    role = value.get("role") if isinstance(value, dict) else None
    details = {"customer_id": "CUST_00042", "include_pii": True}
    if role != "admin":
        with pytest.raises(Denied):
            POLICY.check_call("get_customer_details", identity, details)
        assert POLICY.hides("delete_customer", identity)
        full = dict.fromkeys(PERSONAL_FIELDS, "secret")
        assert POLICY.govern("get_customer_details", identity, details, full) == {}
    if role not in ("admin", "analyst", "user"):
        with pytest.raises(Denied):
            POLICY.check_call("get_customer_details", identity, details | {"include_pii": False})
