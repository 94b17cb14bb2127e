from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.runlog import Header
from harness.runlog.diff import find_differences
from harness.runner.planning.plan import (
    RunPlan,
    describe_case,
    describe_model,
    describe_server,
    describe_suite,
    make_plan,
)
from harness.runner.runs.resume import refuse_if_changed
from harness.runner.runs.shard import select_shard
from harness.types import (
    Caller,
    Case,
    Check,
    Limits,
    ModelSpec,
    Repeats,
    ScriptedCall,
    Secret,
    ServerSpec,
    StateQuery,
    Suite,
    TransportSpec,
    Turn,
)
from tests.support import a_case

MODEL = ModelSpec(name="m", provider="openai", model_id="gpt", api_key=Secret("sk-very-secret"))
SERVER = ServerSpec(
    name="srv", transport=TransportSpec(command="python", env={"TOKEN": "very-secret"})
)


def a_suite(*cases: Case, name: str = "suite") -> Suite:
    return Suite(name=name, cases=cases or (a_case(name="one"), a_case(name="two")))


def a_plan(
    *suites: Suite,
    models: tuple[ModelSpec, ...] = (MODEL,),
    server: ServerSpec = SERVER,
    trials: int = 1,
) -> RunPlan:
    return make_plan(
        suites or (a_suite(),),
        models_of=lambda _: models,
        server_of=lambda _: server,
        trials=trials,
        settings={"trials": trials},
    )  # fmt: skip


def header(plan: RunPlan) -> Header:
    return Header(
        run_id="r",
        started_at="",
        harness_version="",
        planned=len(plan.jobs),
        suites={suite.name: describe_suite(suite) for suite in plan.suites},
        models={model.name: describe_model(model) for model in plan.models},
        entrants=plan.entrants,
        servers={server.name: describe_server(server) for server in plan.servers},
        settings=plan.settings,
    )


def test_every_case_is_planned_with_every_model_as_often_as_asked() -> None:
    plan = a_plan(models=(MODEL, replace(MODEL, name="n")), trials=3)
    assert len(plan.jobs) == 2 * 2 * 3
    assert len({job.trial.key for job in plan.jobs}) == len(plan.jobs)


def test_the_same_question_has_the_same_key_in_another_run() -> None:
    assert [job.trial.key for job in a_plan().jobs] == [job.trial.key for job in a_plan().jobs]


@pytest.mark.parametrize(
    "changed",
    [
        a_plan(a_suite(a_case(name="one", prompt="another question"))),
        a_plan(a_suite(a_case(name="one", caller=Caller(user_context={"role": "admin"})))),
        a_plan(a_suite(a_case(name="one", limits=Limits(max_replies=2)))),
        a_plan(
            a_suite(a_case(name="one", checks=(Check(kind="must_call", params={"tool": "t"}),)))
        ),
        a_plan(a_suite(a_case(name="one")), models=(replace(MODEL, temperature=0.5),)),
        a_plan(
            a_suite(a_case(name="one")),
            server=replace(SERVER, transport=replace(SERVER.transport, args=("--strict",))),
        ),
        a_plan(a_suite(a_case(name="one"), name="other")),
        a_plan(a_suite(a_case(name="one", turns=(Turn(prompt="question"), Turn(prompt="and?"))))),
        a_plan(a_suite(a_case(name="one", setup=(ScriptedCall(tool="reset"),)))),
        a_plan(a_suite(a_case(name="one", teardown=(ScriptedCall(tool="reset"),)))),
    ],
)
def test_whatever_determines_a_trial_changes_its_key(changed: RunPlan) -> None:
    assert changed.jobs[0].trial.key != a_plan(a_suite(a_case(name="one"))).jobs[0].trial.key


def test_a_flawed_credential_is_part_of_the_question() -> None:
    usual, flawed = (
        describe_case(a_case(caller=Caller(credential=credential)))
        for credential in ("valid", "expired")
    )
    assert "credential" not in usual
    assert flawed == {**usual, "credential": "expired"}


def test_how_often_a_case_is_run_does_not_change_its_key() -> None:
    often = a_plan(a_suite(a_case(name="one", repeats=Repeats(trials=3, pass_threshold=0.5))))
    assert often.jobs[0].trial.key == a_plan(a_suite(a_case(name="one"))).jobs[0].trial.key


def test_a_case_is_run_as_often_as_it_says_unless_somebody_says_otherwise() -> None:
    suite = a_suite(a_case(name="one"), a_case(name="two", repeats=Repeats(trials=3)))
    for trials, repeats in ((None, [1, 3, 3, 3]), (2, [2, 2, 2, 2])):
        plan = make_plan(
            [suite], models_of=lambda _: [MODEL], server_of=lambda _: SERVER, trials=trials
        )
        assert [job.trial.repeats for job in plan.jobs] == repeats


def test_where_a_case_stands_does_not_change_its_key() -> None:
    moved = a_plan(a_suite(a_case(name="zero"), a_case(name="one", description="words")))
    assert moved.jobs[1].trial.key == a_plan(a_suite(a_case(name="one"))).jobs[0].trial.key


def test_no_secret_is_in_what_a_header_says() -> None:
    assert "very-secret" not in repr(header(a_plan()))


