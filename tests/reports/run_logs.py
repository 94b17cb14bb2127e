"""Run logs made by hand, for what only results decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.runlog import Footer, Header, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.types import CaseFacts, Status, ToolList, Transcript, TrialError, TrialResult, Usage
from tests.support import entrants_of

Results = Mapping[str, str]
"""Case → its trials, a letter each: p(assed), f(ailed), e(rror), s(kipped), c(ancelled)."""
STATUSES: dict[str, Status] = {
    "p": "passed",
    "f": "failed",
    "e": "error",
    "s": "skipped",
    "c": "cancelled",
}


def write_log(  # noqa: PLR0913 - everything that a log may say
    path: Path,
    results: Results | Mapping[str, Results],
    *,
    model: str = "m",
    models: Mapping[str, Results] | None = None,
    suite: str = "s",
    usage: Usage | None = None,
    digests: Mapping[str, str] | None = None,
    repeats: int | None = None,
    pass_threshold: float = 1.0,
    tools: Sequence[ToolList] = (),
    finished: bool = True,
    described: Mapping[str, Any] | None = None,
    **header: Any,
) -> RunLog:
    """Write a run of ``results`` (of one suite, or suite → results) and read it back."""
    suites = (
        {suite: results} if all(isinstance(value, str) for value in results.values()) else results
    )
    by_model = {name: {suite: own} for name, own in models.items()} if models else {model: suites}
    runs = [
        replace(
            a_run(suite, case, name, trial, letter, usage),
            repeats=repeats or len(letters),
            case=CaseFacts(name=case, pass_threshold=pass_threshold, test=find_test(case)),
        )
        for name, own in by_model.items()
        for suite, cases in own.items()
        for case, letters in cases.items()  # type: ignore[union-attr]
        for trial, letter in enumerate(letters, start=1)
    ]
    named = {
        suite: {
            "cases": {
                case: (digests or {}).get(case, "d")
                for own in by_model.values()
                for case in own.get(suite, {})
            }
        }
        for suite in dict.fromkeys(suite for own in by_model.values() for suite in own)
    }
    facts: dict[str, Any] = {
        "run_id": path.parent.name,
        "started_at": "2026-01-01T00:00:00.000Z",
        "harness_version": "0",
        "planned": len(runs),
        "suites": named,
        "models": described
        or {name: {"provider": "openai", "model_id": name} for name in by_model},
        "entrants": entrants_of(by_model),
        **header,
    }
    with LogWriter(path) as log:
        log.append(Header(**facts))
        for listed in tools:
            log.append(ToolsLine(server="srv", tools=listed))
        for run in runs:
            shown = Transcript(tools_digest=tools[0].digest) if tools else None
            log.append(TrialLine(run=run, transcript=shown))
        if finished:
            log.append(Footer(finished_at="2026-01-01T00:01:00.000Z", elapsed_s=60.0))
    return read_log(path)


def find_test(case: str) -> str | None:
    """Return the test of a case that is called ``test[value]``."""
    test, bracket, _ = case.partition("[")
    return test if bracket else None


def a_run(
    suite: str, case: str, model: str, trial: int, letter: str, usage: Usage | None = None
) -> TrialResult:
    """Return one trial of which the letter says the ending."""
    started = letter in "pf"
    return TrialResult(
        key=f"{suite}/{case}/{model}/{trial}",
        suite=suite,
        case=CaseFacts(name=case),
        model=model,
        trial=trial,
        status=STATUSES[letter],
        error=TrialError(kind="server", message="gone") if letter == "e" else None,
        skip_reason="budget" if letter == "s" else None,
        stop="answer" if started else None,
        usage=usage or Usage(),
        latency_s=1.0 if started else 0.0,
    )
