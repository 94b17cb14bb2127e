"""Read earlier runs again and report their findings, without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from harness.runlog import RunLog, read_log
from harness.runlog_diff import suite_differences
from harness.runner.launch import require_trust
from harness.runner.planning.plan import Plan, describe_suite
from harness.runner.planning.prepare import RunRequest
from harness.runner.runs.folders import find_log
from harness.workbench.folders import logs_of, own_logs, tools_in
from harness.workbench.measured import base_names
from harness.workbench.staging import SETTING, Ground
from harness.workbench.workbench import Order, Workbench, WorkbenchResult, earlier

_MOST = 5


def read_again(
    name: str, request: RunRequest, order: Order
) -> tuple[list[RunLog], RunRequest, Order]:
    """Return the logs of a run of the workbench or of evals, and what to read them for.

    Of a workbench, what it was asked counts, but for studies that ``order`` names. Of another run,
    ``request`` counts, with the suites and models of the run where it names none.

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


def found_again(name: str, cwd: Path, environ: Mapping[str, str]) -> WorkbenchResult:
    """Return what the run of that name shows, without running anything.

    Raises:
        UsageError: there is no such run, or its suite is gone or cannot be read any more.
    """
    logs, request, order = read_again(name, RunRequest(), Order())
    ground = Ground(request=request, cwd=cwd, environ=environ)
    plan = ground.plan(keyless=True).plan
    require_trust(plan)
    result = Workbench(ground, order, tools_in(own_logs(logs)), plan).result(logs)
    return replace(result, notes=(*result.notes, *changed_since(logs[0], plan)))


def changed_since(log: RunLog, plan: Plan) -> tuple[str, ...]:
    """Return in words how the suite of ``plan`` differs from the one that ``log`` was run with.

    What was measured is that of the suite as it was; what a case wants is read from the suite as it
    is.
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
