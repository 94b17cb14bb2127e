"""Suites of other tools in tests: written to a file, read, and judged without any model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio

from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.suites.readers import read_suite
from harness.types import Case, Suite
from tests.judging.checks.scenes import call, scene

HERE = Path(__file__).parent


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file beside this one, each with the original's verdict."""
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def read_text(path: Path, text: str, *, lenient: bool = False) -> Suite:
    """Return the suite with that text."""
    path.write_text(text, "utf-8")
    return read_suite(path, VOCABULARY, lenient=lenient)


def passes(case: Case, answer: str, calls: list[dict[str, Any]]) -> bool:
    """Whether the case passes with that answer after those calls."""
    made = [
        call(
            one["name"],
            one["arguments"],
            reply=place,
            outcome="tool_error" if one.get("error") else "ok",
        )
        for place, one in enumerate(calls, start=1)
    ]
    evidence = scene(*made, answer=answer)
    whole = Evidence(case=case, transcript=evidence.transcript, tools=evidence.tools)
    results = anyio.run(evaluate_checks, whole)
    # What only warns decides nothing.
    verdicts = [result.verdict for result in results if result.severity == "fail"]
    assert verdicts
    assert "not_judged" not in verdicts
    return set(verdicts) == {"passed"}
