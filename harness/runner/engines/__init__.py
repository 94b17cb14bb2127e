"""Engines: what carries out the trials of a run, in one process or on many machines.

An engine is given one trial after another and returns what each produced. Everything else of a run
is the same with every engine, and stays in the process that the user started: which trial is next,
budgets, interrupts, the log, judging across trials, progress and reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import anyio

from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.units import Unit
from harness.runner.preflight.preflight import Preflight
from harness.runner.trial import TrialOutcome
from harness.sessions import SessionPool
from harness.types import Transcript, Trial

Told: TypeAlias = Callable[[Trial, Transcript], None]
"""Is told the conversation of a trial so far, after each of its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineContext:
    """What an engine is opened for."""

    plan: RunPlan
    """Everything that may be run."""
    concurrency: int
    """Trials at the same time, wherever they run."""
    learn: Callable[[str], None]
    """Is told of secrets that come up, before a line with them is written."""
    note: Callable[[str], None]
    """Takes a message for the user about the run as a whole."""
    traced_as: str | None = None
    """The name of the run, if its calls carry trace context; ``None``: they carry none."""


class Engine(Protocol):
    """An open engine."""

    @property
    def seats(self) -> Sequence[int]:
        """Trials at the same time in each place where trials run."""
        ...

    @property
    def pool(self) -> SessionPool:
        """Sessions in this process, with which tools are checked before any trial."""
        ...

    def divide_into_units(self, plan: RunPlan) -> Iterator[Unit]:
        """Yield the trials of ``plan`` in the units of which each goes to one place."""
        ...

    async def finish_tool_check(self) -> None:
        """Take notice that the check of the tools is over."""
        ...

    async def run_trial(
        self,
        job: Job,
        place: int,
        preflight: Preflight,
        scope: anyio.CancelScope,
        tell: Told | None = None,
    ) -> TrialOutcome:
        """Run a trial in that place under ``scope``; it ends with exactly one status.

        Raises:
            HarnessError: the engine itself can run no further trial.
        """
        ...


Opening: TypeAlias = Callable[[EngineContext], AbstractAsyncContextManager[Engine]]
"""Opens an engine for the length of a block.

Raises:
    UsageError: it cannot carry out this plan, or a model cannot be opened.
"""
