"""The Python API: the same runs as on the command line, from a program or a notebook."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from harness.base import UsageError
from harness.judging import VOCABULARY
from harness.models import build_function_spec
from harness.reports import (
    ReportRequest,
    build_report,
    fill_store_meanwhile,
    infer_format,
    keep_store,
    link_conversations,
    write_report,
)
from harness.runner import (
    OPTIONS,
    Observer,
    RunBudget,
    RunOptions,
    RunRequest,
    fields_of,
    launch_async,
    prepare_plan,
    read_options,
)
from harness.suites import PythonSuite, read_object, read_suite
from harness.types import JsonObject, ModelSpec, Protocol, Report, Suite, Variant

P = ParamSpec("P")
T = TypeVar("T")

VariantSource: TypeAlias = str | Variant
"""A variant by its name, a file of variants by its path, or a variant itself."""

ModelSource: TypeAlias = str | Callable[..., Any]
"""A model by its name, or a function ``(messages, tools)`` that answers in its place."""

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
    model: ModelSource | Sequence[ModelSource] | None = (),
    report_path: str | Path | None = None,
    concurrency: int | None = None,
    timeout_ms: float | None = None,
    provider_opts: Mapping[str, Any] | None = None,
    agent: str | Sequence[str] | None = (),
    category: str | None = None,
    attack: str | None = None,
    pattern: str | None = None,
    server: str | Sequence[str] | None = None,
    mcp_config: str | Path | None = None,
    protocol: Protocol | None = None,
    start_timeout_s: float | None = None,
    user_context: JsonObject | None = None,
    trials: int | str | None = None,
    shard: str | None = None,
    read_only: bool = False,
    judge_model: str | None = None,
    user_model: str | None = None,
    max_cases: int | None = None,
    lenient: bool = False,
    block: str | Sequence[str] = (),
    variant: VariantSource | Sequence[VariantSource] = (),
    faults: str | None = None,
    fault: str | Sequence[str] = (),
    attacks: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    max_errors: int | None = None,
    fail_fast: bool = False,
    engine: str | None = None,
) -> Report:
    """Run suites and return their report; every trial is in the run log that it names.

    `run` waits for it; `run_async` is awaited, where an event loop is running already. The options
    are those of ``harness evals``; of those that may be repeated there, give a list. A model may
    also be a function ``(messages, tools)`` that answers in its place.

    Args:
        suite: One suite or several; none means all of ``evals/``.
        report_path: Where to write the results too: JSONL, one line a trial, unless the suffix says
            another format.
        provider_opts: Settings of the model over the configured ones: ``api_key``, ``base_url``,
            ``temperature``, ``max_tokens`` of one reply, ``headers``, ``body``, ``timeout``
            (seconds for one request), ``max_retries`` …
        model: Model under test. [default: the suite's, else the configured one, else lexical]
        agent: Agent under test, beside models: claude-code, codex, one of agents: in harness.yml,
            or a command. 'harness models' lists them.
        category: Run only these parts of a leaderboard.
        attack: Run also under these attacks of a leaderboard.
        pattern: Run only cases whose name or tag matches.
        server: Use this server, for example "python my_server.py"; several are joined.
        mcp_config: Take servers from the configuration of an MCP client: .mcp.json, VS Code and
            others.
        protocol: Revision of MCP to speak with every server, in place of what its entry says;
            legacy is the older handshake.
        start_timeout_s: Seconds from the start of every server to its list of tools, such as 300
            for one that is installed meanwhile (npx, uvx). [default: as configured, else 30]
        user_context: Caller of every case, in place of the suites' own.
        timeout_ms: Milliseconds for one trial. [default: the suite's, else as configured, else
            60000]
        trials: Run every case N times; or, as MIN..MAX, at least MIN times, and up to MAX until its
            verdict is decided. [default: the suite's, or 1]
        shard: Run part I of N, to split a run over machines; see harness merge.
        read_only: Never send a call to a tool that is not marked read-only.
        judge_model: Model that judges answers; none: no judge.
        user_model: Model that plays simulated users.
        max_cases: Most cases of one dataset. [default: 100]
        lenient: Leave out what a suite of another tool has and harness cannot check; it is listed.
        block: Never send a call to this tool.
        variant: Show the model the tool list of this variant. 'none' is the server's own list.
        faults: Run each case clean, and once under each fault that can fire in it, or of a file.
            [default: those of the suite]
        fault: Run each case clean, and once under this fault: 'search_orders#1: timeout' hits the
            first call, '*@0.2: error' a fifth of all.
        attacks: Run each case clean, and once under each attack, of the built-in pack or of a
            file. [default: none]
        concurrency: Trials at the same time, at most 1000 in one process. [default: as
            configured, or 4]
        max_cost: Start no further trial at this cost.
        max_tokens: Start no further trial at this many tokens, in and out.
        max_errors: Stop after N trials that could not be judged.
        fail_fast: Stop at the first case that does not pass.
        engine: What carries out the trials: this process, Ray on this machine, or the cluster
            ray:auto or ray:HOST:PORT. [default: process]

    Raises:
        UsageError: a suite, model or server is unknown or invalid, or an option does not take its
            value: the same are refused as on the command line.
        NothingToRun: no case is left to run.
    """
    # Every parameter has the name of its option, and nothing else is defined yet.
    return await _run_plan(dict(locals()))


def _make_blocking(function: Callable[P, Awaitable[T]], name: str) -> Callable[P, T]:
    """Return ``function`` as one that is called without ``await``, by the name ``name``."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with suppress(RuntimeError):  # no loop is running, as it should be
            asyncio.get_running_loop()
            raise UsageError(
                "harness.run() cannot be called inside a running event loop",
                meant="Write: await harness.run_async(…).",
            )
        return anyio.run(partial(function, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    return call


run = _make_blocking(run_async, "run")


def _load_variants(given: Any) -> list[VariantSource]:
    variants = list(given) if isinstance(given, list | tuple) else [given]
    for variant in variants:
        if not isinstance(variant, str | Variant):
            raise UsageError(f"variant: expected a name or a Variant, found {variant!r}")
    return variants


def read_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return key → value of the options that are ``given`` by the parameters of `run_async`.

    Raises:
        UsageError: one of them does not take its value.
    """
    names = [
        variant if isinstance(variant, str) else variant.name
        for variant in _load_variants(given["variant"])
    ]
    renamed = {one.key: given[one.in_python] for one in OPTIONS if one.in_python}
    return read_options("python", given | renamed | {"variant": names})


async def _run_plan(given: dict[str, Any]) -> Report:
    """Run what is ``given`` by the names of the parameters of `run_async`."""
    models = given["model"] if isinstance(given["model"], list | tuple) else (given["model"],)
    answering = [build_function_spec(one) if callable(one) else one for one in models]
    functions = [one for one in answering if isinstance(one, ModelSpec)]
    names = [one.name if isinstance(one, ModelSpec) else one for one in answering]
    values = read_arguments(given | ({"model": names} if functions else {}))
    variants = _load_variants(given["variant"])
    suite = given["suite"]
    sources: Sequence[Any] = suite if isinstance(suite, list | tuple) else (suite,)
    prepared = prepare_plan(
        RunRequest(
            suites=tuple(str(source) for source in sources if isinstance(source, str | Path)),
            **fields_of("request", values),
        ),
        Path.cwd(),
        os.environ,
        [
            source if isinstance(source, Suite) else read_object(source, VOCABULARY)
            for source in sources
            if not isinstance(source, str | Path)
        ],
        given["provider_opts"],
        variants=[variant for variant in variants if isinstance(variant, Variant)],
        functions=functions,
    )
    options = RunOptions(
        concurrency=prepared.concurrency,
        budget=RunBudget(**fields_of("budget", values)),
        catch_signals=False,
        **fields_of("options", values),
    )
    log = await launch_async(prepared.plan, options, Observer(), meanwhile=fill_store_meanwhile)
    report = build_report(log)
    # In a thread: other work of the program's own event loop goes on meanwhile.
    await anyio.to_thread.run_sync(keep_store, log, report)
    if given["report_path"] is None:
        return report
    path = Path(given["report_path"])
    write_report(ReportRequest(format=infer_format(path) or "jsonl", path=path), report, log)
    return link_conversations(replace(report, report_path=str(path)), log)
