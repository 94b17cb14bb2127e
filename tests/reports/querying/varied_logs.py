"""Logs in which everything differs that a comparison counts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

from harness.runlog import Footer, Header, LogWriter, ReviewLine, ToolsLine, TrialLine
from harness.types import (
    DECIDED,
    CheckResult,
    Review,
    Status,
    Tool,
    ToolList,
    TrialError,
    TrialResult,
    Usage,
    name_entrant,
)
from tests.reports.sample_logs import a_conversation, a_run

SUITES = {"shop": ("order", "refund", "search", "never"), "bank": ("pay", "lend")}
MODELS = ("large", "small")
AXES: tuple[dict[str, str], ...] = ({}, {"variant": "v"})
REPEATS = 4
BROKEN = (
    TrialError(kind="model", message="It broke.", detail="At once."),
    TrialError(kind="server", message="It broke."),
    TrialError(kind="judge", message="It broke."),
)
UNNAMED = "unnamed"
"""A case that no header names."""


def varied_log(path: Path, seed: int) -> Path:
    """Write a log at ``path``; its trials, their order and its end depend on ``seed``."""
    rng = random.Random(seed)
    lists = [_tools(f"list {number} of {seed % 2}") for number in range(3)]
    told = _tools(f"told {seed}")
    trials = list(_trials(rng))
    rng.shuffle(trials)
    trials += [replace(one, status="passed", error=None) for one in trials[:2]]  # run again
    with LogWriter(path) as writer:
        writer.append(_header(path, len(trials) + seed % 3))
        for tools in lists:
            writer.append(ToolsLine(server="s", tools=tools))
        writer.append(ToolsLine(server="s", tools=told, variant="v"))
        for run in trials:
            shown = told.digest if rng.random() < 0.3 else ""
            said = replace(
                a_conversation("get", answer=f"{run.case.name} {rng.random()}"),
                tools_digest=rng.choice(lists).digest,
                shown_digest=shown,
            )
            writer.append(TrialLine(run=run, transcript=None if run.stop is None else said))
        for run in rng.sample(trials, 5):
            writer.append(ReviewLine(review=_review(run)))
        if seed % 3:
            writer.append(Footer(finished_at="2026-01-01T00:01:00.000Z", elapsed_s=60.0))
    return path


def _tools(name: str) -> ToolList:
    tool = Tool(name="get", description=name, input_schema={})
    return ToolList(tools=(tool,), digest=f"digest of {name}")


def _header(path: Path, planned: int) -> Header:
    return Header(
        run_id=path.parent.name,
        started_at="2026-01-01T00:00:00.000Z",
        harness_version="0",
        planned=planned,
        suites={name: {"cases": dict.fromkeys(cases, "d")} for name, cases in SUITES.items()},
        models={name: {"provider": "openai", "model_id": name} for name in MODELS},
        entrants={
            name_entrant(model, axes): {"model": model, **axes}
            for model, axes in product(MODELS, AXES)
        },
        servers={"s": {}},
    )


def _trials(rng: random.Random) -> Iterator[TrialResult]:
    named = [(suite, case) for suite, cases in SUITES.items() for case in cases if case != "never"]
    for suite, case in [*named, ("shop", UNNAMED), ("nowhere", UNNAMED)]:
        for model, axes, number in product(MODELS, AXES, range(1, REPEATS + 1)):
            trial = _trial(rng, suite, case, model, number)
            yield replace(trial, axes=axes, key=f"{trial.key} {axes}")


def _trial(rng: random.Random, suite: str, case: str, model: str, number: int) -> TrialResult:
    status: Status = rng.choice(("passed", "passed", "failed", *get_args(Status)))
    broken = rng.choice(BROKEN)
    error = broken if status == "error" else None
    reason = rng.choice(("budget", DECIDED, "fail-fast")) if status == "skipped" else None
    check = CheckResult(kind="c", label="c", verdict="failed", explanation=f"No {rng.random()}.")
    graded = CheckResult(kind="g", label="g", verdict="passed", score=rng.random(), code="odd")
    facts: dict[str, Any] = {
        "usage": Usage(
            input_tokens=rng.randrange(100),
            output_tokens=rng.randrange(100),
            cache_read_tokens=None if case == "order" else 1,
            cost_usd=None if (model, case) == ("small", "refund") else rng.random() / 7,
        ),
        "latency_s": rng.random() * 3,
        "stop": None if status == "skipped" else rng.choice(("answer", "error")),
        "skip_reason": reason,
        "error": error,
        "checks": (check, graded) if status == "failed" else (),
        "waited_s": rng.random() / 9,
        "judge_usage": Usage(input_tokens=rng.randrange(9), cost_usd=rng.random() / 11),
        "user_usage": Usage(output_tokens=rng.randrange(9), cost_usd=rng.random() / 13),
        "tags": ("slow", "often"),
        "metadata": {"owner": {"team": case}},
        "events_digest": rng.choice(("one", "two")),
    }
    return a_run(case, status, suite=suite, model=model, trial=number, repeats=REPEATS, **facts)


def _review(run: TrialResult) -> Review:
    return Review(key=run.key, verdict="passed", machine="failed", by="Ann", note="It is right.")
