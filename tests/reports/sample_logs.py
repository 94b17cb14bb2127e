"""Run logs to write reports from: an ordinary one, a large one, and one that is out to do harm."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from harness.judging.trial import count_outcomes
from harness.reports.build import build_report
from harness.reports.writers import WRITERS
from harness.runlog import Footer, Header, LogWriter, RunLog, TrialLine, read_log
from harness.types import (
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Judgement,
    Location,
    Outcome,
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

Trial = tuple[TrialResult, Transcript | None]


def a_log(
    folder: Path,
    trials: Sequence[Trial],
    *,
    suites: Iterable[str] = ("shop",),
    models: Iterable[str] = ("m",),
    reason: Any = "complete",
    run_id: str = "20260101T000000Z-shop-abcdef",
    description: str = "Does it sell?",
) -> RunLog:
    path = folder / "log.jsonl"
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id=run_id,
                started_at="2026-01-01T00:00:00.000Z",
                harness_version="0",
                planned=len(trials),
                suites={
                    name: {"file": f"evals/{name}.yml", "description": description}
                    for name in suites
                },
                models={name: {"provider": "openai", "model_id": name} for name in models},
                entrants=entrants_of(models),
            )
        )
        for run, transcript in trials:
            made = run.outcomes if transcript is None else count_outcomes(transcript)
            log.append(TrialLine(run=replace(run, outcomes=made), transcript=transcript))
        log.append(Footer(finished_at="2026-01-01T00:00:09.000Z", elapsed_s=9.0, reason=reason))
    return read_log(path)


def written(log: RunLog, name: str) -> str:
    stream = io.StringIO()
    WRITERS.get(name).write(build_report(log), log, stream)
    return stream.getvalue()


def a_run(
    case: str,
    status: Status = "passed",
    *,
    checks: tuple[CheckResult, ...] = (),
    error: TrialError | None = None,
    trial: int = 1,
    repeats: int = 1,
    suite: str = "shop",
    model: str = "m",
    **more: Any,
) -> TrialResult:
    of_its_case = {fact.name for fact in fields(CaseFacts)}
    of_case: dict[str, Any] = {"at": Location(file=f"evals/{suite}.yml", line=12, column=5)}
    facts: dict[str, Any] = {
        "stop": None if status == "skipped" else "answer",
        "usage": Usage(input_tokens=10, output_tokens=5, cost_usd=0.25),
        "latency_s": 1.5,
        "replies": 2,
        "outcomes": None if status == "skipped" else {"ok": 1},
        "started_at": "2026-01-01T00:00:01.000Z",
        "finished_at": "2026-01-01T00:00:02.000Z",
        "skip_reason": "budget" if status == "skipped" else None,
    }
    return TrialResult(
        key=f"{suite}{case}{model}{trial}",
        suite=suite,
        case=CaseFacts(
            name=case, **(of_case | {key: more.pop(key) for key in of_its_case & more.keys()})
        ),
        model=model,
        trial=trial,
        repeats=repeats,
        status=status,
        checks=checks,
        error=error,
        **(facts | more),
    )


def must_call(tool: str, *called: str, explanation: str = "Expected call not found") -> CheckResult:
    return CheckResult(
        kind="must_call",
        label=f"must_call {tool}",
        verdict="passed" if tool in called else "failed",
        expected={"tool": tool, "args": {}},
        actual=[{"tool": name, "arguments": {}, "outcome": "ok"} for name in called],
        explanation="" if tool in called else explanation,
        hint=None if tool in called else "Say it more clearly.",
        at=Location(file="evals/shop.yml", line=15, column=9),
        traits=("expects_calls",),
        expected_tools=(tool,),
    )


STAND_IN = CheckResult(
    kind="graded",
    label="graded echo",
    verdict="passed",
    score=1.0,
    actual={
        "metrics": {
            "faithfulness": {
                "score": 1.0,
                "judge": None,
                "label": "no judge: keywords and grounding",
            }
        }
    },
    traits=("grades",),
)
"""A check of which no judge scored the faithfulness."""


def a_conversation(
    *called: str,
    prompt: str = "Sell me a chair",
    answer: str = "Here is a chair",
    arguments: Any = None,
    result: str = "a result",
    outcome: Outcome = "ok",
    offered: tuple[str, ...] = ("get_order", "get_orders"),
    stderr: str = "",
) -> Transcript:
    arguments = {"id": 1} if arguments is None else arguments
    asked = tuple(
        ToolRequest(id=f"r{place}", tool=tool, arguments=arguments)
        for place, tool in enumerate(called)
    )
    answers = tuple(ToolAnswer(request_id=request.id, text=result) for request in asked)
    return Transcript(
        messages=(
            UserMessage(text=prompt),
            *(
                (AssistantMessage(reply=Reply(tool_requests=asked)), ToolMessage(answers=answers))
                if asked
                else ()
            ),
            AssistantMessage(reply=Reply(text=answer)),
        ),
        tool_calls=tuple(
            ToolCall(
                tool=request.tool,
                arguments=arguments,
                outcome=outcome,
                reply=1,
                request_id=request.id,
                text=result,
                duration_s=0.2,
            )
            for request in asked
        ),
        answer=answer,
        replies=2,
        tools=offered,
        stderr_tail=stderr,
    )


def an_ordinary_log(folder: Path) -> RunLog:
    """One case of each ending, and one of three trials."""
    failed = (must_call("get_order", "get_orders"),)
    return a_log(
        folder,
        [
            (a_run("sold"), a_conversation("get_order")),
            (a_run("mistaken", "failed", checks=failed), a_conversation("get_orders")),
            (
                a_run(
                    "unjudged",
                    "error",
                    error=TrialError(
                        kind="server", message="the server went away", detail="segfault"
                    ),
                ),
                a_conversation(stderr="bye"),
            ),
            (a_run("left_out", "skipped"), None),
            (a_run("cut", "cancelled"), a_conversation()),
            (a_run("often", "passed", trial=1, repeats=3), a_conversation("get_order")),
            (
                a_run("often", "failed", trial=2, repeats=3, checks=failed),
                a_conversation("get_orders"),
            ),
            (
                a_run("often", "passed", trial=3, repeats=3),
                a_conversation("get_order", outcome="denied"),
            ),
        ],
    )


HOSTILE = (
    "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'><!--<script>",
    "\x1b[31mred\x1b]0;title\x07\x1b]8;;http://evil.example\x07link\x9b2J",
    "\x00\x01\x08\x0b\x1f\x7f\x85",
    "\u202egnp.exe\u2066\u200f\u061c",
    "\u2028\u2029\ufeff\ufffe\uffff",
    "\ud800 half a pair",
    "\U000e0041\U000e0042 hidden",
    "zero\u200bwidth soft\u00adhyphen fil\u3164ler a\u200dz x\ufe01 \u2063 \U000e0101",
    "👩‍👩‍👧‍👦🇺🇳 naïve 漢字 עברית",
    '=HYPERLINK("http://evil.example","x")',
    "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1",
    "::error file=x::pwned", "  ::add-mask::a", "##[command]x", "%0A::error::x",
    "[[ATTACHMENT|/etc/passwd]]", "]]>", "&lt;&amp;", "{data}{script}{style}{policy}",
    ("```\n# pwned\n| a | b |\n@somebody ![x](http://evil.example/x.png) <b>x</b> "
        "[x](javascript:alert(1))"),
    "line one\r\nline two\rline three",
    "__proto__", "constructor",
)  # fmt: skip
"""Texts that a suite, a model or a server might hold, each of which harms some reader."""

BIG = "<b>big</b>" * 250_000
"""More than two megabytes, twice in a log: more than any report may have."""


def a_hostile_log(folder: Path, *, big: bool = True) -> RunLog:
    """Every text of the log is hostile, one after the other in every place.

    ``big`` adds five megabytes.
    """
    trials: list[Trial] = []
    if big:
        checks = (must_call("get_order", explanation=BIG),)
        trials.append(
            (a_run("big", "failed", checks=checks), a_conversation("get_orders", result=BIG))
        )
    for place, text in enumerate(HOSTILE):
        name = f"{text[:200]}{place}"
        check = CheckResult(
            kind="must_call",
            label=f"must_call {text[:1000]}",
            verdict="failed",
            expected={"tool": text[:100], "args": {text[:50]: text}},
            actual=[{"tool": text, "arguments": {text[:50]: [text]}}],
            explanation=text,
            hint=text,
            at=Location(file=text[:100], line=1),
            traits=("expects_calls",),
            expected_tools=(text[:100],),
        )
        judgement = Judgement(
            question="", model=text[:99], prompt_version="1", score=0.5, explanation=text
        )
        run = a_run(
            name,
            "failed",
            checks=(check,),
            description=text,
            user_context={text[:50]: text},
            tags=(text[:50],),
            metadata={text[:50]: text},
            judgements=(judgement,),
        )
        trials.append(
            (
                run,
                a_conversation(
                    text[:100], prompt=text, answer=text, arguments={text[:50]: text}, result=text,
                    offered=(text[:100],), stderr=text,
                ),
            )
        )  # fmt: skip
        fault = TrialError(kind="model", message=text, detail=text)
        trials.append((a_run(f"{name} error", "error", error=fault), a_conversation(answer=text)))
    return a_log(
        folder,
        trials,
        models=(HOSTILE[0],),
        suites=("shop", HOSTILE[0]),
        run_id=HOSTILE[5],
        description=HOSTILE[0],
    )
