"""A tool's name that nobody is offered is a mistake that is told before anything is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from harness.base.errors import HarnessError, InvalidInput, NotAdmitted, ServerError
from harness.judging.checks import VOCABULARY
from harness.runner.planning.plan import RunPlan, make_plan
from harness.runner.preflight.named_tools import ON_COMMAND_LINE
from harness.runner.preflight.preflight import Preflight
from harness.types import (
    THE_LIST,
    Caller,
    Case,
    Check,
    Credential,
    GuardRails,
    JsonObject,
    LeaderboardRules,
    Location,
    ModelSpec,
    NamedTool,
    ScriptedCall,
    ServerSpec,
    SimulatedUser,
    Suite,
    Tool,
    ToolList,
    ToolProblem,
    TransportSpec,
    Turn,
)
from tests.support import LendsOneByOne, MemorySession, a_case, a_tool_list

LISTS = {
    "admin": a_tool_list("list_orders", "delete_order"),
    "guest": a_tool_list("list_orders"),
    None: a_tool_list("list_orders"),
}
SERVER = ServerSpec(name="shop", transport=TransportSpec(command="x"))
AT = Location(file="s.yml", line=7, column=9)


class Lists(LendsOneByOne):
    """Lends sessions whose tools go by the user's role, and remembers to whom."""

    def __init__(
        self, lists: Mapping[str | None, ToolList] = LISTS, **failing: HarnessError
    ) -> None:
        self.lent: list[str | None] = []
        self._lists = lists
        self._failing = failing

    @asynccontextmanager
    async def lend_session(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> AsyncGenerator[MemorySession]:
        role = (user_context or {}).get("role")
        self.lent.append(role)
        if role in self._failing:
            raise self._failing[role]
        session = MemorySession()
        session.tools = self._lists[role]
        yield session

    def prestart(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> None:
        pass


def asking(assertions: Mapping[str, Any], role: str | None = None, **more: Any) -> Case:
    checks = tuple(
        check.with_location(AT)
        for kind, value in assertions.items()
        for _, check in VOCABULARY.parse(kind, value)
    )
    context = None if role is None else {"role": role}
    return a_case(
        name=f"{assertions} {role}", checks=checks, caller=Caller(user_context=context), **more
    )


def plan_of(
    *cases: Case, server: ServerSpec = SERVER, provider: str = "lexical", **suite: Any
) -> RunPlan:
    model = ModelSpec(name="m", provider=provider, model_id="m")
    asked = Suite(name="suite", cases=cases, **suite)
    return make_plan([asked], models_of=lambda _: [model], server_of=lambda _: server)


def look(*cases: Case, pool: Lists | None = None, **more: Any) -> Lists:
    pool = pool or Lists()
    plan = plan_of(*cases, **more)
    anyio.run(Preflight(plan).list_tools, pool)
    return pool


def told(*cases: Case, **more: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        look(*cases, **more)
    return str(caught.value)


# ── Everywhere that a tool is named ──────────────────────────────────────────────────────────

X = "delet_order"


@pytest.mark.parametrize(
    "assertions",
    [
        {"must_call": [X]},
        {"must_not_call": [X]},
        {"must_not_call": [{"tool": X, "args": {}}]},
        {"must_call_any": ["list_orders", X]},
        {"must_call_in_order": ["list_orders", X]},
        {"only_call": [X]},
        {"max_calls": {"limit": 1, "tool": X}},
        {"must_succeed": [X]},
        {"must_be_denied": [X]},
        {"must_error": [X]},
        {"no_tool_errors": {"tool": X}},
        {"recovers_from_error": {"tool": X}},
        {"tool_result_contains": {"text": "a", "tool": X}},
        {"tool_result_not_contains": {"text": "a", "tool": X}},
        {"tool_result": {"tool": X, "path": "a"}},
        {"output_schema_valid": {"tool": X}},
        {"end_state": {"tool": X, "path": "a"}},
        {"end_state": {"resource": "a://b", "same_state_as": [X]}},
        {"decision": {"is": "hidden", "tool": X}},
        {"graded": {"expected": [{"tool": X}]}},
        {"any_of": [{"must_call": [X]}, {"max_calls": 1}]},
        {"all_of": [{"must_not_call": [X]}]},
        {"not": {"all_of": [{"must_not_call": [X]}]}},
    ],
)
def test_every_check_that_names_a_tool_is_looked_at(assertions: dict[str, Any]) -> None:
    server = replace(SERVER, isolation="case")
    message = told(asking(assertions, "admin"), server=server)
    assert message.startswith(
        "s.yml:7:9: the server 'shop' offers no tool 'delet_order'.\n    Did you mean "
        "'delete_order'?"
    )


def test_checks_of_turns_and_calls_that_a_case_or_a_server_makes_itself_are_looked_at() -> None:
    check = Check(kind="must_not_call", params={"tool": "in_turn", "args": {}})
    case = asking(
        {"must_call": ["list_orders"]},
        turns=(Turn(prompt="x", checks=(check,)),),
        setup=(ScriptedCall(tool="in_setup", at=AT),),
        teardown=(ScriptedCall(tool="in_teardown"),),
        leaderboard=LeaderboardRules(recall=ScriptedCall(tool="in_recall")),
    )
    message = told(case)
    assert all(
        f"'{name}'" in message for name in ("in_turn", "in_setup", "in_teardown", "in_recall")
    )


def test_a_reset_that_is_nearly_the_name_of_a_tool_is_a_mistake_and_an_unlisted_one_is_none() -> (
    None
):
    case = asking({"must_call": ["list_orders"]}, "admin")
    message = told(case, server=replace(SERVER, reset=ScriptedCall(tool="delet_order")))
    assert "Did you mean 'delete_order'?" in message
    look(case, server=replace(SERVER, reset=ScriptedCall(tool="state/reset")))


def test_where_there_is_no_tool_at_all_no_name_is_at_fault() -> None:
    look(asking({"must_not_call": [X]}), pool=Lists({None: ToolList(tools=())}))


@pytest.mark.parametrize("where", ["suite", "server", "command line", "program"])
def test_blocked_tools_are_looked_at_wherever_they_are_blocked(where: str) -> None:
    named = NamedTool(tool=X, at=ON_COMMAND_LINE if where == "command line" else AT)
    server = replace(
        SERVER,
        guard=replace(SERVER.guard, block=(X,), blocked=() if where == "program" else (named,)),
        at=AT,
    )
    suite = {"guard": GuardRails(blocked=(named,))} if where == "suite" else {}
    message = told(asking({"must_call": ["list_orders"]}), server=server, **suite)
    assert message.startswith(
        "--block: no server of this run" if where == "command line" else "s.yml:7:9: "
    )
    assert "'delet_order'" in message


def test_a_tool_that_a_suite_allows_has_to_exist() -> None:
    guard = GuardRails(allowed=(NamedTool(tool=X, at=AT),))
    message = told(asking({"must_call": ["list_orders"]}), guard=guard)
    assert message.startswith("s.yml:7:9: ")
    assert "'delet_order'" in message


def test_all_mistakes_are_told_at_once_with_those_of_arguments() -> None:
    listed = ToolList(tools=(Tool(name="get", input_schema={"properties": {"id": {}}}),))
    case = asking({"must_call": [{"tool": "get", "args": {"idd": 1}}], "must_not_call": ["a", "b"]})
    message = told(case, pool=Lists({None: listed}))
    assert [name in message for name in ("no argument 'idd'", "tool 'a'", "tool 'b'")] == [True] * 3


def test_a_title_is_told_from_a_name() -> None:
    titled = ToolList(tools=(Tool(name="orders_v2", title="Get orders", input_schema={}),))
    assert "Did you mean 'orders_v2', whose title that is?" in told(
        asking({"must_call": ["get_orders"]}), pool=Lists({None: titled})
    )


def test_a_text_of_a_user_is_a_tool_only_if_it_is_nearly_the_name_of_one() -> None:
    def case(*texts: str) -> Case:
        return asking(
            {"must_call": ["list_orders"]}, user=SimulatedUser(scenario="x", transfer_when=texts)
        )

    look(case("###TRANSFER###", "call-ended", "list_orders"))
    assert "'list_ordres'" in told(case("list_ordres"))


# ── Who is offered what ──────────────────────────────────────────────────────────────────────


def test_a_tool_that_one_identity_is_offered_may_be_forbidden_to_all() -> None:
    pool = look(
        asking({"must_not_call": ["delete_order"]}, "guest"), asking({"max_replies": 9}, "admin")
    )
    assert pool.lent == ["guest", "admin"]


def test_no_list_is_asked_for_that_is_not_needed() -> None:
    pool = look(
        *(asking({"must_call": ["list_orders"]}, role) for role in ("guest", "admin")),
        asking({"max_replies": 1}),
    )
    assert pool.lent == ["guest"]


def test_who_names_a_missing_tool_is_asked_before_others() -> None:
    others = [asking({"max_replies": 9}, role) for role in ("guest", "admin")]
    pool = Lists({**LISTS, "boss": a_tool_list("close_shop")})
    look(
        asking({"must_call": ["list_orders"]}),
        *others,
        asking({"must_call": ["close_shop"]}, "boss"),
        pool=pool,
    )
    assert pool.lent[:2] in (["boss"], [None, "boss"], ["boss", None])


def test_of_many_identities_it_is_said_that_none_is_offered_the_tool() -> None:
    message = told(asking({"must_not_call": [X]}, "guest"), asking({"must_not_call": [X]}, "admin"))
    assert message.splitlines() == [
        "s.yml:7:9: no identity of this suite is offered a tool 'delet_order'.",
        (
            "    Did you mean 'delete_order'? If it is meant to be absent, write {tool: "
            "delet_order, "
            "allow_absent: true}."
        ),
    ]


def test_identities_of_cases_that_nobody_picked_count() -> None:
    left_out = (asking({"max_replies": 9}, "admin"),)
    assert look(asking({"must_not_call": ["delete_order"]}, "guest"), left_out=left_out).lent == [
        "guest",
        "admin",
    ]


def test_a_tool_that_is_listed_and_cannot_be_offered_is_no_misspelt_one() -> None:
    listed = ToolList(
        tools=(), problems=(ToolProblem(tool="broken", problem="its schema is none"),)
    )
    look(asking({"must_not_call": ["broken"]}), pool=Lists({None: listed}))


@pytest.mark.parametrize(
    "assertions",
    [
        {"must_not_call": [{"tool": X, "allow_absent": True}]},
        {"must_call_any": ["list_orders", {"tool": X, "allow_absent": True}]},
        {"decision": {"is": "hidden", "tool": X, "allow_absent": True}},
        {"max_calls": {"limit": 0, "tool": X, "allow_absent": True}},
        {"end_state": {"tool": X, "path": "a", "allow_absent": True}},
        {"graded": {"expected": [{"tool": X, "allow_absent": True}]}},
        {"any_of": [{"must_call": [{"tool": X, "allow_absent": True}]}, {"max_calls": 1}]},
    ],
)
def test_what_is_meant_to_be_absent_is_no_mistake(assertions: dict[str, Any]) -> None:
    look(asking(assertions, "admin"))
    blocked = NamedTool(tool=X, at=AT, allow_absent=True)
    look(
        asking(assertions, "admin"),
        server=replace(SERVER, guard=replace(SERVER.guard, block=(X,), blocked=(blocked,))),
    )


def test_a_tool_that_is_listed_only_later_can_be_called_by_a_test_itself() -> None:
    """A server may list a tool only after a call of another, such as a login."""
    call = ScriptedCall(tool="after_login", at=AT)
    case = asking({"must_call": ["list_orders"]})
    assert "write {tool: after_login, allow_absent: true}" in told(replace(case, setup=(call,)))
    look(
        replace(
            case,
            setup=(replace(call, allow_absent=True),),
            teardown=(replace(call, allow_absent=True),),
        )
    )


def test_joined_servers_go_by_the_names_that_are_offered_and_by_their_own() -> None:
    members = (replace(SERVER, name="shop"), replace(SERVER, name="mail"))
    joined = ServerSpec(
        name="shop+mail", members=members, guard=GuardRails(block=("list", "shop__list"))
    )
    pool = Lists({None: a_tool_list("shop__list", "mail__list")})
    look(asking({"must_call": ["mail__list"]}), server=joined, pool=pool)
    assert "'mail__lst'" in told(asking({"must_call": ["mail__lst"]}), server=joined, pool=pool)


def test_a_check_names_a_tool_of_joined_servers_as_the_model_is_offered_it() -> None:
    """``must_not_call: [delete_order]`` would always hold if ``shop__delete_order`` is called."""
    joined = ServerSpec(
        name="shop+mail", members=(replace(SERVER, name="shop"), replace(SERVER, name="mail"))
    )
    pool = Lists({None: a_tool_list("shop__delete_order", "mail__delete_order")})
    message = told(asking({"must_not_call": ["delete_order"]}), server=joined, pool=pool)
    assert "offers no tool 'delete_order'" in message
    assert "Did you mean 'shop__delete_order'?" in message


def test_servers_that_are_told_which_case_asks_and_recorded_outputs_are_left_alone() -> None:
    assert (
        look(asking({"must_call": [X]}, leaderboard=LeaderboardRules(routing={"case": 1}))).lent
        == []
    )
    assert look(asking({"must_call": [X]}), provider="recorded").lent == []


# ── Who cannot be asked ──────────────────────────────────────────────────────────────────────


def in_its_trial(plan: RunPlan, pool: Lists, tools: ToolList) -> None:
    async def scenario() -> None:
        looking = Preflight(plan)
        await looking.list_tools(pool)
        looking.check_tools(plan.jobs[0], tools)

    anyio.run(scenario)


def test_where_a_server_failed_that_might_know_the_tool_the_trial_is_an_error_and_no_pass() -> None:
    plan = plan_of(asking({"must_not_call": [X]}, "guest"), asking({"max_replies": 9}, "admin"))
    with pytest.raises(
        HarnessError,
        match=r"(?s)'delet_order'.*Some tool lists are missing or incomplete.*no database",
    ):
        in_its_trial(plan, Lists(admin=ServerError("no database")), LISTS["guest"])


def test_a_server_that_comes_up_later_is_compared_then() -> None:
    plan = plan_of(asking({"must_not_call": [X]}, "admin"))
    with pytest.raises(InvalidInput, match="Did you mean 'delete_order'"):
        in_its_trial(plan, Lists(admin=ServerError("not yet")), LISTS["admin"])
    good = plan_of(asking({"must_not_call": ["delete_order"]}, "admin"))
    in_its_trial(good, Lists(admin=ServerError("not yet")), LISTS["admin"])


def test_who_is_refused_at_the_door_is_offered_nothing() -> None:
    refused = Lists(admin=NotAdmitted("no", status=401))
    cases: Sequence[Case] = [asking({"must_not_call": [X]}, role) for role in ("guest", "admin")]
    assert "'delet_order'" in told(*cases, pool=refused)
    look(
        cases[1], pool=Lists(admin=NotAdmitted("no", status=401))
    )  # there is no list to compare with


def test_a_name_stays_open_where_only_a_part_of_the_list_was_read_and_its_cases_are_errors() -> (
    None
):
    cut = replace(
        a_tool_list("list_orders"),
        problems=(ToolProblem(tool=THE_LIST, problem="paging did not end", usable=True),),
    )
    plan = plan_of(asking({"must_not_call": [X]}))
    with pytest.raises(
        HarnessError, match=r"(?s)Did you mean 'list_orders'.*paging did not end"
    ) as caught:
        in_its_trial(plan, Lists({None: cut}), cut)
    assert not isinstance(caught.value, InvalidInput)
