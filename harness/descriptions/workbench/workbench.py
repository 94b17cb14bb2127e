"""One workbench: a first stage with all initial arms, then stages that depend on its results.

Each stage is a normal run in a folder of its own (``ID``, ``ID-2``, ``ID-3`` …), with its own log;
the trials on another server are the stage ``ID-b``. A stage is planned only from the logs of the
stages before it, so that a workbench that was interrupted in any way can continue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.base import UsageError, make_one_line
from harness.descriptions.workbench.arms import (
    CLEAN,
    Arm,
    ServerTexts,
    merge_arms,
    select_unrun_arms,
)
from harness.descriptions.workbench.measurements import (
    ModelMeasurements,
    note_written_calls,
    sum_usage,
)
from harness.descriptions.workbench.other_server_trials import OtherServerTrials, read_other_server
from harness.descriptions.workbench.output_files import write_files
from harness.descriptions.workbench.stage_progress import OWN, StageProgress
from harness.descriptions.workbench.stages import (
    OTHER,
    OTHER_SETTING,
    Stage,
    WorkbenchContext,
    describe_unseen,
    drop_other_server,
    list_stages,
    logged_other_server,
    only_suite,
    stage_id,
)
from harness.descriptions.workbench.study import (
    OtherServer,
    Study,
    StudyContext,
    StudyOptions,
    StudyResult,
    chosen_studies,
)
from harness.descriptions.workbench.workbench_result import ModelResults, WorkbenchResult
from harness.models import get_traits
from harness.reports import WORKBENCH, build_report, fill_store_meanwhile, keep_store
from harness.runlog import (
    RUNS,
    RunLog,
    amend_log,
    find_log,
    has_header,
    log_path,
    new_run_id,
    read_header,
    read_log,
    resume_command,
)
from harness.runner import Observer, RunOptions, RunPlan, RunRequest, launch_run
from harness.suites import choose_variants
from harness.types import JsonObject, ModelSpec, TrialResult, Usage

AB = "ab"
"""The study that compares another server."""
Early: TypeAlias = Literal["budget", "interrupted"]
"""Why a workbench ends between two stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchRequest:
    """The user's order: studies and options."""

    studies: tuple[str, ...] = ()
    """Names of studies; empty: all studies."""
    options: StudyOptions = field(default_factory=StudyOptions)
    """The options of the studies."""


