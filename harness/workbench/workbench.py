"""One workbench: a first stage with every arm that is known beforehand, then what follows from it.

Each stage is a run like any other, in a folder of its own (``ID``, ``ID-2``, ``ID-3`` …), with its
own log. A stage is planned from the logs of those before it alone, so that a workbench that was
ended in any way goes on where it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.models import traits_of
from harness.reports.atomic_files import write_atomically
from harness.runlog import RunLog, read_header, read_log
from harness.runner.launch import launch
from harness.runner.observer import Observer
from harness.runner.planning.plan import Plan
from harness.runner.planning.prepare import RunRequest
from harness.runner.planning.variant_choice import variants_of
from harness.runner.run import RunOptions
from harness.runner.runs.folders import (
    RUNS,
    find_log,
    has_header,
    log_path,
    new_run_id,
    resume_command,
)
from harness.types import ModelSpec, Tool, TrialResult, Usage
from harness.workbench.arms import CLEAN, Arm, distinct, not_yet_run
from harness.workbench.measured import Measured, used_by
from harness.workbench.so_far import SoFar
from harness.workbench.staging import SETTING, Ground, models_of, only_suite
from harness.workbench.study import Bench, Study, StudyOptions, StudyResult, chosen_studies

_MOST_STAGES = 40
"""No workbench goes on for ever, whatever its studies ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a user wants of a workbench."""

    studies: tuple[str, ...] = ()
    """Names of studies; none means all."""
    options: StudyOptions = field(default_factory=StudyOptions)
    """What the studies are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResults:
    """The answers of all studies for one model."""

    model: str
    """Its name."""
    baseline: bool
    """Whether it is no LLM."""
    studies: tuple[StudyResult, ...]
    """In the order of reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchResult:
    """Everything that a workbench found, read from its logs."""

    run_id: str
    """Folder of the first stage; empty if nothing was run."""
    suite: str
    """Name of the suite."""
    tools: tuple[Tool, ...]
    """The tools, in the server's words."""
    models: tuple[ModelResults, ...]
    """One for each model."""
    logs: tuple[Path, ...]
    """The log of each stage."""
    reason: str
    """Why the last stage ended: ``complete``, ``interrupted``, ``budget`` …"""
    recorded: int
    """Trials that were recorded, in all stages."""
    not_judged: int
    """Of these, the ones without a verdict."""
    spent: Usage
    """What they used."""
    notes: tuple[str, ...] = ()
    """What makes the whole weaker than it looks."""


