"""Reads earlier runs again and reports their findings, without running anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.descriptions.workbench.stages import (
    WorkbenchContext,
    collect_logged_texts,
    drop_other_server,
    read_stage_logs,
)
from harness.descriptions.workbench.workbench import (
    Workbench,
    WorkbenchRequest,
    read_earlier_request,
)
from harness.descriptions.workbench.workbench_result import WorkbenchResult
from harness.reports import WORKBENCH
from harness.runlog import RunLog, find_log, read_log, suite_differences
from harness.runner import RunPlan, RunRequest, describe_suite, require_trust

_MOST = 5


def reread_logs(
    name: str, request: RunRequest, order: WorkbenchRequest
) -> tuple[list[RunLog], RunRequest, WorkbenchRequest]:
    """Return the logs of a run of the workbench or of evals, and the request and order for them.

    For a workbench, its own request counts, except that ``order`` may name other studies. For
    another run, ``request`` counts; if it names no suites or models, those of the run do.

    Raises:
        UsageError: there is no such run.
    """
    log = read_log(find_log(name))
    if WORKBENCH in log.header.settings:
        first, request, logged = read_earlier_request(name)
        order = replace(logged, studies=order.studies or logged.studies)
        return read_stage_logs(first), request, order
    if not request.suites:
        request = replace(request, suites=tuple(log.header.suites))
    return [log], replace(request, models=request.models or tuple(log.header.models)), order


def reread_result(name: str, cwd: Path, environ: Mapping[str, str]) -> WorkbenchResult:
    """Return the findings of the run of that name, without running anything.

    Raises:
        UsageError: there is no such run, or its suite is gone or cannot be read any more.
    """
    logs, request, order = reread_logs(name, RunRequest(), WorkbenchRequest())
    ground = WorkbenchContext(request=request, cwd=cwd, environ=environ)
    plan = ground.plan_clean(keyless=True).plan
    require_trust(plan)
    # No server is started: the tools are those that the logs have.
    result = Workbench(
        ground, order, collect_logged_texts(drop_other_server(logs)), plan
    ).build_result(logs)
    return replace(result, notes=(*result.notes, *describe_suite_changes(logs[0], plan)))


def describe_suite_changes(log: RunLog, plan: RunPlan) -> tuple[str, ...]:
    """Return in words how the suite of ``plan`` differs from the suite of ``log``.

    Results belong to the old suite; the expectations of a case are read from the current one.
    """
    now = {suite.name: describe_suite(suite) for suite in plan.suites}
    # A suite that is gone has nothing to differ from.
    was = {name: facts for name, facts in log.header.suites.items() if name in now}
    found = list(suite_differences(was, now))
    if not found:
        return ()
    more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
    changed = (
        f"The suite has changed since this run: {', '.join(found[:_MOST])}{more}. Verdicts are "
        "those of the suite as it was; what cases want is read from the suite as it is."
    )
    return (changed,)