@dataclass
class Workbench:
    """The studies of one suite."""

    ground: WorkbenchContext
    """Where the suite, the servers and the models are found."""
    order: WorkbenchRequest
    """The user's order."""
    texts: ServerTexts
    """The texts that are shown to the callers of the clean arm."""
    clean: InitVar[RunPlan]
    """The plan of the clean arm."""
    writer: ModelSpec | None = None
    """The model that the order's options name, if it may be asked."""
    other: OtherServerTrials | None = None
    """The other server, if its trials are to run."""
    runs: Path = RUNS
    """The folder of all runs."""

    def __post_init__(self, clean: RunPlan) -> None:
        """Choose the studies and the variants that the order names."""
        # Which study asked for an arm first, since its progress is shown there.
        self._asked_by: dict[str, str] = {CLEAN.key: "clean"}
        self._suite = only_suite(clean)
        self._cases = tuple(case.name for case in self._suite.cases)
        self._models = clean.models
        self.studies: tuple[Study, ...] = chosen_studies(self.order.studies)
        """The studies, in the order of reports."""
        versus = choose_variants(self._suite, self.order.options.versus)
        self._versus = tuple(variant for variant in versus if variant is not None)

    @property
    def needs_run(self) -> bool:
        """Whether a study needs runs for its answer."""
        return any(study.needs_run for study in self.studies)

    def first_arms(self) -> tuple[Arm, ...]:
        """Return every arm that is known before anything is run, the clean arm first."""
        asked = [
            arm
            for bench in self.iterate_contexts()
            for study in self.studies
            for arm in self._note_requester(study, study.arms(bench))
        ]
        return merge_arms([CLEAN, *asked])

    def _note_requester(self, study: Study, arms: Sequence[Arm]) -> Sequence[Arm]:
        """Return ``arms``, and remember which study requested each of them first."""
        for arm in arms:
            self._asked_by.setdefault(arm.key, study.name)
        return arms

    def first_context(self) -> StudyContext:
        """Return the bench of the first model before anything is run."""
        return next(self.iterate_contexts())

    def start_progress(self, arms: Sequence[Arm], stage: Stage = 1) -> StageProgress:
        """Return the progress of ``arms`` at the start of their stage."""
        studies, own = self._asked_by, OWN
        if stage == OTHER and self.other is not None:
            studies, own = {CLEAN.key: AB}, f"the list of {make_one_line(self.other.server.name)}"
        names = [model.name for model in self._models]
        return StageProgress(arms, names, len(self._cases), studies, own)

    def plan_other_server(self, settings: JsonObject, *, keyless: bool = False) -> RunPlan | None:
        """Return the plan for the other server; ``None`` if there is none."""
        if self.other is None:
            return None
        told = {**settings, OTHER_SETTING: self.other.header_entry()}
        return self.other.plan_trials(self._cases, told, keyless=keyless)

    def run_stages(
        self,
        options: RunOptions,
        observer_of: Callable[[Stage, Sequence[Arm], Sequence[TrialResult]], Observer],
        *,
        resume: str | None = None,
    ) -> WorkbenchResult:
        """Run every stage, and return the findings, also after an early end.

        Args:
            options: How stages are carried out; the budget is that of all together.
            observer_of: Returns the observer of a stage, by its number (from 1; `OTHER` for the
                other server), its arms, and the results that it has already.
            resume: Folder of the first stage of an earlier workbench that goes on.
        """
        first = resume or new_run_id([self._suite.name])
        logs: list[RunLog] = []
        arms: tuple[Arm, ...] = self.first_arms()
        every = frozenset(self._cases)
        ran: dict[str, frozenset[str]] = {}
        for stage in list_stages(other=self.other is not None):
            if stage not in (1, OTHER):
                try:
                    arms = select_unrun_arms(self._next_arms(logs), ran, every)
                except KeyboardInterrupt:  # while a model was asked for proposals
                    return self._end_early(logs, "interrupted", "interrupted before its next stage")
                if not arms:
                    break
            left = options.budget.left_after(self._total_usage(logs)) if logs else options.budget
            if left is None:
                return self._end_early(logs, "budget", f"no budget is left for stage {stage}")
            path = log_path(stage_id(first, stage), self.runs)
            begun = read_log(path) if has_header(path) else None
            if begun is not None and begun.footer is not None and begun.footer.fault is not None:
                begun = amend_log(begun, reason="complete", fault=None)  # the stage is resumed
            shown = arms
            if stage == OTHER and self.other is not None:
                shown = (self.other.build_arm(self._cases),)
            log = launch_run(
                self._plan_stage(stage, arms, first),
                replace(options, budget=left),
                observer_of(stage, shown, begun.results if begun else ()),
                runs=self.runs,
                resume=begun,
                run_id=stage_id(first, stage),
                meanwhile=fill_store_meanwhile,
            )
            logs.append(log)
            # Trials on another server are no results of these lists.
            if stage != OTHER:
                for arm in arms:
                    asked = every if arm.cases is None else arm.cases
                    ran[arm.key] = ran.get(arm.key, frozenset()) | asked
            # The next stage is planned from complete results.
            if log.footer is None or log.footer.reason != "complete":
                break
        result = self.build_result(logs)
        write_files(result, logs[0].path.parent)
        _keep_stores(logs)
        return result

    def _end_early(self, logs: Sequence[RunLog], reason: Early, fault: str) -> WorkbenchResult:
        """Return the result of a workbench that ends between two stages, and log the end."""
        # What ends between two stages has no log of its own.
        last = amend_log(logs[-1], reason=reason, fault=f"the workbench ended early: {fault}")
        _keep_stores([*logs[:-1], last])
        return self.build_result([*logs[:-1], last])

    def _plan_stage(self, stage: Stage, arms: Sequence[Arm], first: str) -> RunPlan:
        settings: JsonObject = {
            "of": first,
            "stage": stage,
            "studies": [study.name for study in self.studies],
            "options": asdict(self.order.options),
            "request": asdict(self.ground.request),
        }
        other = self.plan_other_server(settings) if stage == OTHER else None
        return self.ground.plan_stage(arms, settings).plan if other is None else other

    def build_result(self, logs: Sequence[RunLog]) -> WorkbenchResult:
        """Return the findings in ``logs`` of all stages; without logs, those that need no run."""
        folder = logs[0].path.parent if logs else None
        results = [result for log in logs for result in log.results]
        footer = logs[-1].footer if logs else None
        reason = "interrupted" if footer is None else footer.reason
        return WorkbenchResult(
            run_id=logs[0].header.run_id if logs else "",
            suite=self._suite.name,
            texts=self.texts,
            models=tuple(
                ModelResults(
                    model=bench.model,
                    baseline=bench.baseline,
                    studies=tuple(self._read_studies(bench, logs)),
                )
                for bench in self.iterate_contexts(folder, read_other_server(logs))
            ),
            logs=tuple(log.path for log in logs),
            reason=reason if logs else "complete",
            recorded=len(results),
            not_judged=sum(not result.is_comparable for result in results),
            spent=self._total_usage(logs),
            notes=(*describe_unseen(self._models), *note_written_calls(results)),
        )

    def _read_studies(self, bench: StudyContext, logs: Sequence[RunLog]) -> Iterator[StudyResult]:
        measured = self._measure_model(logs, bench.model)
        for study in self.studies:
            yield replace(study.read(bench, measured), study=study.name)

    def _measure_model(self, logs: Sequence[RunLog], model: str) -> ModelMeasurements:
        suite = self._suite.name
        others = [log for log in logs if logged_other_server(log) is not None]
        other = ModelMeasurements(others, suite, model) if others else None
        return ModelMeasurements(drop_other_server(logs), suite, model, other)

    def _total_usage(self, logs: Sequence[RunLog]) -> Usage:
        """Return what trials and studies used so far."""
        used = sum_usage(result for log in logs for result in log.results)
        if logs:
            for bench in self.iterate_contexts(logs[0].path.parent):
                for study in self.studies:
                    used += Usage() if study.usage is None else study.usage(bench)
        return used

    def _next_arms(self, logs: Sequence[RunLog]) -> list[Arm]:
        wanted: list[Arm] = []
        for bench in self.iterate_contexts(logs[0].path.parent):
            measured = self._measure_model(logs, bench.model)
            for study in self.studies:
                wanted += self._note_requester(study, study.next_arms(bench, measured))
        return wanted

    def iterate_contexts(
        self, folder: Path | None = None, other: OtherServer | None = None
    ) -> Iterator[StudyContext]:
        """Yield the bench of every model; without a folder, before anything is run."""
        if other is None and self.other is not None:
            other = self.other.server
        # The prompt of a leaderboard has no instructions, and a baseline reads no prompt.
        ruled = any(case.leaderboard.system_prompt is not None for case in self._suite.cases)
        for model in self._models:
            reads = not ruled and get_traits(model.provider).answers == "llm"
            yield StudyContext(
                suite=self._suite,
                texts=self.texts if reads else replace(self.texts, instructions=()),
                model=model.name,
                baseline=get_traits(model.provider).answers != "llm",
                options=self.order.options,
                versus=self._versus,
                other=other,
                writer=self.writer,
                folder=folder,
            )


def read_earlier_request(name: str, runs: Path = RUNS) -> tuple[str, RunRequest, WorkbenchRequest]:
    """Return the first stage's folder of an earlier workbench, with its request and order.

    ``name`` is the name of a run, of any stage, or ``latest``.

    Raises:
        UsageError: there is no such run, or it does not belong to a workbench.
    """
    header = read_header(find_log(name, runs))
    settings = header.settings.get(WORKBENCH)
    if settings is None:
        raise UsageError(
            f"run {name} was not made by harness workbench",
            meant=f"Resume it with: {resume_command(name, header.settings)}",
        )
    request = RunRequest(**{**settings["request"], "suites": tuple(settings["request"]["suites"])})
    # JSON has lists where the options have tuples.
    options: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in settings["options"].items()
    }
    order = WorkbenchRequest(studies=tuple(settings["studies"]), options=StudyOptions(**options))
    return settings["of"], request, order


def _keep_stores(logs: Sequence[RunLog]) -> None:
    for log in logs:
        keep_store(log, build_report(log))
