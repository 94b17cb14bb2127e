"""What the prober keeps of one call: its facts, its judgement, its answer, its line in the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from harness.base import RequestRefused, ServerError, utc_now
from harness.judging import Evidence, Result, evaluate_checks, find_payloads, judge_trial
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Session, limit_side_channels, wrap_side_channel
from harness.types import JsonObject, ToolCall, ToolList, Transcript, Trial, TrialError, TrialResult

Lines: TypeAlias = list[tuple[TrialLine, ToolList | None]]
"""Lines for the log, each with the list of tools that the caller was shown."""


_T = TypeVar("_T", Trial, TrialResult)


def add_facts(trial: _T, **facts: object) -> _T:
    """Return ``trial`` with more of the facts that the probe keeps of a call."""
    facts = {**trial.case.metadata["probe"], **facts}
    return replace(trial, case=replace(trial.case, metadata={"probe": facts}))


async def judge_call(trial: Trial, transcript: Transcript, tools: ToolList) -> TrialLine:
    """Return the line of a call, judged by the suites' expectations."""
    evidence = Evidence(case=trial.case, transcript=transcript, tools=tools)
    # A check without an answer would blame the policy for a lost server.
    checks = () if transcript.error is not None else await evaluate_checks(evidence)
    return TrialLine(run=judge_trial(trial, transcript, checks), transcript=transcript)


async def record_call(
    trial: Trial, session: Session, made: ToolCall, error: TrialError | None, **how: Any
) -> TrialLine:
    """Return the line of ``made``, the only call of a trial; ``how`` goes into its transcript."""
    transcript = Transcript(
        tool_calls=(made,),
        replies=1,
        tools=tuple(tool.name for tool in session.tools.tools),
        tools_digest=session.tools.digest,
        error=error,
        stop="answer" if error is None else "error",
        **how,
    )
    return await judge_call(trial, transcript, session.tools)


async def make_request(
    session: Session,
    call: ProbeCall,
    trial: Trial,
    read_answer: Callable[[str, JsonObject], dict[str, Any]],
) -> TrialLine:
    """Make a request that is no call of a tool, recorded like one; the tool is its method.

    ``read_answer`` returns what is kept of the answer, as fields of the call.
    """
    made, error = ToolCall(tool=call.tool, arguments=call.arguments, outcome="ok", reply=1), None
    try:
        answer = await session.send_request(call.tool, call.arguments)
        made = replace(made, **read_answer(call.tool, answer))
    except RequestRefused as refused:
        # A refusal is an answer. Its text may quote what was asked for, so it is kept.
        text = f"{refused.said} {refused.data or ''}".strip()
        made = replace(made, outcome="tool_error", text=text[:MOST_CHARS])
    except ServerError as gone:
        made = replace(made, outcome="server_lost", text=str(gone)[:MOST_CHARS])
        error = TrialError(kind=gone.fault, message=f"{call.tool}: {gone}")
    return await record_call(trial, session, made, error, started_at=utc_now())


MOST_CHARS = 20_000
"""Characters of one answer to a request that are kept."""


def get_result(line: TrialLine) -> Result | None:
    """Return the result of the call; ``None`` if no call was made."""
    calls = () if line.transcript is None else line.transcript.tool_calls
    return Result(call=calls[0]) if calls else None


def add_token_payloads(made: ToolCall) -> ToolCall:
    """Return a call with what tokens in its answer hold beside it: no log keeps the tokens."""
    # A token may be in either form of the result.
    whole = f"{made.text}\n{json.dumps(made.structured, ensure_ascii=False, default=str)}"
    payloads = dict.fromkeys(find_payloads(whole))
    if not payloads:
        return made
    asides = (wrap_side_channel("the payload of a token in the answer", text) for text in payloads)
    return replace(made, beside=limit_side_channels((*made.beside, *chain.from_iterable(asides))))
