"""Reads earlier runs again and reports their findings, without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from harness.descriptions.workbench.folders import logs_of, own_logs, tools_in
from harness.descriptions.workbench.measured import base_names
from harness.descriptions.workbench.staging import SETTING, Ground
from harness.descriptions.workbench.workbench import Order, Workbench, WorkbenchResult, earlier
from harness.runlog import RunLog, read_log, suite_differences
from harness.runner import Plan, RunRequest, describe_suite, find_log, require_trust

_MOST = 5


def reread_logs(
    name: str, request: RunRequest, order: Order
) -> tuple[list[RunLog], RunRequest, Order]:
    """Return the logs of a run of the workbench or of evals, and the request and order for them.

    For a workbench, its own request counts, except that ``order`` may name other studies. For
    another run, ``request`` counts; if it names no suites or models, those of the run do.

    Raises:
        UsageError: there is no such run.
    """
    log = read_log(find_log(name))
    if SETTING in log.header.settings:
        first, request, logged = earlier(name)
        return logs_of(first), request, replace(logged, studies=order.studies or logged.studies)
    if not request.suites:
        request = replace(request, suites=tuple(log.header.suites))
    names = dict.fromkeys(base_names(log))
    return [log], replace(request, models=request.models or tuple(names)), order


def reread_result(name: str, cwd: Path, environ: Mapping[str, str]) -> WorkbenchResult:
    """Return the findings of the run of that name, without running anything.

    Raises:
        UsageError: there is no such run, or its suite is gone or cannot be read any more.
    """
    logs, request, order = reread_logs(name, RunRequest(), Order())
    ground = Ground(request=request, cwd=cwd, environ=environ)
    plan = ground.plan(keyless=True).plan
    require_trust(plan)
    result = Workbench(ground, order, tools_in(own_logs(logs)), plan).result(logs)
    return replace(result, notes=(*result.notes, *changed_since(logs[0], plan)))


def changed_since(log: RunLog, plan: Plan) -> tuple[str, ...]:
    """Return in words how the suite of ``plan`` differs from the suite of ``log``.

    Results belong to the old suite; the expectations of a case are read from the current one.
    """
    return tuple(_told(log, plan))


def _told(log: RunLog, plan: Plan) -> Iterator[str]:
    now = {suite.name: describe_suite(suite) for suite in plan.suites}
    was = {name: facts for name, facts in log.header.suites.items() if name in now}
    found = list(suite_differences(was, now))
    if not found:
        return
    more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
    yield (
        f"The suite has changed since this run: {', '.join(islice(found, _MOST))}{more}. Verdicts "
        "are those of the suite as it was; what cases want is read from the suite as it is."
    )
