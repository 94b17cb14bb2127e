"""Judging during a run: keeps the views of the trials to compare, and their `RunJudge`."""

from __future__ import annotations

from collections import Counter
from functools import partial

import anyio
import anyio.to_thread

from harness.judging import (
    RunJudge,
    ViewSource,
    build_view,
    logged_view,
    no_view,
    order_by_names,
)
from harness.runlog import RunLog, TrialLine
from harness.runner.planning.plan import RunPlan
from harness.types import JsonObject, ToolList, TrialResult


class LiveJudge:
    """The judge of a run in progress, whose log cannot be read yet."""

    def __init__(self, plan: RunPlan, earlier: RunLog | None = None) -> None:
        """Start with the final results of ``plan``; ``earlier`` is their log."""
        self._suites: JsonObject = {
            suite.name: {
                "system_prompt": suite.system_prompt,
                "require_identity": suite.require_identity,
            }
            for suite in plan.suites
        }
        self._tools: dict[str, ToolList] = {}
        # The judge is not made for several threads, and each comparison is in one.
        self._turn = anyio.Lock()
        self._judge = RunJudge(
            suites=self._suites,
            order=order_by_names(
                {suite.name: [case.name for case in suite.cases] for suite in plan.suites},
                plan.entrants,
            ),
            expected=Counter(
                [job.trial.suite for job in plan.jobs] + [result.suite for result in plan.done]
            ),
        )
        self._earlier = {result.key: result for result in plan.done}
        self._to_search = list(plan.done)
        for result in plan.done:
            source = no_view if earlier is None else partial(logged_view, earlier, result)
            self._judge.add_result(result, source)

    def record_tools(self, tools: ToolList) -> None:
        """Record a tool list that a trial was offered."""
        self._tools.setdefault(tools.digest, tools)

    async def add_trial(self, line: TrialLine) -> tuple[TrialResult, ...]:
        """Add a finished trial, and return the results of this run that it settles.

        Comparing runs in a thread, so that other trials continue.
        """
        result, transcript = line.run, line.transcript
        async with self._turn:
            # A suite that compares nothing needs no view and no thread.
            if not (self._judge.is_waiting(result) or self._judge.has_waiting(result.suite)):
                return self._judge.add_result(result)
            source: ViewSource = no_view
            if transcript is not None:
                view = build_view(result, transcript, self._tools, self._suites)
                source = lambda: view  # noqa: E731 - a source of views is a function
            return self._exclude_earlier(
                await anyio.to_thread.run_sync(self._judge.add_result, result, source)
            )

    async def list_failing(self, result: TrialResult) -> tuple[TrialResult, ...]:
        """Return `RunJudge.find_failing`, including the results of the earlier part."""

        def search_leaks() -> tuple[TrialResult, ...]:
            # The earlier part is searched once, together with the first result that may leak.
            results, self._to_search = (*self._to_search, result), []
            found = {one.key: one for each in results for one in self._judge.find_failing(each)}
            return tuple(found.values())

        async with self._turn:
            if not self._judge.has_waiting(result.suite):
                return ()
            return await anyio.to_thread.run_sync(search_leaks)

    async def close(self) -> tuple[TrialResult, ...]:
        """Return `RunJudge.close`, limited to the results of this run."""
        async with self._turn:
            return self._exclude_earlier(await anyio.to_thread.run_sync(self._judge.close))

    def _exclude_earlier(self, settled: tuple[TrialResult, ...]) -> tuple[TrialResult, ...]:
        """Leave out the results of the earlier part, which were reported then."""
        return tuple(one for one in settled if one.key not in self._earlier)
