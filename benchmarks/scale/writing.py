"""The log of a large run, written without a run: for what is done with a log afterwards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from harness.runlog import Footer, Header, LogWriter, ToolsLine, TrialLine
from harness.types import (
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Location,
    Reply,
    ToolList,
    Transcript,
    TrialError,
    TrialResult,
    Usage,
    UserMessage,
)

OFFERED = ToolList(tools=(), digest="0" * 64)
MODEL = "fake"
SUITE = "scale"
_AT = Location(file="evals/scale.yml", line=12, column=5)


def write(folder: Path, cases: int, repeats: int, seed: int = 0) -> Path:
    """Write the log of ``cases``, each with so many trials, below ``folder``, and return it.

    Nine in ten trials pass; which ones do depends on ``seed``.
    """
    name = f"20260301T{seed:06}Z-{SUITE}-{cases}x{repeats}"
    log = folder / ".harness" / "runs" / name / "log.jsonl"
    if log.exists():
        return log
    with LogWriter(log) as writer:
        writer.append(
            Header(
                run_id=name,
                started_at="2026-03-01T00:00:00.000Z",
                harness_version="1",
                planned=cases * repeats,
                suites={
                    SUITE: {
                        "file": "evals/scale.yml",
                        "cases": {_case(number): f"{number:064x}" for number in range(cases)},
                    }
                },
                models={MODEL: {"provider": "openai", "model_id": "gpt-4o"}},
                servers={"s": {}},
                settings={"trials": repeats},
            )
        )
        writer.append(ToolsLine(server="s", tools=OFFERED))
        for line in _trials(cases, repeats, random.Random(seed)):  # noqa: S311 - no secret
            writer.append(line)
        writer.append(Footer(finished_at="2026-03-01T00:10:00.000Z", elapsed_s=600.0))
    return log


def _case(number: int) -> str:
    return f"customer_{number}"


def _trials(cases: int, repeats: int, rng: random.Random) -> Iterator[TrialLine]:
    for number in range(cases):
        share = 0.8 + 0.2 * rng.random()  # some cases are harder than others
        for index in range(repeats):
            yield _trial(number, index, repeats, share, rng)


def _trial(number: int, index: int, repeats: int, share: float, rng: random.Random) -> TrialLine:
    drawn = rng.random()
    broke, passed = drawn > 0.99, drawn < share  # noqa: PLR2004 - one in a hundred breaks
    usage = Usage(
        input_tokens=rng.randrange(200, 400),
        output_tokens=rng.randrange(10, 90),
        cost_usd=rng.randrange(1, 9_000) / 1e6,
    )
    answer = f"Done: customer {number} is known{'.' if passed else ' to nobody.'}"
    said = Transcript(
        messages=(
            UserMessage(text=f"What do we know of customer {number}?"),
            AssistantMessage(
                reply=Reply(text=answer, usage=usage, served_by="gpt-4o-2024-08-06"),
                asked_s=0.01,
                answered_s=0.2,
            ),
        ),
        tools_digest=OFFERED.digest,
        stop="error" if broke else "answer",
        usage=usage,
    )
    check = CheckResult(
        kind="answer_contains",
        label="answer_contains Done",
        verdict="passed" if passed else "failed",
        expected="Done",
        explanation="" if passed else "Expected text not found in the answer",
        at=_AT,
    )
    run = TrialResult(
        key=f"{number:032x}{index:032x}",
        suite=SUITE,
        case=CaseFacts(name=_case(number), at=_AT),
        model=MODEL,
        trial=index + 1,
        repeats=repeats,
        status="error" if broke else "passed" if passed else "failed",
        checks=() if broke else (check,),
        error=TrialError(kind="model", message="429 Too Many Requests") if broke else None,
        stop="error" if broke else "answer",
        usage=usage,
        replies=1,
        outcomes={},
        offered=0,
        latency_s=round(0.1 + rng.expovariate(2), 6),
        started_at="2026-03-01T00:00:01.000Z",
        finished_at="2026-03-01T00:00:02.000Z",
        events_digest=f"{rng.getrandbits(256):064x}",
    )
    return TrialLine(run=run, transcript=said)
