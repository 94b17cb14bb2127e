from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.exceptions import InvalidTag

from harness.base.errors import UsageError
from harness.runner.engines.payloads import PayloadCodec, SharedPayload, refuse_code
from harness.runner.planning.plan import RunPlan, make_plan
from harness.types import Case, Check, ModelSpec, Secret, ServerSpec, Suite, TransportSpec
from tests.support import a_case

KEY = PayloadCodec.new_key()
SECRET = "a secret that travels"


def plan_of(*cases: Case, **suite: object) -> RunPlan:
    transport = TransportSpec(command="s", env={"TOKEN": SECRET})
    model = ModelSpec(name="m", provider="openai", model_id="m", api_key=Secret(SECRET))
    return make_plan(
        [Suite(name="s", cases=cases, **suite)],  # type: ignore[arg-type]
        models_of=lambda _: [model],
        server_of=lambda _: ServerSpec(name="srv", transport=transport),
    )


def test_a_trial_arrives_as_it_left_with_the_parts_that_the_other_side_has() -> None:
    plan = plan_of(a_case(name="a"), a_case(name="b"))
    luggage = SharedPayload.from_plan(plan)
    there = PayloadCodec(KEY).unpack(PayloadCodec(KEY).pack(luggage.sent))
    jobs = [
        PayloadCodec(KEY, there).unpack(PayloadCodec(KEY, luggage.own).pack(job))
        for job in plan.jobs
    ]
    assert [job.trial for job in jobs] == [job.trial for job in plan.jobs]
    assert jobs[0].server is jobs[1].server
    assert jobs[0].model.api_key.reveal() == SECRET
    assert jobs[0].suite == replace(plan.suites[0], cases=())


def test_no_secret_can_be_read_in_a_parcel() -> None:
    parcel = PayloadCodec(KEY).pack(SharedPayload.from_plan(plan_of(a_case())).sent)
    assert SECRET.encode() not in parcel
    with pytest.raises(InvalidTag):
        PayloadCodec(PayloadCodec.new_key()).unpack(parcel)


def judge(answer: str) -> bool:
    return True


@pytest.mark.parametrize("code", [judge, lambda _: True])
def test_code_of_a_suite_is_refused_and_named(code: Callable[[str], bool]) -> None:
    check = Check(kind="python", params={}, code=code)
    with pytest.raises(
        UsageError, match=r"case 'mine' of suite s has code in Python .*test_payloads"
    ):
        refuse_code(plan_of(a_case(), a_case(name="mine", checks=(check,))))
    with pytest.raises(UsageError, match="has code in Python"):
        refuse_code(plan_of(a_case(), estimate_cost=lambda *_: None))
    refuse_code(plan_of(a_case(), a_case(name="plain")))
