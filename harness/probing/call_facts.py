"""What the prober keeps of one call: its judgement, its result, its error."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from harness.judging import Evidence, Result, evaluate_checks, judge_trial
from harness.runlog import TrialLine
from harness.types import (
    JsonObject,
    ToolCall,
    ToolList,
    Transcript,
    Trial,
    TrialError,
)


def add_fact(trial: Trial, name: str, *, value: object, without: Collection[str] = ()) -> Trial:
    """Return ``trial`` with one more of the facts that the probe keeps of a call."""
    old: JsonObject = trial.case.metadata["probe"]
    facts = {**{key: one for key, one in old.items() if key not in without}, name: value}
    return replace(trial, case=replace(trial.case, metadata={"probe": facts}))


async def judge_call(trial: Trial, transcript: Transcript, tools: ToolList) -> TrialLine:
    """Return the line of a call, judged by the suites' expectations."""
    evidence = Evidence(case=trial.case, transcript=transcript, tools=tools)
    # A check without an answer would blame the policy for a lost server.
    checks = () if transcript.error is not None else await evaluate_checks(evidence)
    return TrialLine(run=judge_trial(trial, transcript, checks), transcript=transcript)


def get_result(line: TrialLine) -> Result | None:
    """Return the result of the call; ``None`` if no call was made."""
    calls = () if line.transcript is None else line.transcript.tool_calls
    return Result(call=calls[0]) if calls else None


def find_error(made: ToolCall) -> TrialError | None:
    """Return the error of a call that had no answer, if so."""
    # An error that the server returns is an answer, and judged as one.
    if made.is_unanswered:
        return TrialError(kind="server", message=f"{made.tool}: {made.text}")
    return None
