"""The Python API: the same runs as on the command line, from a program or a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import anyio

from harness.checks import VOCABULARY
from harness.reports.build import build_report
from harness.runner.launch import launch_async
from harness.runner.observer import Silent
from harness.runner.prepare import Request, prepare
from harness.runner.run import RunOptions
from harness.suites import read_suite
from harness.types import Report, Suite


def load_suite(path: str | Path) -> Suite:
    """Read the suite in the file at ``path``.

    Raises:
        InvalidInput: the file holds mistakes; each is named with its line.
    """
    return read_suite(Path(path), VOCABULARY)


def run(
    suites: str | Sequence[str] = (),
    *,
    model: str | Sequence[str] = (),
    concurrency: int | None = None,
    timeout_s: float | None = None,
    trials: int = 1,
    pattern: str | None = None,
    server: str | None = None,
) -> Report:
    """Run suites, by name or path, and return their report; every trial is in the run log that it names.

    Args:
        suites: Names or paths; none means all of ``evals/``.
        model: Who answers; none means each suite's own, else the configured default, else ``lexical``.
        concurrency: Trials at the same time.
        timeout_s: Seconds for one trial, in place of every case's own.
        trials: Repeats of each case.
        pattern: Picks cases by name or tag.
        server: A command line or a configured name, in place of every suite's server.

    Raises:
        UsageError: a suite, model or server is unknown or invalid.
        NothingToRun: no case is left to run.
    """
    request = _request(suites, model, concurrency, timeout_s, trials, pattern, server)
    return anyio.run(_run, request)


async def run_async(
    suites: str | Sequence[str] = (),
    *,
    model: str | Sequence[str] = (),
    concurrency: int | None = None,
    timeout_s: float | None = None,
    trials: int = 1,
    pattern: str | None = None,
    server: str | None = None,
) -> Report:
    """Do what `run` does, inside a running event loop."""
    return await _run(_request(suites, model, concurrency, timeout_s, trials, pattern, server))


def _request(
    suites: str | Sequence[str],
    model: str | Sequence[str],
    concurrency: int | None,
    timeout_s: float | None,
    trials: int,
    pattern: str | None,
    server: str | None,
) -> Request:
    return Request(
        suites=(suites,) if isinstance(suites, str) else tuple(suites),
        models=(model,) if isinstance(model, str) else tuple(model),
        concurrency=concurrency,
        timeout_s=timeout_s,
        trials=trials,
        pattern=pattern,
        server=server,
    )


async def _run(request: Request) -> Report:
    prepared = prepare(request, Path.cwd(), os.environ)
    options = RunOptions(concurrency=prepared.concurrency, catch_signals=False)
    return build_report(await launch_async(prepared.plan, options, Silent()))
