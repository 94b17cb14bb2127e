"""The trials and the cost of each study, before anything is started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.descriptions.workbench.arms import CLEAN, Arm, merge_arms
from harness.descriptions.workbench.stages import WorkbenchContext, arm_keys
from harness.descriptions.workbench.study import Study
from harness.descriptions.workbench.workbench import AB, Workbench
from harness.runner import RunPlan, estimate_usage
from harness.types import Usage, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCost:
    """The cost of one study."""

    study: str
    """Its name; ``clean`` is the server's own list, which all studies share."""
    question: str
    """The question that it answers."""
    arms: int
    """Number of its tool lists."""
    shared: int
    """Number of these that a study above already runs."""
    trials: int = 0
    """Trials of the other lists, over all models."""
    input_tokens: int = 0
    """Estimated, over these trials."""
    output_tokens: int = 0
    """Estimated, over these trials."""
    cost_usd: float | None = 0
    """Dollars; ``None`` if a price is unknown."""
    later: int
    """Maximum number of further trials, which depend on the results, at the same price each."""
    writer: str | None = None
    """The model that it asks outside trials, once for each model under test."""
    writing: Usage | None = None
    """Estimated usage of that model; its cost is ``None`` if the price is unknown."""


def cost_table(bench: Workbench, ground: WorkbenchContext) -> Iterator[StudyCost]:
    """Yield a row for the clean arm and one for each study, in the order of reports."""
    # A price needs no key, so this also works before one is set.
    plan = ground.plan_stage(bench.first_arms(), {}, keyless=True).plan
    yield _build_row(
        "clean", "How do the cases fare on the server's own list?", plan, [CLEAN], [], 0
    )
    ran = [CLEAN]
    cases = len({job.trial.case.name for job in plan.jobs})
    keys = arm_keys(plan)
    clean = sum(keys[job.trial.axes.get("variant")] == CLEAN.key for job in plan.jobs)
    other = bench.plan_other_server({}, keyless=True)
    for study in bench.studies:
        own = list(merge_arms(study.arms(bench.first_context())))
        most = 0 if study.estimate is None else study.estimate(bench.first_context())
        later = round(most * clean / cases)
        row = _build_row(study.name, study.question, plan, own, ran, later)
        row = replace(row, **_writer_usage(study, bench))
        if other is not None and study.name == AB:
            # Its list is one more.
            row = _add_trials(replace(row, arms=row.arms + 1), other)
        yield row
        ran += own


def _writer_usage(study: Study, bench: Workbench) -> dict[str, Any]:
    """Return the fields of the study's requests outside trials, over all models under test."""
    writer = bench.first_context().options.writer
    if study.usage_ahead is None or writer is None:
        return {}
    each = [study.usage_ahead(context) for context in bench.iterate_contexts()]
    # Usages have no zero that a sum could start from.
    return {"writer": writer, "writing": sum(each[1:], each[0])}


def _add_trials(row: StudyCost, plan: RunPlan) -> StudyCost:
    """Return ``row`` with the trials of ``plan``, whose lists it already counts."""
    guesses = list(estimate_usage(plan))
    return replace(
        row,
        trials=row.trials + len(plan.jobs),
        input_tokens=row.input_tokens + sum(guess.input_tokens for guess in guesses),
        output_tokens=row.output_tokens + sum(guess.output_tokens for guess in guesses),
        cost_usd=_sum_costs([row.cost_usd, *(guess.cost_usd for guess in guesses)]),
    )


def _sum_costs(costs: Sequence[float | None]) -> float | None:
    # A sum without an unknown price would look like the whole.
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _build_row(
    name: str, question: str, plan: RunPlan, arms: list[Arm], ran: list[Arm], later: int
) -> StudyCost:
    keys = arm_keys(plan)
    known = {arm.key for arm in ran}
    new = {arm.key for arm in arms if arm.key not in known}
    own = {name for name, key in keys.items() if key in new}
    part = replace(
        plan, jobs=tuple(job for job in plan.jobs if job.trial.axes.get("variant") in own)
    )
    row = StudyCost(
        study=name, question=question, arms=len(arms), shared=len(arms) - len(new), later=later
    )
    return _add_trials(row, part)
