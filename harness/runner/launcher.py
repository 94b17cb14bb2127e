"""From a plan to a run folder: open the log, write its header, run the trials, read it back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from harness.base import (
    GATE,
    KNOWN,
    NothingToRun,
    Redactor,
    UsageError,
    is_builtin_server,
    utc_now,
)
from harness.runlog import (
    RUNS,
    Header,
    LogWriter,
    RunLog,
    discard_log,
    log_path,
    new_run_id,
    read_log,
)
from harness.runner.agent_requirements import add_agent_versions
from harness.runner.observer import Observer
from harness.runner.planning.plan import RunPlan, describe_model, describe_server, describe_suite
from harness.runner.planning.request import RunOptions
from harness.runner.recordings.recording_digest import digest_recording
from harness.runner.run import run_plan
from harness.runner.runs.resume import refuse_if_changed, select_remaining
from harness.suites import describe_values
from harness.types import JsonObject, ModelSpec
from harness.version import __version__

Meanwhile: TypeAlias = Callable[[Path], AbstractContextManager[object]]
"""Does something with the log of a run while it is written, such as reading it for its store."""


def launch_run(plan: RunPlan, options: RunOptions, observer: Observer, **more: Any) -> RunLog:
    """Run `launch_async` in its own event loop."""
    return anyio.run(partial(launch_async, plan, options, observer, **more))


async def launch_async(
    plan: RunPlan,
    options: RunOptions,
    observer: Observer,
    *,
    runs: Path = RUNS,
    resume: RunLog | None = None,
    run_id: str | None = None,
    meanwhile: Meanwhile = nullcontext,
) -> RunLog:
    """Run ``plan`` in a new folder below ``runs``, and return its log.

    With ``resume``, run the missing part of the plan in that log's folder instead. ``run_id`` names
    the new folder, if the caller has already chosen the name. ``meanwhile`` is open while the log
    is written.

    Raises:
        NothingToRun: the plan is empty.
        UsageError: the run to resume asked something else, a model cannot be opened, or a case
            names an argument that a tool does not have; no run is kept.
        HarnessError: the log cannot be written.
    """
    if not plan.jobs:
        raise NothingToRun("there is no case to run")
    # First, because the next step starts each agent's program to learn its version.
    require_trust(plan)
    plan = await add_agent_versions(plan)
    run_id = run_id or new_run_id([suite.name for suite in plan.suites])
    path = log_path(run_id, runs)
    redactor = build_redactor(plan)
    header = build_header(plan, run_id, options)
    if resume is not None:
        path, header = resume.path, replace(header, run_id=resume.header.run_id)
        keys = {job.trial.key for job in plan.jobs}
        # Further trials of a repeated test were never in a plan.
        strangers = [one for one in resume.results if one.key not in keys and not one.is_further]
        # Both are redacted anew: a secret that is known only now must not look like a change.
        names = ("suites", "models", "axes", "entrants", "servers", "settings")
        then, now = (
            replace(one, **{name: redactor.redact_json(getattr(one, name)) for name in names})
            for one in (resume.header, header)
        )
        refuse_if_changed(then, now, strangers)
        plan = select_remaining(plan, resume)
        # Without a footer the run is opened even if nothing is left, to be closed in order.
        if not plan.jobs and resume.footer is not None:
            return resume
    with LogWriter(path, redactor.redact_json_text, redactor.add_secret) as log:
        # A resumed run has its header already.
        if resume is None:
            log.append(header)
        try:
            with meanwhile(path):
                await run_plan(plan, log, options, observer, resume)
        except UsageError:  # no model was asked, so there is no run to keep
            if resume is None:
                discard_log(path)
            raise
    return read_log(path)


def require_trust(plan: RunPlan) -> None:
    """Check that files are trusted to start processes and send data as in ``plan``.

    Raises:
        UsageError: the file is not trusted, and the user has not agreed.
    """
    GATE.require_plan(
        (*plan.servers, *plan.decoys_from), (*plan.models, *plan.judges, *plan.user_models)
    )


def build_redactor(plan: RunPlan) -> Redactor:
    """Return the redactor of this process, after adding the plan's secrets."""
    models = (*plan.models, *plan.judges, *plan.user_models)
    KNOWN.add_specs(models, plan.servers, plan.suites, environ=os.environ)
    return KNOWN


def build_header(plan: RunPlan, run_id: str, options: RunOptions) -> Header:
    """Return the first line of the plan's log."""
    used: dict[str, list[str]] = {}
    for suite, server in dict.fromkeys((job.suite.name, job.server.name) for job in plan.jobs):
        # That of a single case of a suite in Python, with the case's own functions, is the suite's.
        name = suite if server.startswith(f"{suite}::") else server
        if name not in used.setdefault(suite, []):
            used[suite].append(name)
    return Header(
        run_id=run_id,
        started_at=utc_now(),
        harness_version=__version__,
        planned=len(plan.jobs),
        suites={
            suite.name: {**describe_suite(suite), "servers": used.get(suite.name, [])}
            for suite in plan.suites
        },
        models=_add_digests({one.name: describe_model(one) for one in plan.models}, plan.models),
        axes=describe_values([job.point for job in plan.jobs]),
        entrants=plan.entrants,
        servers={
            server.name: {
                **describe_server(server),
                **({"built_in": True} if is_builtin_server(server) else {}),
            }
            for server in plan.servers
        },
        settings={
            **plan.settings,
            **{
                key: _add_digests(plan.settings[key], models)
                for key, models in (
                    ("judge_models", plan.judges),
                    ("user_models", plan.user_models),
                )
                if key in plan.settings
            },
            "concurrency": options.concurrency,
            "budget": asdict(options.budget),
        },
    )


def _add_digests(described: JsonObject, models: Iterable[ModelSpec]) -> JsonObject:
    """Return ``described`` with the ``digest`` of each recording among ``models``."""
    digests = {model.name: digest_recording(model) for model in models}
    return {
        name: {**facts, "digest": digests[name]} if digests.get(name) else facts
        for name, facts in described.items()
    }
