"""Keys of trials as version 0.1 wrote them: an old log is resumed by a plan that asks the same."""

from dataclasses import replace

import pytest

from harness.judging.checks import VOCABULARY
from harness.runner.planning.plan import make_plan
from harness.suites.axes.variant import describe_variant
from harness.types import (
    Caller,
    Case,
    Check,
    Decoys,
    GuardRails,
    IdentitySpec,
    Interruption,
    LeaderboardRules,
    Limits,
    ModelSpec,
    ParameterEdit,
    Repeats,
    ScriptedCall,
    ServerSpec,
    SimulatedUser,
    StateQuery,
    Suite,
    ToolEdit,
    ToolSearch,
    TransportSpec,
    Turn,
    Variant,
)

MODEL = ModelSpec(name="m", provider="openai", model_id="gpt")
MUST = Check(kind="must_call", params={"tool": "look", "args": {}})
FEW = Check(kind="max_replies", params={"limit": 3}, severity="warn")


def a_case(**facts: object) -> Case:
    return Case(**{"name": "c", "prompt": "p", "checks": (MUST,), **facts})  # type: ignore[arg-type]


CASES = {
    "plain": a_case(),
    "limits": a_case(
        checks=(MUST, FEW),
        limits=Limits(max_replies=3, max_calls=4, timeout_s=5.0, max_tokens=6, max_cost_usd=0.5),
    ),
    "group": a_case(
        checks=[
            check
            for _, check in VOCABULARY.parse("any_of", [{"max_replies": 3}, {"must_call": ["x"]}])
        ],
    ),
    "who": a_case(
        caller=Caller(
            user_context={"role": "hr"},
            credential="expired",
            group="g",
            identity="hr",
            leaks="ignore",
        ),
    ),
    "repeats": a_case(
        repeats=Repeats(trials=3, pass_threshold=0.5),
        tags=("t",),
        metadata={"a": 1},
        description="d",
        caller=Caller(allow_no_tools=True),
    ),
    "said": a_case(
        turns=(
            Turn(prompt="one", checks=(MUST,)),
            Turn(prompt="two", fresh=True),
        ),
        leaderboard=LeaderboardRules(system_prompt="be brief", later_routing={1: {"from": 2}}),
        setup=(ScriptedCall(tool="s", arguments={"x": 1}),),
        teardown=(ScriptedCall(tool="t"),),
    ),
    "user": a_case(user=SimulatedUser(scenario="S", max_turns=4)),
    "leaderboard": a_case(
        leaderboard=LeaderboardRules(
            recall=ScriptedCall(tool="r", arguments={"y": 2}),
            one_reply=True,
            routing={"case": "c"},
            silence=True,
            typical_tokens=(1, 2),
        ),
    ),
    "internal": a_case(interruption=Interruption(steering="And?", abort=True)),
}
STDIO = ServerSpec(
    name="srv", transport=TransportSpec(command="python", args=("-m", "shop"), env={"TOKEN": "t"})
)
HTTP = ServerSpec(
    name="shop",
    transport=TransportSpec(
        command="shop",
        args=("--port", "{port}"),
        env={"A": "b"},
        kind="http",
        url="http://127.0.0.1:{port}/mcp",
        headers={"X-Key": "k"},
        cwd="servers",
        protocol="legacy",
    ),
    identity=IdentitySpec(via="bearer", plain={"claims": {"sub": "{id}"}}),
    isolation="case",
    guard=GuardRails(read_only=True, block=("drop",)),
    reset=ScriptedCall(tool="reset", arguments={"all": True}),
    queries={"q": StateQuery(sql="select 1", database="a.db")},
)
SERVERS = {
    "stdio": STDIO,
    "http": HTTP,
    "joined": ServerSpec(name="a+b", members=(STDIO, HTTP)),
}


def key(case: Case, server: ServerSpec, system_prompt: str | None = None) -> str:
    suite = Suite(name="s", cases=(case,), system_prompt=system_prompt)
    plan = make_plan([suite], models_of=lambda _: [MODEL], server_of=lambda _: server)
    return plan.jobs[0].trial.key


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("plain", "d815115e038bfcec83a386e2cade1cf7e57f51544c5c8322fc3ee521806c6915"),
        ("limits", "3121787c570103956219b964d6da1d2f6b1d7611f5475927c01201d227023249"),
        ("group", "1fb2a10a12e7b2ab3d1e73b60e10e9609a02c05253a9eeeb1aa6198290cad1e3"),
        ("who", "93fa76fff05cc6b33cfdb007a672b52232004353a75f96468559c93ad556eebd"),
        ("repeats", "d815115e038bfcec83a386e2cade1cf7e57f51544c5c8322fc3ee521806c6915"),
        ("said", "4d80e57930c2a3a9b18762032a8c2d40dd6c3ba992d597596506523ff435a58e"),
        ("user", "110eca51af09f6dab886d5ffea5b131eb14c55c4d11047ad60dcefc15558129f"),
        ("leaderboard", "4a8c90ab66170dcab3f5fd1d85b079984184050db719b1a190e42d79aacb8930"),
        ("internal", "218cf0c7984fdbd04f27a88929914f443d0ef376431d3f8b6c7b0aa1f73239d1"),
    ],
)
def test_a_case_has_the_key_that_it_always_had(name: str, written: str) -> None:
    assert key(CASES[name], STDIO, "sys") == written


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("stdio", "a24666c7f7d7f7530902bfdc27119feea784006984d0cafeac37ffc10f2959db"),
        ("http", "054b8e1ca5014a90e9d1b4d31266c9e5681c0993e7b62a0525963d16d4b9364f"),
        ("joined", "709a845e932a2d8b7c2d4293c7646015c63b662370acea7ca44953c5b46bbdc0"),
    ],
)
def test_a_server_has_the_key_that_it_always_had(name: str, written: str) -> None:
    assert key(CASES["plain"], SERVERS[name]) == written


def test_every_change_of_a_variant_is_in_its_digest() -> None:
    edit = ToolEdit(name="u", parameters={"p": ParameterEdit(description="d"), "q": None})
    variant = Variant(
        name="v",
        tools={"t": edit, "w": None},
        order=7,
        add=(Decoys(count=3, seed=2, kind="near"),),
    )
    digest = describe_variant(variant)["digest"]
    for more in (
        replace(variant, prompts={"c": "Other words."}),
        replace(variant, prefix="p_"),
        replace(variant, max_result_tokens=9),
        replace(variant, tool_search=ToolSearch()),
    ):
        assert describe_variant(more)["digest"] != digest
