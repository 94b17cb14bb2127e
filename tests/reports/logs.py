"""Run logs to write reports of."""

from __future__ import annotations

from pathlib import Path

from harness.runlog import Footer, Header, LogWriter, RunLog, TrialLine, read_log
from harness.types import (
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Location,
    Reply,
    Status,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    TrialResult,
    Usage,
    UserMessage,
)
from tests.support import entrants_of

FAILED_CHECK = CheckResult(
    kind="must_call",
    label="must_call get_order",
    verdict="failed",
    expected={"tool": "get_order"},
    actual=[],
    explanation="Expected call not found: get_order(…)",
    hint="Say in its description when to use it.",
    at=Location(file="evals/shop.yml", line=7, column=9),
    traits=("expects_calls",),
    expected_tools=("get_order",),
)
PASSED_CHECK = CheckResult(kind="answer_contains", label='answer_contains "x"', verdict="passed")
WARNING = CheckResult(
    kind="max_calls", label="max_calls 1", verdict="failed", severity="warn", explanation="2 calls"
)


def a_run(
    case: str, status: Status = "passed", *, suite: str = "shop", trial: int = 1, model: str = "m"
) -> TrialResult:
    return TrialResult(
        key=f"{suite}{case}{model}{trial}",
        suite=suite,
        case=CaseFacts(
            name=case,
            description=f"Why {case} exists.",
            metadata={"category": "smoke"},
            at=Location(file="evals/shop.yml", line=5),
        ),
        model=model,
        trial=trial,
        status=status,
        checks=(FAILED_CHECK,) if status == "failed" else (PASSED_CHECK,),
        error=TrialError(kind="server", message="the server exited", detail="no database")
        if status == "error"
        else None,
        skip_reason="budget" if status == "skipped" else None,
        stop=None if status == "skipped" else "answer",
        usage=Usage(input_tokens=100, output_tokens=20, cost_usd=0.25),
        replies=2,
        outcomes=None if status == "skipped" else {"ok": 1},
        latency_s=1.5,
        finished_at="2026-01-01T00:00:02Z",
        events_digest="sha256:0",
    )


def a_transcript(answer: str = "It is on its way.", result: str = "status: shipped") -> Transcript:
    return Transcript(
        messages=(
            UserMessage(text="Where is order 7?"),
            AssistantMessage(
                reply=Reply(
                    tool_requests=(ToolRequest(id="c1", tool="get_order", arguments={"id": 7}),)
                )
            ),
            ToolMessage(answers=(ToolAnswer(request_id="c1", text=result),)),
            AssistantMessage(reply=Reply(text=answer)),
        ),
        tool_calls=(
            ToolCall(
                tool="get_order",
                arguments={"id": 7},
                outcome="ok",
                reply=1,
                request_id="c1",
                text=result,
                duration_s=0.012,
            ),
        ),
        answer=answer,
        replies=2,
        tools=("get_order", "list_orders"),
    )


def a_log(
    path: Path, *runs: TrialResult, reason: str = "complete", transcript: Transcript | None = None
) -> RunLog:
    suites = list(dict.fromkeys(run.suite for run in runs))
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id="20260101T000000Z-shop-abc",
                started_at="2026-01-01T00:00:00Z",
                harness_version="0",
                planned=len(runs),
                suites={
                    suite: {
                        "file": f"evals/{suite}.yml",
                        "description": f"All of {suite}.",
                        "cases": {run.case.name: "" for run in runs if run.suite == suite},
                    }
                    for suite in suites
                },
                models={run.model: {"provider": "openai", "model_id": "gpt"} for run in runs},
                entrants=entrants_of(run.model for run in runs),
            )
        )
        for run in runs:
            log.append(
                TrialLine(
                    run=run, transcript=None if run.stop is None else transcript or a_transcript()
                )
            )
        log.append(Footer(finished_at="2026-01-01T00:00:09Z", elapsed_s=9.0, reason=reason))  # type: ignore[arg-type]
    return read_log(path)