@pytest.mark.parametrize(
    "told",
    [
        {"queries": {"q": StateQuery(command="env PGPASSWORD=very-secret psql")}},
        {"queries": {"q": StateQuery(command="curl -u admin:very-secret http://h")}},
        {"queries": {"q": StateQuery(command="curl -H 'X-Api-Key: very-secret' http://h")}},
        {"queries": {"q": StateQuery(sql="SELECT 1", database="host=h password=very-secret")}},
        {"queries": {"q": StateQuery(sql="SELECT 'very-secret'", database="d.db")}},
        {"reset": ScriptedCall(tool="wipe", arguments={"admin_token": "very-secret"})},
    ],
)
def test_no_text_of_a_query_or_a_reset_is_in_a_header_and_each_still_decides_equality(
    told: dict[str, Any],
) -> None:
    told_plan, other_plan = a_plan(server=replace(SERVER, **told)), a_plan()
    assert "very-secret" not in repr(header(told_plan))
    refuse_if_changed(header(told_plan), header(a_plan(server=replace(SERVER, **told))))
    with pytest.raises(UsageError, match=r"server srv: (queries|reset) was"):
        refuse_if_changed(header(told_plan), header(other_plan))


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (
            {"queries": {"q": StateQuery(sql="SELECT 1")}},
            {"queries": {"q": StateQuery(sql="SELECT 2")}},
        ),
        ({"queries": {"q": StateQuery(sql="x")}}, {"queries": {"q": StateQuery(command="x")}}),
        (
            {"reset": ScriptedCall(tool="wipe", arguments={"deep": False})},
            {"reset": ScriptedCall(tool="wipe", arguments={"deep": True})},
        ),
    ],
)
def test_a_query_or_a_reset_that_reads_otherwise_now_is_a_difference(
    was: dict[str, Any], now: dict[str, Any]
) -> None:
    old, new = (a_plan(server=replace(SERVER, **told)) for told in (was, now))
    assert old.jobs[0].trial.key != new.jobs[0].trial.key
    with pytest.raises(UsageError, match=f"server srv: {next(iter(was))} was"):
        refuse_if_changed(header(old), header(new))


def test_equal_plans_do_not_differ() -> None:
    refuse_if_changed(header(a_plan()), header(a_plan()))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            a_plan(a_suite(a_case(name="one", prompt="new"), a_case(name="two"))),
            "case one has changed",
        ),
        (a_plan(a_suite(a_case(name="one"))), "case two is gone"),
        (
            a_plan(a_suite(a_case(name="one"), a_case(name="two"), a_case(name="three"))),
            "case three is new",
        ),
        (
            a_plan(models=(replace(MODEL, temperature=1.0),)),
            "model m: temperature was None, is 1.0",
        ),
        (a_plan(models=(replace(MODEL, name="n"),)), "model m is gone"),
        (
            a_plan(server=replace(SERVER, transport=replace(SERVER.transport, args=("-v",)))),
            "server srv: args was [], is ['-v']",
        ),
        (
            a_plan(server=replace(SERVER, transport=replace(SERVER.transport, cwd="shop"))),
            "server srv: cwd was None, is 'shop'",
        ),
        (
            a_plan(server=replace(SERVER, reset=ScriptedCall(tool="wipe"))),
            "server srv: reset was None, is ['wipe', '44136fa355b3']",
        ),
        (
            a_plan(server=replace(SERVER, queries={"q": StateQuery(sql="SELECT 1")})),
            "server srv: queries was None, is {'q': '",
        ),
        (
            replace(a_plan(), settings={"trials": 1, "user_models": {"u": {}}}),
            "user model u is new",
        ),
        (a_plan(trials=2), "trials was 1, is 2"),
    ],
)
def test_a_changed_plan_is_refused_with_the_difference_in_words(plan: RunPlan, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        refuse_if_changed(header(a_plan()), header(plan))
    assert words in str(refusal.value)


def test_a_judge_that_is_another_model_now_is_a_difference() -> None:
    plans = [
        header(replace(a_plan(), settings={"judge_models": {"j": {"model_id": name}, name: {}}}))
        for name in "ab"
    ]
    assert list(find_differences(*plans)) == ["judge j: model_id was 'a', is 'b'"]


def test_a_folder_outside_the_project_is_another_one_on_every_machine_and_makes_no_difference() -> (
    None
):
    for folder in ("/opt/elsewhere", ".", str(Path.cwd())):
        assert describe_server(
            replace(SERVER, transport=replace(SERVER.transport, cwd=folder))
        ) == describe_server(SERVER)


@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 3))
def test_the_shards_of_a_plan_are_the_plan(cases: int, parts: int, trials: int) -> None:
    plan = a_plan(
        a_suite(*(a_case(name=f"case {number}") for number in range(cases))), trials=trials
    )
    shards = [select_shard(plan, f"{part}/{parts}") for part in range(1, parts + 1)]
    keys = [job.trial.key for part in shards for job in part.jobs]
    assert sorted(keys) == sorted(job.trial.key for job in plan.jobs)
    sizes = [len(part.jobs) for part in shards]
    assert max(sizes) - min(sizes) <= trials
