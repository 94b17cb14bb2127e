"""The stages of a workbench: which trials each runs, in which order, and its log on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from harness.base import UsageError
from harness.descriptions.workbench.arms import Arm, ServerTexts, collect_texts, variant_key
from harness.models import unknown_provider
from harness.reports import WORKBENCH
from harness.runlog import RESUMED_BY, RUNS, RunLog, has_header, log_path, read_log
from harness.runner import PreparedPlan, RunPlan, RunRequest, prepare_plan
from harness.suites import DEFAULT, load_config
from harness.types import JsonObject, ModelSpec, Suite, dataclass

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


MOST_STAGES = 40
"""Most stages, so that every workbench ends."""
OTHER = "b"
"""The stage on another server, after the first stage and before the second."""
OTHER_SETTING = "other"
"""The key, below `WORKBENCH` in a log's settings, under which that stage describes the server."""

Stage: TypeAlias = int | str
"""The number of a stage, from 1, or `OTHER`."""


def stage_id(first: str, stage: Stage) -> str:
    """Return the name of a stage's folder."""
    return first if stage == 1 else f"{first}-{stage}"


def list_stages(*, other: bool) -> list[Stage]:
    """Return every stage that a workbench may have, in order."""
    return [1, *([OTHER] if other else []), *range(2, MOST_STAGES + 1)]


def read_stage_logs(first: str, runs: Path = RUNS) -> list[RunLog]:
    """Return the logs of every stage that has begun, in order."""
    logs = []
    for stage in list_stages(other=True):
        path = log_path(stage_id(first, stage), runs)
        if has_header(path):
            logs.append(read_log(path))
        # Not every workbench has the stage on another server.
        elif stage != OTHER:
            break
    return logs


def logged_other_server(log: RunLog) -> JsonObject | None:
    """Return a log's description of its other server; ``None`` if it has none."""
    settings: Any = log.header.settings.get(WORKBENCH) or {}
    found: JsonObject | None = settings.get(OTHER_SETTING)
    return found


def drop_other_server(logs: Sequence[RunLog]) -> list[RunLog]:
    """Return those of ``logs`` that are of the suite's own server."""
    return [log for log in logs if logged_other_server(log) is None]


def collect_logged_texts(logs: Sequence[RunLog]) -> ServerTexts:
    """Return the texts that were listed for any identity in ``logs``."""
    return collect_texts(listed for log in logs for listed in log.tools.values())
