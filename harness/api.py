"""The Python API: the same runs as on the command line, from a program or a notebook."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

import anyio

from harness.base import UsageError
from harness.judging import VOCABULARY
from harness.reports import (
    ReportRequest,
    build_report,
    infer_format,
    link_conversations,
    write_report,
)
from harness.runner import (
    TIMEOUT_MS_RANGE,
    PreparedPlan,
    RunBudget,
    RunOptions,
    RunRequest,
    SilentObserver,
    launch_async,
    prepare_plan,
)
from harness.suites import PythonSuite, read_object, read_suite
from harness.types import JsonObject, Report, Suite, Variant

P = ParamSpec("P")
T = TypeVar("T")

VariantSource: TypeAlias = str | Variant
"""A variant by its name, a file of variants by its path, or a variant itself."""

SuiteSource: TypeAlias = str | Path | Suite | PythonSuite | type[PythonSuite]
"""A suite by name, path or dotted path, one that was loaded, or a suite in Python: its class or an
instance."""


def load_suite(path: str | Path) -> Suite:
    """Read the suite in the file at ``path``.

    Raises:
        InvalidInput: the file holds mistakes; each is named with its line.
    """
    return read_suite(Path(path), VOCABULARY)


async def run_async(  # noqa: PLR0913 - one keyword for each option of the command line
    suite: SuiteSource | Sequence[SuiteSource] = (),
    *,
    model: str | Sequence[str] | None = (),
    report_path: str | Path | None = None,
    concurrency: int | None = None,
    timeout_ms: float | None = None,
    provider_opts: Mapping[str, Any] | None = None,
    trials: int | None = None,
    least_trials: int | None = None,
    pattern: str | None = None,
    server: str | Sequence[str] | None = None,
    user_context: JsonObject | None = None,
    judge_model: str | None = None,
    user_model: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    block: str | Sequence[str] = (),
    variant: VariantSource | Sequence[VariantSource] = (),
    read_only: bool = False,
    mcp_config: str | Path | None = None,
    agent: str | Sequence[str] | None = (),
) -> Report:
    """Run suites and return their report; every trial is in the run log that it names.

    `run` waits for it; `run_async` is awaited, where an event loop is running already.

    Args:
        suite: One suite or several; none means all of ``evals/``.
        model: Who answers; none means each suite's own, else the configured default, else
            ``lexical``.
        report_path: Where to write the results too: JSONL, one line a trial, unless the suffix says
            another format.
        concurrency: Trials at the same time; as configured, or 4.
        timeout_ms: Milliseconds for one trial, in place of every case's own; else as configured, or
            60000.
        provider_opts: Settings of the model over the configured ones: ``api_key``, ``base_url``,
            ``temperature``, ``max_tokens``, ``headers``, ``body``, ``timeout`` (seconds for one
            request), ``max_retries`` …
        trials: Repeats of each case, in place of every case's own.
        least_trials: Repeats beyond which a case is run no more once it is decided; none means all
            of them.
        pattern: Picks cases by name or tag.
        server: A command line or a configured name, in place of every suite's server; several are
            joined.
        user_context: Who asks, in place of every case's own.
        judge_model: Who judges answers, where a check asks for it.
        user_model: Who plays simulated users, where a case has one.
        max_cost: US dollars at which no further trial is started, judging included; the report's
            ``reason`` is then ``budget``.
        max_tokens: Tokens, in and out, at which no further trial is started. (Those of one reply:
            ``provider_opts={"max_tokens": …}``.)
        block: Tools to which no call is sent.
        variant: Variants of the tool list: names in the suite, files of variants, or `Variant`
            objects; ``"none"`` is the server's own list.
        read_only: Whether no call is sent to a tool that is not marked read-only.
        mcp_config: The configuration of an MCP client, whose servers go before all others.
        agent: Agents that answer beside the models: names, or commands; with agents alone, no
            default model answers.

    Raises:
        UsageError: a suite, model or server is unknown or invalid, or a number is none that a run
            can have (`harness.runner.planning.ranges`, the same as on the command line).
        NothingToRun: no case is left to run.
    """
    budget = RunBudget(max_cost_usd=max_cost, max_tokens=max_tokens)
    prepared = _prepare_run(
        suite,
        model,
        timeout_ms,
        provider_opts,
        concurrency=concurrency,
        trials=trials,
        least_trials=least_trials,
        pattern=pattern,
        server=server if isinstance(server, str) else _to_texts("server", server) or None,
        user_context=user_context,
        judge_model=judge_model,
        user_model=user_model,
        variant=variant,
        agents=_to_texts("agent", agent),
        block=_to_texts("block", block),
        read_only=read_only,
        mcp_config=None if mcp_config is None else str(mcp_config),
    )
    return await _run_plan(prepared, budget, report_path)


def _make_blocking(function: Callable[P, Awaitable[T]], name: str) -> Callable[P, T]:
    """Return ``function`` as one that is called without ``await``, by the name ``name``."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        _refuse_inside_a_loop()
        return anyio.run(partial(function, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    return call


run = _make_blocking(run_async, "run")


def _to_texts(name: str, given: Any) -> tuple[str, ...]:
    """Return the texts of an argument that takes one, several or none.

    Raises:
        UsageError: it is anything else.
    """
    found = (given,) if isinstance(given, str) else () if given is None else given
    if not isinstance(found, Sequence | AbstractSet) or not all(
        isinstance(one, str) for one in found
    ):
        raise UsageError(f"{name}: expected a text, or a list of texts, found {given!r}")
    return tuple(found)


def _prepare_run(
    suite: SuiteSource | Sequence[SuiteSource],
    model: str | Sequence[str] | None,
    timeout_ms: float | None,
    provider_opts: Mapping[str, Any] | None,
    **request: Any,
) -> PreparedPlan:
    """Return the plan; ``request`` has those fields of a `RunRequest` that the caller gave."""
    TIMEOUT_MS_RANGE.check_value(timeout_ms)
    if not isinstance(request["read_only"], bool):
        raise UsageError(f"read_only: expected True or False, found {request['read_only']!r}")
    for name in ("pattern", "judge_model", "user_model"):
        if not isinstance(request[name], str | None):
            raise UsageError(f"{name}: expected a text, found {request[name]!r}")
    sources: Sequence[Any] = suite if isinstance(suite, list | tuple) else (suite,)
    named = tuple(str(source) for source in sources if isinstance(source, str | Path))
    held = [source for source in sources if not isinstance(source, str | Path)]
    variants = _load_variants(request.pop("variant"))
    return prepare_plan(
        RunRequest(
            suites=named,
            models=_to_texts("model", model),
            timeout_s=None if timeout_ms is None else timeout_ms / 1000,
            variants=tuple(one if isinstance(one, str) else one.name for one in variants),
            **request,
        ),
        Path.cwd(),
        os.environ,
        [
            source if isinstance(source, Suite) else read_object(source, VOCABULARY)
            for source in held
        ],
        provider_opts,
        variants=[one for one in variants if isinstance(one, Variant)],
    )


def _load_variants(given: Any) -> list[VariantSource]:
    variants = list(given) if isinstance(given, list | tuple) else [given]
    for one in variants:
        if not isinstance(one, str | Variant):
            raise UsageError(f"variant: expected a name or a Variant, found {one!r}")
    return variants


async def _run_plan(
    prepared: PreparedPlan, budget: RunBudget, report_path: str | Path | None
) -> Report:
    options = RunOptions(concurrency=prepared.concurrency, budget=budget, catch_signals=False)
    log = await launch_async(prepared.plan, options, SilentObserver())
    report = build_report(log)
    if report_path is None:
        return report
    path = Path(report_path)
    write_report(ReportRequest(format=infer_format(path) or "jsonl", path=path), report, log)
    return link_conversations(replace(report, report_path=str(path)), log)


def _refuse_inside_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError(
        "harness.run() cannot be called inside a running event loop",
        meant="Write: await harness.run_async(…).",
    )