class Workbench:
    """The studies of one suite."""

    def __init__(
        self,
        ground: Ground,
        order: Order,
        tools: Sequence[Tool],
        clean: Plan,
        writer: ModelSpec | None = None,
        runs: Path = RUNS,
    ) -> None:
        """``clean`` is the plan of the clean arm; ``tools`` are what its callers are offered.

        ``writer`` is the model that the order's options name, if it may be asked.
        """
        self._ground = ground
        self._writer = writer
        self._order = order
        self._runs = runs
        self._tools = tuple(tools)
        self._suite = only_suite(clean)
        self._models = models_of(clean)
        self.studies: tuple[Study, ...] = chosen_studies(order.studies)
        """The studies, in the order of reports."""
        self._versus = tuple(
            variant
            for variant in variants_of(self._suite, order.options.versus)
            if variant is not None
        )

    @property
    def needs_run(self) -> bool:
        """Whether a study has an answer only from runs."""
        return any(study.needs_run for study in self.studies)

    def first_arms(self) -> tuple[Arm, ...]:
        """Return every arm that is known before anything is run, the clean one first."""
        asked = (arm for bench in self._benches(None) for arm in self.arms_of(bench))
        return distinct([CLEAN, *asked])

    def arms_of(self, bench: Bench) -> Iterator[Arm]:
        """Yield the arms that the studies ask for beforehand."""
        for study in self.studies:
            yield from study.arms(bench)

    def bench(self) -> Bench:
        """Return what studies see of the first model before anything is run."""
        return next(self._benches(None))

    def so_far(self, arms: Sequence[Arm]) -> SoFar:
        """Return what is known of ``arms`` before any of their trials has ended."""
        bench = self.bench()
        studies = {CLEAN.key: "clean"}
        for study in self.studies:
            for arm in study.arms(bench):
                studies.setdefault(arm.key, study.name)
        names = [model.name for model in self._models]
        return SoFar(arms, names, len(self._suite.cases), studies)

    def carry_out(
        self,
        options: RunOptions,
        observer_of: Callable[[int, Sequence[Arm], Sequence[TrialResult]], Observer],
        *,
        resume: str | None = None,
    ) -> WorkbenchResult:
        """Run every stage, and return what was found, however it ended.

        Args:
            options: How stages are carried out; the budget is that of all together.
            observer_of: Returns the observer of a stage, by its number (from 1), its arms, and the
                results that it has already.
            resume: Folder of the first stage of an earlier workbench that goes on.
        """
        first = resume or new_run_id([self._suite.name])
        logs: list[RunLog] = []
        arms: tuple[Arm, ...] = self.first_arms()
        every = frozenset(case.name for case in self._suite.cases)
        ran: dict[str, frozenset[str]] = {}
        for stage in range(1, _MOST_STAGES + 1):
            path = log_path(stage_id(first, stage), self._runs)
            settings = {
                "of": first,
                "stage": stage,
                "studies": [study.name for study in self.studies],
                "options": asdict(self._order.options),
                "request": asdict(self._ground.request),
            }
            left = options.budget.left_after(self._spent(logs)) if logs else options.budget
            if left is None:
                return replace(self.result(logs), reason="budget")
            plan = self._ground.stage(arms, settings).plan
            begun = read_log(path) if has_header(path) else None
            log = launch(
                plan,
                replace(options, budget=left),
                observer_of(stage, arms, begun.results if begun else ()),
                runs=self._runs,
                resume=begun,
                run_id=stage_id(first, stage),
            )
            logs.append(log)
            for arm in arms:
                asked = every if arm.cases is None else arm.cases
                ran[arm.key] = ran.get(arm.key, frozenset()) | asked
            if log.footer is None or log.footer.reason != "complete":
                break
            try:
                arms = not_yet_run(self._next_arms(logs), ran, every)
            except KeyboardInterrupt:  # while a model was asked for what to try
                return replace(self.result(logs), reason="interrupted")
            if not arms:
                break
        result = self.result(logs)
        _write_files(result, logs[0].path.parent)
        return result

    def result(self, logs: Sequence[RunLog]) -> WorkbenchResult:
        """Return what ``logs``, those of all stages, show; without any, what needs no run."""
        folder = logs[0].path.parent if logs else None
        results = [result for log in logs for result in log.results]
        footer = logs[-1].footer if logs else None
        reason = "interrupted" if footer is None else footer.reason
        return WorkbenchResult(
            run_id=logs[0].header.run_id if logs else "",
            suite=self._suite.name,
            tools=self._tools,
            models=tuple(
                ModelResults(
                    model=bench.model,
                    baseline=bench.baseline,
                    studies=tuple(
                        study.read(bench, Measured(logs, self._suite.name, bench.model))
                        for study in self.studies
                    ),
                )
                for bench in self._benches(folder)
            ),
            logs=tuple(log.path for log in logs),
            reason=reason if logs else "complete",
            recorded=len(results),
            not_judged=sum(one.status not in {"passed", "failed"} for one in results),
            spent=self._spent(logs),
        )

    def _spent(self, logs: Sequence[RunLog]) -> Usage:
        """Return what trials and studies used so far."""
        used = used_by(result for log in logs for result in log.results)
        if logs:
            for bench in self._benches(logs[0].path.parent):
                for study in self.studies:
                    used += Usage() if study.usage is None else study.usage(bench)
        return used

    def _next_arms(self, logs: Sequence[RunLog]) -> list[Arm]:
        wanted: list[Arm] = []
        for bench in self._benches(logs[0].path.parent):
            measured = Measured(logs, self._suite.name, bench.model)
            for study in self.studies:
                wanted += study.next_arms(bench, measured)
        return wanted

    def _benches(self, folder: Path | None) -> Iterator[Bench]:
        for model in self._models:
            yield Bench(
                suite=self._suite,
                tools=self._tools,
                model=model.name,
                baseline=_is_baseline(model),
                options=self._order.options,
                versus=self._versus,
                writer=self._writer,
                folder=folder,
            )


def _is_baseline(model: ModelSpec) -> bool:
    return traits_of(model.provider).answers != "llm"


def stage_id(first: str, stage: int) -> str:
    """Return the name of a stage's folder."""
    return first if stage == 1 else f"{first}-{stage}"


def logs_of(first: str, runs: Path = RUNS) -> list[RunLog]:
    """Return the logs of every stage that began, in order."""
    logs = []
    for stage in range(1, _MOST_STAGES + 1):
        path = log_path(stage_id(first, stage), runs)
        if not has_header(path):
            break
        logs.append(read_log(path))
    return logs


def earlier(name: str, runs: Path = RUNS) -> tuple[str, RunRequest, Order]:
    """Return the first stage's folder of an earlier workbench, and what it was asked.

    ``name`` is a run's, of any stage, or ``latest``.

    Raises:
        UsageError: there is no such run, or it is none of a workbench.
    """
    header = read_header(find_log(name, runs))
    settings = header.settings.get(SETTING)
    if settings is None:
        raise UsageError(
            f"run {name} was not made by harness workbench",
            meant=f"Resume it with: {resume_command(name, header.settings)}",
        )
    request = RunRequest(**{**settings["request"], "suites": tuple(settings["request"]["suites"])})
    known = {one.name for one in fields(StudyOptions)}
    options: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in settings["options"].items()
        if key in known
    }
    order = Order(studies=tuple(settings["studies"]), options=StudyOptions(**options))
    return settings["of"], request, order


def files_of(result: WorkbenchResult) -> dict[str, str]:
    """Return name → text of what the studies hand back; with several models, one for each."""
    several = len(result.models) > 1
    return {
        f"{_as_file_name(one.model)}-{name}" if several else name: text
        for one in result.models
        for study in one.studies
        for name, text in study.files.items()
    }


def _write_files(result: WorkbenchResult, folder: Path) -> None:
    for name, text in files_of(result).items():
        write_text(folder / name, text)


def write_text(path: Path, text: str) -> None:
    """Write a file of `files_of`, without secrets.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_atomically(path, lambda stream: print(text, end="", file=stream))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _as_file_name(model: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", model)
