"""From arms to a plan: which trials one stage of the workbench runs, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base import UsageError
from harness.descriptions.workbench.arms import Arm, variant_key
from harness.models import unknown_provider
from harness.reports import WORKBENCH
from harness.runner import RESUMED_BY, PreparedPlan, RunPlan, RunRequest, prepare_plan
from harness.suites import DEFAULT, load_config
from harness.types import JsonObject, ModelSpec, Suite

COMMAND = "harness workbench"
"""The command that resumes a stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchContext:
    """The context of a workbench: the request without variants, and where names are looked up."""

    request: RunRequest
    """The user's request; its variants are those to compare, which have not run yet."""
    cwd: Path
    """Folder in which suites and configuration are found."""
    environ: Mapping[str, str]
    """Variables in which keys and references are looked up."""

    def plan_clean(self, *, keyless: bool = False) -> PreparedPlan:
        """Return the plan of the clean arm.

        Raises:
            UsageError: the request names no suite or several, or a name is unknown.
        """
        prepared = self._prepare_arms((), keyless=keyless)
        if len(prepared.plan.suites) != 1:
            names = ", ".join(suite.name for suite in prepared.plan.suites)
            raise UsageError(
                f"the workbench takes one suite; these are {len(prepared.plan.suites)}: {names}",
                meant="Name one of them.",
            )
        return prepared

    def resolve_model(self, name: str, *, keyless: bool = False) -> ModelSpec:
        """Return the configured model of that name, for requests outside trials.

        Raises:
            UsageError: there is no such model, or its key is missing and ``keyless`` is not set.
        """
        config = load_config(self.cwd, self.environ, self.request.mcp_config)
        spec = replace(config, keyless=keyless).resolve_model(name)
        if wrong := unknown_provider(spec):
            raise wrong
        return spec

    def plan_stage(
        self, arms: Sequence[Arm], settings: JsonObject, *, keyless: bool = False
    ) -> PreparedPlan:
        """Return the plan of ``arms``, arm by arm, so that an early end leaves complete arms.

        ``settings`` describes the stage's workbench.
        """
        prepared = self._prepare_arms(arms, keyless=keyless)
        places = {arm.key: place for place, arm in enumerate(arms)}
        place_of = {name: places[key] for name, key in arm_keys(prepared.plan).items()}
        # A plan has every case for every variant, and an arm may have fewer.
        jobs = [
            job
            for job in prepared.plan.jobs
            if arms[place_of[job.trial.axes.get("variant")]].has_case(job.trial.case.name)
        ]
        jobs.sort(key=lambda job: place_of[job.trial.axes.get("variant")])
        plan = replace(
            prepared.plan,
            jobs=tuple(jobs),
            settings={**prepared.plan.settings, WORKBENCH: settings, RESUMED_BY: COMMAND},
        )
        return replace(prepared, plan=plan)

    def _prepare_arms(self, arms: Sequence[Arm], *, keyless: bool) -> PreparedPlan:
        variants = [arm.variant for arm in arms if arm.variant is not None]
        names = [variant.name for variant in variants]
        # With variants alone, the server's own list would not be run.
        if any(arm.variant is None for arm in arms):
            names.insert(0, DEFAULT)
        request = replace(self.request, variants=tuple(names))
        return prepare_plan(request, self.cwd, self.environ, variants=variants, keyless=keyless)


def only_suite(plan: RunPlan) -> Suite:
    """Return the one suite of ``plan``, with the cases that it runs."""
    suite = plan.suites[0]
    asked = {job.trial.case.name for job in plan.jobs}
    return replace(suite, cases=tuple(case for case in suite.cases if case.name in asked))


def arm_keys(plan: RunPlan) -> dict[str | None, str]:
    """Return name of a variant in ``plan`` → key of its arm; ``None`` is the server's own list."""
    variants = {job.trial.axes.get("variant"): job.variant for job in plan.jobs}
    return {name: variant_key(variant) for name, variant in variants.items()}


def describe_unseen(models: Iterable[ModelSpec]) -> tuple[str, ...]:
    """Return one sentence for each agent among ``models`` on what the numbers do not show."""
    return tuple(
        f"{model.name} is an agent: what it does without the server is not seen, and its loop and "
        "system prompt are its own."
        for model in models
        if model.agent is not None
    )
