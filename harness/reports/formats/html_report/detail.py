"""The page's details of one case: every trial's conversation, calls and checks."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from harness.base import format_money, format_number, format_seconds, limit_text, load_json
from harness.judging import describe_injection
from harness.models import cut_note
from harness.reports.sections.list_changes import find_changes, take_changes
from harness.reports.sections.remarks import wants_refusal
from harness.reports.sections.sentences import get_repeat_command
from harness.reports.trial_record import TrialRecord
from harness.reports.viewer.graded_checks import graded_detail
from harness.reports.viewer.grid import shorten_line
from harness.reports.viewer.trace import build_bars, build_frames, describe_refusal
from harness.runlog import RunLog
from harness.types import (
    AssistantMessage,
    CaseResult,
    CheckResult,
    Elicitation,
    ListChange,
    Media,
    Reply,
    ToolCall,
    ToolMessage,
    Transcript,
    TrialResult,
    Usage,
    UserMessage,
    group_questions,
)

_LONGEST = 20_000
"""Characters of one text; a result of ten megabytes is for the run log, not for a page."""
_MEDIA_CHARS = 500_000
"""Letters of base64 of one picture."""
_SHOWN_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "audio/mpeg")
_ONE_LINE = 80
"""Characters of a JSON value that need no lines of its own."""
_NOT_SENT = "not sent"
_MOST_STEPS = 400
"""Steps of one conversation."""


def case_detail(case: CaseResult, log: RunLog) -> dict[str, Any]:
    """Return everything there is to see of ``case``: texts are harmless and bounded."""
    return {
        "needed": case.needed_passes,
        "planned": case.planned,
        "trials": [_encode_reviewed(result, log) for result in case.trials],
    }


def _encode_reviewed(result: TrialResult, log: RunLog) -> dict[str, Any]:
    """Return the details of a trial, with what a person said of its verdict."""
    said = log.read_transcript(result.key)
    detail = trial_detail(result, said, () if said is None else find_changes(log, said))
    if review := log.reviews.get(result.key):
        words = f"{review.decision} by {review.by}, {review.at[:10]}: the verdict is"
        detail["facts"] = [
            ["review", shorten_line(f"{words} {review.verdict}")],
            *([["note", _bound_text(review.note)]] if review.note else []),
            *detail["facts"],
        ]
    return detail


def trial_detail(
    result: TrialResult, transcript: Transcript | None, changes: Iterable[ListChange] = ()
) -> dict[str, Any]:
    """Return everything there is to see of one trial: texts are harmless and bounded.

    ``changes`` are those of its list of tools.
    """
    record = TrialRecord(result, transcript=transcript)
    said = transcript or Transcript()
    steps = _encode_steps(said, deque(changes))
    for step in steps:
        if wants_refusal(result, step.get("outcome", "ok")):
            step["wanted"] = True
    if (more := len(steps) - _MOST_STEPS) > 0:
        steps[_MOST_STEPS:] = [_say("note", f"{more} more steps are in the run log")]
    return {
        "number": record.trial,
        "status": record.status,
        "facts": [[name, value] for name, value in _list_facts(record, said) if value is not None],
        "description": _bound_text(record.description or ""),
        "error": None
        if record.error is None
        else {
            "kind": record.error_kind,
            "message": _bound_text(record.error),
            "detail": _bound_text(record.error_detail or ""),
        },
        "checks": [_encode_check(check) for check in result.checks],
        "judgements": [
            {
                "judge": shorten_line(judgement.model),
                "verdict": shorten_line(judgement.grade or f"score {judgement.score:.2g}"),
                "explanation": _bound_text(judgement.explanation),
            }
            for judgement in result.judgements
        ],
        "graded": graded_detail(result, said, _format_json),
        "steps": steps,
        "bars": [
            {**bar, "name": shorten_line(bar["name"])}
            for bar in build_bars(said, partial(wants_refusal, result))
        ],
        "stderr": _bound_text(said.stderr_tail),
    }


def live_steps(said: Transcript) -> list[dict[str, Any]]:
    """Return the steps so far of a conversation that goes on; calls without a result are made."""
    return [
        {**step, "outcome": "under way"} if step.get("outcome") == _NOT_SENT else step
        for step in _encode_steps(said, deque())[:_MOST_STEPS]
    ]


def _list_facts(record: TrialRecord, said: Transcript) -> Iterator[tuple[str, str | None]]:
    """Yield name and value of each fact besides the conversation; ``None`` if there is none."""
    result, command = record.result, get_repeat_command(record.result)
    yield "where", shorten_line(str(result.case.at)) if result.case.at else None
    yield "user_context", None if record.user_context is None else _format_json(record.user_context)
    yield "again", None if command is None else _bound_text(command)
    if record.stop is None:
        yield "not started", shorten_line(record.skip_reason or record.status)
        return
    ending = "y" if record.replies == 1 else "ies"
    yield "ended", f"{record.stop} after {record.replies} repl{ending}"
    waited = f" (of that waiting {format_seconds(record.waited_s)})" if record.waited_s else ""
    yield "time", f"{format_seconds(record.latency_s)}{waited}"
    tokens_in, tokens_out = map(format_number, (record.tokens_in, record.tokens_out))
    yield "tokens", f"{tokens_in} in, {tokens_out} out"
    yield "cost", format_money(record.cost_usd)
    if result.judge_usage != Usage():
        yield "cost of judging", format_money(record.judge_cost_usd)
    if result.user_usage != Usage():
        yield "cost of the simulated user", format_money(record.user_cost_usd)
    yield "served by", shorten_line(said.served_by) if said.served_by else None
    yield "tools offered", _bound_text(", ".join(said.tools) or "none")


def _encode_check(check: CheckResult) -> dict[str, Any]:
    return {
        "label": shorten_line(check.label),
        "verdict": check.verdict,
        "warn": check.severity == "warn",
        "score": None if check.score is None else f"{check.score:.2f}",
        "expected": _format_json(check.expected),
        "actual": _format_json(check.actual),
        "explanation": _bound_text(check.explanation),
        "hint": _bound_text(check.hint or ""),
        "where": shorten_line(str(check.at)) if check.at else "",
    }


def _encode_steps(said: Transcript, changes: deque[ListChange]) -> list[dict[str, Any]]:
    # By the reply as well: some models use the same ids again in a later one.
    made = (*said.tool_calls, *said.host_calls)
    calls = {(call.reply, call.request_id): call for call in made}
    steps = [_encode_call(call, "setup") for call in said.setup_calls]
    asked = dict(group_questions(said.elicitations))
    # A simulated user's calls come between what they heard and what they say.
    own, number = deque(said.user_calls), 0
    for message in said.messages:
        match message:
            case UserMessage():
                while own and own[0].reply <= number:
                    steps.append(_encode_call(own.popleft(), "user call"))
                if message.fresh:
                    steps.append(
                        _say("harness", "A new conversation begins; the server is the same.")
                    )
                if message.recalled:
                    recalled = "What the server remembers, for the system prompt: "
                    steps.append(_say("harness", f"{recalled}{message.recalled}"))
                if (got := message.opening) is not None:
                    media = [one for said in got.messages for one in said.media]
                    steps.append(_say("harness", f"The server's prompt {got}", media))
                if not message.is_unsaid:
                    steps.append(_say("user", message.text, message.media))
                steps += [
                    _say("harness", f"The resource {read}\n{read.text}", read.media)
                    for read in message.reads
                ]
            case AssistantMessage(reply=reply):
                steps += [_say("harness", str(one)) for one in take_changes(changes, number)]
                number += 1
                for step in _encode_reply(reply, number, calls):
                    steps.append(step)
                    steps += _say_questions(asked.pop(step.get("id", _NO_CALL), ()))
            case ToolMessage():
                steps += [
                    _say("harness", f"What the model was told: {note}")
                    for answer in message.answers
                    # The call shows its whole text; what the model got instead is told only where
                    # it differs.
                    if (note := cut_note(answer.text))
                    and (number, answer.request_id) in calls
                    and calls[number, answer.request_id].text != answer.text
                ]
    steps += [_encode_call(call, "user call") for call in own]
    steps += [step for others in asked.values() for step in _say_questions(others)]
    steps += [_say("harness", str(change)) for change in changes]
    return [*steps, *(_encode_call(call, "teardown") for call in said.teardown_calls)]


_NO_CALL = "no call"


def _say_questions(asked: Iterable[Elicitation]) -> list[dict[str, Any]]:
    return [_say("harness", f"The server asked its user. {each}") for each in asked]


def _say(who: str, text: str, media: Iterable[Media] = ()) -> dict[str, Any]:
    shown = list(map(_encode_media, media))
    return {"who": who, "text": _bound_text(text), **({"media": shown} if shown else {})}


def _encode_reply(
    reply: Reply, number: int, calls: Mapping[tuple[int, str], ToolCall]
) -> Iterator[dict[str, Any]]:
    if reply.offered is not None:
        yield _say("harness", f"Tools in the list of reply {number}: {', '.join(reply.offered)}")
    yield from (_say("harness", change) for change in reply.adapted)
    if reply.thinking:
        yield {"who": "assistant", "reply": number, "thinking": _bound_text(reply.thinking)}
    # A reply with neither is shown as an empty one: it explains why nothing follows.
    if reply.text or not reply.tool_requests:
        yield _say("assistant", reply.text) | {"reply": number}
    for asked in reply.tool_requests:
        if (call := calls.get((number, asked.id))) is not None:
            yield _encode_call(call, "call")
            continue
        arguments = _format_json(asked.arguments) if asked.malformed is None else asked.malformed
        yield {
            "who": "call",
            "what": "call",
            "reply": number,
            "tool": shorten_line(asked.tool),
            "outcome": _NOT_SENT,
            "arguments": _bound_text(arguments),
        }


def _encode_call(call: ToolCall, what: str) -> dict[str, Any]:
    return {
        "who": "call",
        "what": what,
        "reply": call.reply,
        "id": shorten_line(call.request_id),
        "tool": shorten_line(call.tool),
        "outcome": call.outcome,
        "refused": describe_refusal(call),
        "arguments": _format_json(call.arguments),
        "result": _bound_text(call.text),
        "structured": "" if _repeats_result(call) else _format_json(call.structured),
        "took": format_seconds(call.duration_s),
        "size": f"{call.result_bytes:,} bytes" if call.result_sha256 else "",
        "faults": [_bound_text(fault) for fault in (*call.argument_errors, *call.output_errors)],
        "notes": [_bound_text(note) for note in (*call.not_validated, *_list_injected(call))],
        "frames": build_frames(call, _bound_text),
        "media": list(map(_encode_media, call.media)),
    }


def _encode_media(media: Media) -> dict[str, Any]:
    given = "given to the model" if media.given else "not given to a model"
    # A page of many trials must stay small enough for a browser.
    shown = media.mime in _SHOWN_TYPES and len(media.data) <= _MEDIA_CHARS
    return {
        "words": _bound_text(f"{media.words}, {given}"),
        "url": f"data:{media.mime};base64,{media.data}" if shown else "",
    }


def _list_injected(call: ToolCall) -> list[str]:
    return [] if call.injected is None else [describe_injection(call.injected, _LONGEST)]


def _repeats_result(call: ToolCall) -> bool:
    """Whether the text is the structured result once more, as servers send it for older clients."""
    if call.structured is None:
        return False
    try:
        # As texts, since Python takes 1, 1.0 and True for equal.
        return json.dumps(load_json(call.text)) == json.dumps(call.structured, default=_to_plain)
    except ValueError:
        return False


def _bound_text(text: str) -> str:
    return limit_text(text, _LONGEST)


def _format_json(value: Any) -> str:
    """Return a JSON value in readable form; a string as it is, ``None`` as empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _bound_text(value)
    text = json.dumps(value, ensure_ascii=False, default=_to_plain)
    if len(text) > _ONE_LINE:
        text = json.dumps(value, ensure_ascii=False, default=_to_plain, indent=2)
    return _bound_text(text)


def _to_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
