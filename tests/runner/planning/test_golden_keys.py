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
    identity=IdentitySpec(via="bearer", claims={"sub": "{id}"}),
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
        ("plain", "d991e0bf6dbaa05d9a40e19e276f6ab74d5cff308479547d89964ddf238237fd"),
        ("limits", "04f57fbd3532e1ea350aa781abc1cebdc000cd15710eee07c54a1bcd9b4b2deb"),
        ("group", "86fe6ab75761edeb05059e8c2e53d86a22a0a7ba8d9757c00ed96f547c9a392b"),
        ("who", "21f0a1b24ccd6cd32c624820e04b766ef2518e71a800bc767d6e32e582f0cdbd"),
        ("repeats", "d991e0bf6dbaa05d9a40e19e276f6ab74d5cff308479547d89964ddf238237fd"),
        ("said", "4c3e906f1aadd19947e7ee48cee8d8024bd7d2a07dbe3f921cf603aa9f711feb"),
        ("user", "aa4e16f39f9ee66a875dfbb1368970dfad9c889596f2b4775f31ce7d6bebe28f"),
        ("leaderboard", "6d78e0be61495fd0abeb0de6bd113fe5167c9b244cfc9b5ff56e96dfef0924a6"),
        ("internal", "72c7f4d81dbdd870619a7a22d3942c7e8be2513849251ba69271d46dfe3fd315"),
    ],
)
def test_a_case_has_the_key_that_it_always_had(name: str, written: str) -> None:
    assert key(CASES[name], STDIO, "sys") == written


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("stdio", "f1c5bef742301c2002e5efa8013721747242533948dfa2313f9ebf4e6e573740"),
        ("http", "dcb5af21808569f1eb69338d67e6991b770ceabd4adc53a0a257369a8f2f15e8"),
        ("joined", "78846344f3d27f67fb78c61c7714e97c8a7a87845e825aa6c084c2f87691d500"),
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
