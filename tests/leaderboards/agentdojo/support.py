"""The package of the benchmark, runs that it logged, and runs of our own making."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.base.errors import HarnessError
from harness.base.fetching import FetchRequest
from harness.base.fetching.cache import cache_root
from harness.leaderboards.agentdojo.checks import find_output
from harness.leaderboards.agentdojo.process import judge_run
from harness.leaderboards.agentdojo.recordings import LoggedRun
from harness.leaderboards.agentdojo.source import AGENTDOJO_SOURCE, find_packages
from harness.types import JsonObject
from tests.leaderboards.tau2.support import RECORDINGS


def recorded_runs() -> Path:
    """Return the runs that were logged, or skip: they are never part of the project."""
    beside = Path(harness.__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get(RECORDINGS) or beside) / "agentdojo" / "recorded_runs.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no runs of AgentDojo: ${RECORDINGS} names no folder with {path.name}")
    return path


def installed() -> Path:
    """Return the folder of the package, fetched if it is not there; skip where it cannot be."""
    try:
        AGENTDOJO_SOURCE.fetch(FetchRequest(root=cache_root()), lambda *_: None)
    except HarnessError as error:
        pytest.skip(f"AgentDojo cannot be fetched here: {error}")
    return find_packages()


def judge_logged(run: LoggedRun) -> tuple[bool, bool]:
    """Return both verdicts on a logged run, without a server."""
    replies: list[list[JsonObject]] = [
        [{"function": call.tool, "args": call.arguments} for call in reply.tool_requests]
        for reply in run.transcript.all_replies
    ]
    request = {
        "suite": run.suite,
        "version": run.version,
        "user_task": run.user_task,
        "injection_task": run.injection_task,
        "attack": run.attack,
        "injections": dict(run.injections),
        "replies": [*replies, [{**call, "unsent": True} for call in run.unsent]],
        "output": find_output(run.transcript),
        "older": run.older,
        "error": run.error,
    }
    found = judge_run(find_packages(), request)
    return found.utility, found.security


def call(
    function: str, args: JsonObject, result: str = "", error: str | None = None
) -> list[JsonObject]:
    """Return a call and its result, as two messages of a log."""
    asked = {"function": function, "args": args, "id": None}
    answer = {"role": "tool", "content": result, "tool_call": asked, "error": error}
    return [{"role": "assistant", "content": None, "tool_calls": [asked]}, answer]


def log(messages: Sequence[JsonObject], answer: Any = "Done.", **more: Any) -> JsonObject:
    """Return a run as the benchmark logs it."""
    last = [] if answer is None else [{"role": "assistant", "content": answer, "tool_calls": None}]
    return {
        "suite_name": "banking",
        "pipeline_name": "scripted",
        "user_task_id": "user_task_0",
        "injection_task_id": None,
        "attack_type": None,
        "injections": {},
        "messages": [*messages, *last],
        "error": None,
        "utility": True,
        "security": True,
    } | more


def say(text: str) -> JsonObject:
    """Return a message of the user."""
    return {"role": "user", "content": text}
