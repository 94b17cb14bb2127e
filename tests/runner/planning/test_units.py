from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness.judging.checks import VOCABULARY
from harness.judging.trial import not_started
from harness.runner.control import EarlyStopping
from harness.runner.planning.plan import Job, RunPlan, make_plan, work_units
from harness.suites.axes import Point
from harness.suites.readers import read_suite
from harness.types import Isolation, ModelSpec, ServerSpec, Status, TransportSpec, Variant
from tests.clock import BOUND_S

SUITE = """\
suite: shop
identities: {admin: {role: admin}}
tests:
  - {name: a, as: [admin, anonymous], prompt: a, assertions: {must_not_call: [x]}}
  - {name: b, prompt: b, assertions: {must_not_call: [x]}}
"""
MODEL = ModelSpec(name="m", provider="lexical", model_id="m")
PLAIN = Variant(name="plain")
OTHER = replace(MODEL, name="other")


def plan_of(
    folder: Path,
    *models: ModelSpec,
    points: Sequence[Point] = ({},),
    trials: int = 1,
    least_trials: int | None = None,
    **server: Isolation | str,
) -> RunPlan:
    path = folder / "shop.yml"
    path.write_text(SUITE)
    command = TransportSpec(command="s", kind=server.pop("kind", "stdio"))
    if command.kind != "stdio":
        command = TransportSpec(kind="http", url="http://127.0.0.1:1/mcp")
    spec = ServerSpec(name="s", transport=command, **server)  # type: ignore[arg-type]
    return make_plan(
        [read_suite(path, VOCABULARY)],
        models_of=lambda _: models or (MODEL,),
        server_of=lambda _: spec,
        points_of=lambda _: points,
        trials=trials,
        least_trials=least_trials,
    )


def units_of(plan: RunPlan) -> list[list[tuple[str, str, int]]]:
    return [
        [(job.trial.case.name, job.trial.entrant, job.trial.number) for job in unit]
        for unit in work_units(plan.jobs)
    ]


def test_all_identities_of_a_test_are_one_unit_for_each_repeat(tmp_path: Path) -> None:
    assert units_of(plan_of(tmp_path, trials=2)) == [
        [("a [admin]", "m", 1), ("a [anonymous]", "m", 1)],
        [("a [admin]", "m", 2), ("a [anonymous]", "m", 2)],
        [("b", "m", 1)],
        [("b", "m", 2)],
    ]


def test_a_model_stays_with_its_variants_and_apart_from_others(tmp_path: Path) -> None:
    units = units_of(plan_of(tmp_path, MODEL, OTHER, points=({}, {"variant": PLAIN})))
    assert [("b", "m", 1), ("b", "m+plain", 1)] in units
    assert [("b", "other", 1), ("b", "other+plain", 1)] in units


def test_cases_that_share_one_process_by_a_setting_are_one_unit(tmp_path: Path) -> None:
    (unit,) = units_of(plan_of(tmp_path, MODEL, OTHER, isolation="none"))
    assert len(unit) == 6


def test_a_server_that_runs_elsewhere_is_shared_anyway(tmp_path: Path) -> None:
    assert len(units_of(plan_of(tmp_path, isolation="none", kind="http"))) == 2


def test_every_trial_is_in_one_unit_in_the_order_of_the_plan(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, MODEL, OTHER, trials=3)
    places = {job.trial.key: place for place, job in enumerate(plan.jobs)}
    units = [[places[job.trial.key] for job in unit] for unit in work_units(plan.jobs)]
    assert sorted(itertools.chain(*units)) == list(range(len(plan.jobs)))
    assert units == sorted(units)
    assert all(unit == sorted(unit) for unit in units)


@pytest.mark.anyio
@pytest.mark.parametrize(("places", "seats"), [(1, 1), (2, 1), (3, 2), (7, 1)])
async def test_trials_that_wait_for_earlier_ones_of_their_case_never_wait_for_ever(
    tmp_path: Path, places: int, seats: int
) -> None:
    plan = plan_of(
        tmp_path, MODEL, OTHER, points=({}, {"variant": PLAIN}), trials=5, least_trials=2
    )
    early, units = EarlyStopping(plan), iter(work_units(plan.jobs))
    ended: list[str] = []

    async def work(jobs: Iterator[Job]) -> None:
        for job in jobs:
            status: Status = "error" if await early.is_wanted(job) else "skipped"
            await anyio.lowlevel.checkpoint()
            ended.append(job.trial.key)
            early.count_result(not_started(job.trial, status))

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group:
            for _ in range(places):
                jobs = (job for unit in units for job in unit)
                for _ in range(seats):
                    group.start_soon(work, jobs)
    assert sorted(ended) == sorted(job.trial.key for job in plan.jobs)
