"""Arguments that no tool has are found before a model is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput, ServerError
from harness.judging.checks import VOCABULARY
from harness.judging.checks.witness.expectations import find_mismatches
from harness.runner.planning.plan import Job, RunPlan, make_plan
from harness.runner.preflight import preflight
from harness.runner.preflight.preflight import Preflight
from harness.types import (
    Caller,
    Case,
    Check,
    Credential,
    JsonObject,
    Location,
    ModelSpec,
    ScriptedCall,
    ServerSpec,
    Suite,
    Tool,
    ToolList,
    TransportSpec,
    Turn,
)
from tests.support import LendsOneByOne, MemorySession, a_case

TOOLS = ToolList(
    tools=(
        Tool(
            name="get",
            input_schema={"type": "object", "properties": {"customer_id": {}, "verbose": {}}},
        ),
        Tool(
            name="ping",
            input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        ),
        Tool(name="anything", input_schema={"type": "object"}),
        Tool(
            name="delete",
            input_schema={
                "type": "object",
                "properties": {"id": {"type": "string"}, "due": {"enum": ["Now", "Later"]}},
                "required": ["id"],
            },
        ),
    )
)


class MemoryPool(LendsOneByOne):
    """Lends sessions that list `TOOLS`, and remembers to whom."""

    def __init__(self, *broken: str) -> None:
        self.lent: list[JsonObject | None] = []
        self.told: list[JsonObject | None] = []
        self._broken = broken

    @asynccontextmanager
    async def lend_session(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> AsyncGenerator[MemorySession]:
        self.lent.append(user_context)
        if (user_context or {}).get("role") in self._broken:
            raise ServerError("it does not start")
        session = MemorySession()
        session.tools = TOOLS
        yield session

    def prestart(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> None:
        pass


def asking(tool: str = "get", at: int = 7, role: str | None = None, **args: Any) -> Case:
    check = Check(
        kind="must_call",
        params={"tool": tool, "args": args},
        at=Location(file="s.yml", line=at, column=9),
    )
    context = None if role is None else {"role": role}
    return a_case(
        name=f"{tool} {role} {at} {sorted(args)}",
        checks=(check,),
        caller=Caller(user_context=context),
    )


def jobs(*cases: Case) -> tuple[Job, ...]:
    model = ModelSpec(name="m", provider="lexical", model_id="m")
    server = ServerSpec(name="s", transport=TransportSpec(command="x"))
    suite = Suite(name="suite", cases=cases)
    return make_plan(
        [suite], models_of=lambda _: [model], server_of=lambda _: server, trials=2
    ).jobs


def look(*cases: Case, pool: MemoryPool | None = None) -> MemoryPool:
    """Look at the tools of ``cases``, and clear every trial of them."""

    async def scenario() -> MemoryPool:
        lender, planned = pool or MemoryPool(), jobs(*cases)
        looking = Preflight(plan_of(planned))
        await looking.list_tools(lender)
        for job in planned:
            try:
                await looking.wait_until_checked(job)
            except ServerError:
                lender.told.append(job.trial.case.caller.user_context)
            else:
                looking.check_tools(job, TOOLS)
        return lender

    return anyio.run(scenario)


def plan_of(planned: tuple[Job, ...]) -> RunPlan:
    return RunPlan(jobs=planned)


def told(*cases: Case, pool: MemoryPool | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        look(*cases, pool=pool)
    return str(caught.value)


def test_names_that_the_tools_have_are_no_problem() -> None:
    look(asking(customer_id="C1"), asking("ping"), asking("anything", whatever=1))


def test_a_misspelt_argument_is_told_with_its_place_and_the_nearest_name() -> None:
    assert told(asking(customr_id="C1")) == (
        "s.yml:7:9: the tool 'get' has no argument 'customr_id'.\n    Did you mean 'customer_id'?"
    )


def test_without_a_near_name_all_of_them_are_told() -> None:
    assert told(asking(zzz=1)).endswith("It takes customer_id, verbose.")
    assert told(asking("ping", zzz=1)).endswith("It takes no arguments.")


def test_every_problem_is_told_at_once_in_the_order_of_the_file_and_once() -> None:
    assert [
        line
        for line in told(
            asking(at=9, a=1), asking(at=3, b=1, role="x"), asking(at=9, a=2, role="y")
        ).splitlines()
        if "s.yml" in line
    ] == [
        "s.yml:3:9: the tool 'get' has no argument 'b'.",
        "s.yml:9:9: the tool 'get' has no argument 'a'.",
    ]


@pytest.mark.parametrize(
    "kind", ["must_not_call", "must_call_any", "must_call_in_order", "only_call", "must_succeed"]
)
def test_every_check_on_calls_is_looked_at(kind: str) -> None:
    value = ["ping", {"tool": "get", "args": {"zzz": 1}}]
    found = [told(a_case(checks=(check,))) for _, check in VOCABULARY.parse(kind, value)[-1:]]
    assert "no argument 'zzz'" in found[0]


DELETE = {"tool": "delete", "args": {"id": 1042}}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("must_call", DELETE),
        ("must_not_call", DELETE),
        ("must_call_any", ["ping", DELETE]),
        ("must_call_in_order", ["ping", DELETE]),
        ("only_call", ["ping", DELETE]),
        ("must_succeed", DELETE),
        ("must_be_denied", DELETE),
        ("decision", {"is": "denied", **DELETE}),
        ("tool_result", {**DELETE, "path": "x"}),
        ("graded", {"expected": [DELETE]}),
        ("any_of", [{"must_not_call": DELETE}, {"refuses": True}]),
        ("not", {"must_call": DELETE}),
    ],
)
def test_what_no_valid_call_matches_is_told_before_anything_is_asked(kind: str, value: Any) -> None:
    (_, check), *_ = VOCABULARY.parse(kind, value)
    message = told(a_case(checks=(check.with_location(Location(file="s.yml", line=7, column=9)),)))
    assert message.startswith("s.yml:7:9: ")
    assert (
        "no valid call of 'delete' has the argument 'id' as 1042: 1042 is not of type 's" in message
    )
    assert 'Write "1042", as the tool takes a string.' in message


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("must_error", DELETE),
        ("must_not_call", {"tool": "delete", "args": {"id": "1042"}}),
        ("must_not_call", {"tool": "delete", "args": {"due": {"$absent": True}}}),
        ("must_call", {"tool": "delete", "args": {"due": {"$iequals": "now"}}}),
        ("graded", {"expected": [{"tool": "delete", "args": {"due": "now"}}]}),
        ("must_call", {"tool": "anything", "args": {"id": 1042}}),
    ],
)
def test_what_some_call_matches_or_need_not_be_valid_is_no_problem(kind: str, value: Any) -> None:
    ((_, check),) = VOCABULARY.parse(kind, value)
    look(a_case(checks=(check,)))


def test_arguments_that_are_all_given_must_have_those_that_are_required() -> None:
    exact: list[dict[str, Any]] = [{}, {"due": "Now"}]
    for args in exact:
        value = {"tool": "delete", "args": {"$equals": args}}
        ((_, check),) = VOCABULARY.parse("must_not_call", value)
        assert "'id' is a required property" in told(a_case(checks=(check,)))


def test_checks_of_turns_and_scripted_calls_are_looked_at() -> None:
    check = Check(kind="must_call", params={"tool": "get", "args": {"in_turn": 1}})
    case = a_case(
        turns=(Turn(prompt="x", checks=(check,)),),
        setup=(ScriptedCall(tool="get", arguments={"in_setup": 1}),),
        teardown=(ScriptedCall(tool="get", arguments={"in_teardown": 1}),),
    )
    message = told(case)
    assert all(f"'{name}'" in message for name in ("in_turn", "in_setup", "in_teardown"))


def test_only_users_whose_cases_name_arguments_are_looked_at_and_each_once() -> None:
    cases = [
        asking(role="a", customer_id=1),
        asking(role="a", at=8, verbose=1),
        asking("ping", role="b"),
        asking(),
    ]
    assert look(*cases).lent == [{"role": "a"}]


def test_users_beyond_a_few_are_looked_at_when_their_own_session_opens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preflight, "LISTED_AHEAD", 1)
    assert "no argument 'zzz'" in told(asking(role="a", verbose=1), asking(role="b", zzz=1))
    assert look(asking(role="a", verbose=1), asking(role="b", verbose=1)).lent == [{"role": "a"}]


def test_a_server_that_does_not_start_is_told_to_one_trial_and_tried_again_by_the_next() -> None:
    pool = MemoryPool("a")
    look(asking(role="a", verbose=1), asking(role="b", verbose=1), pool=pool)
    assert len(pool.lent) == 2
    assert pool.told == [{"role": "a"}]
    assert "no argument 'zzz'" in told(asking(role="a", zzz=1), pool=MemoryPool("a"))


def test_no_model_is_asked_before_all_have_been_looked_at() -> None:
    async def scenario() -> bool:
        planned = jobs(asking(verbose=1), asking("ping"))
        looking = Preflight(plan_of(planned))
        cleared = anyio.Event()

        async def wait() -> None:
            await looking.wait_until_checked(planned[-1])
            cleared.set()

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            early = cleared.is_set()
            await looking.list_tools(MemoryPool())
            with anyio.fail_after(60):
                await cleared.wait()
        return early

    assert anyio.run(scenario) is False


def test_where_no_tool_is_named_nobody_waits() -> None:
    async def scenario() -> None:
        planned = jobs(a_case())
        with anyio.fail_after(60):
            await Preflight(plan_of(planned)).wait_until_checked(planned[0])

    anyio.run(scenario)


# ── What a schema allows ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("schema", "known"),
    [
        ({}, None),
        ({"type": "object"}, None),
        ({"properties": {}}, None),
        ({"properties": {}, "additionalProperties": False}, ()),
        ({"properties": {"a": {}}}, ("a",)),
        ({"properties": {"a": {}}, "additionalProperties": False}, ("a",)),
        ({"properties": {"a": {}}, "additionalProperties": True}, None),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, None),
        ({"properties": {"a": {}}, "patternProperties": {"^x": {}}}, None),
        ({"$ref": "#/$defs/x", "properties": {"a": {}}}, None),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}}, ("a",)),
        (
            {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"properties": {"b": {}}}]},
            ("a", "b"),
        ),
        ({"oneOf": [{"properties": {"a": {}}}, {"$ref": "#/x"}]}, None),
        ({"allOf": [{"properties": {"a": {}}}, True]}, ("a",)),
    ],
)
def test_the_arguments_of_a_tool_are_what_its_schema_names(
    schema: JsonObject, known: tuple[str, ...] | None
) -> None:
    tool = Tool(name="t", input_schema=schema)
    assert bool(find_mismatches(tool, {"zzz": {"$any": True}})) is (known is not None)
    for name in known or ():
        assert not find_mismatches(tool, {name: {"$any": True}})


_KEYWORDS = st.sampled_from(
    ["properties", "additionalProperties", "$ref", "allOf", "anyOf", "oneOf"]
)
_ANY: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just("a") | st.just({"a": {}}),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(_KEYWORDS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(_KEYWORDS, _ANY, min_size=1, max_size=4))
def test_no_schema_breaks_the_look_at_it(schema: JsonObject) -> None:
    for why in find_mismatches(Tool(name="t", input_schema=schema), {"a": 1, "zzz": {"$gt": 5}}):
        assert why.message
