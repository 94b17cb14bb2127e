"""Cases from a run: its prompts, with the successful calls as expectations.

A session that went well becomes a regression test once its author has edited the case: loosened
arguments that may vary, and added what the answer must contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from harness.base import MARK, UsageError, canonical_json
from harness.descriptions.drafting.draft import DraftCase
from harness.descriptions.drafting.render import (
    SCHEMA_NAME,
    case_text,
    dump_yaml,
    format_comment,
    join_parts,
)
from harness.runlog import RunLog
from harness.types import JsonObject, ToolCall, Transcript, TrialResult, UserMessage, dataclass

_LONGEST = 60
_ADVICE = """\
# What to do next:
# 1. Loosen arguments that may be said in other ways: args: {name: {$contains: "Weber"}}
# 2. Take out calls that another good session could do without.
# 3. Say what the answer must hold: answer_contains: ["…"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCases:
    """The suite, and the trials that are not in it."""

    text: str
    """The file."""
    cases: int
    """Number of its cases."""
    left_out: tuple[str, ...]
    """Trials without a case, with the reason."""


def build_suite_from_run(
    log: RunLog, name: str, server: JsonObject | list[str] | str
) -> RecordedCases:
    """Return the suite ``name`` with a case for each conversation of ``log`` that went well.

    ``server`` is the suite's ``server:``.

    Raises:
        UsageError: no conversation went well.
    """
    cases: list[DraftCase] = []
    left_out: list[str] = []
    for result in log.results:
        transcript = log.read_transcript(result.key)
        why = _find_obstacle(result, transcript)
        if why is not None or transcript is None:
            left_out.append(f"{result.case.name}: {why}")
            continue
        case = _build_case(result, transcript)
        if not any(replace(case, name=one.name) == one for one in cases):  # a repeat of a case
            cases.append(replace(case, name=_free_name(case.name, {case.name for case in cases})))
    if not cases:
        raise UsageError(
            f"no case can be made of {log.header.run_id}: {'; '.join(left_out)}",
            meant="Record a session with --prompt, in which a call succeeds.",
        )
    facts = {"mxcp": 1, "suite": name, "server": server}
    return write_recorded_cases(
        f"Cases from the run {log.header.run_id}.", _ADVICE, facts, cases, left_out
    )


def write_recorded_cases(
    title: str,
    advice: str,
    facts: JsonObject,
    cases: Sequence[DraftCase],
    left_out: Sequence[str],
) -> RecordedCases:
    """Return a suite with the keys ``facts`` and these ``cases``.

    Its head has ``title`` and ``advice``, which is lines of comment.
    """
    head = f"# yaml-language-server: $schema={SCHEMA_NAME}\n{format_comment(title)}#\n{advice}"
    keys = "".join(dump_yaml({key: value}) for key, value in facts.items())
    return RecordedCases(
        text=join_parts((head, keys, "tests:", *map(case_text, cases))),
        cases=len(cases),
        left_out=tuple(left_out),
    )


def logged_server_entry(server: JsonObject) -> JsonObject:
    """Return ``server:`` of a suite for a server in a log: its command or its URL.

    A log has no values of environment variables and headers.
    """
    if server.get("url"):
        return {"url": server["url"]}
    return {"command": server.get("command"), "args": server.get("args") or []}


def _find_obstacle(result: TrialResult, transcript: Transcript | None) -> str | None:
    """Return why a trial cannot become a case; ``None`` if it can."""
    if transcript is None or result.status not in ("passed", "skipped"):
        return f"it is {result.status}"
    said = [turn.text for turn in _user_messages(transcript)]
    if not said:
        return "its prompt was not recorded (harness record --prompt)"
    if _is_redacted(said):
        return "its prompt has a secret, which the log does not contain"
    if not any(call.outcome == "ok" for call in transcript.tool_calls):
        return "no call succeeded"
    return None


def _user_messages(transcript: Transcript) -> list[UserMessage]:
    return [
        message
        for message in transcript.messages
        # What was said while the model was working begins no turn.
        if isinstance(message, UserMessage) and not message.injected
    ]


def _build_case(result: TrialResult, transcript: Transcript) -> DraftCase:
    turns = _user_messages(transcript)
    succeeded = _successful_calls(transcript)
    return DraftCase(
        name=result.case.name,
        prompt=turns[0].text,
        turns=tuple(
            {"prompt": turn.text, **({"fresh": True} if turn.fresh else {})} for turn in turns
        )
        if len(turns) > 1
        else (),
        user_context=result.case.user_context,
        must_succeed=tuple(
            (call.tool, {key: one for key, one in call.arguments.items() if not _is_redacted(one)})
            for call in succeeded
        ),
        comments=tuple(_build_notes(transcript, succeeded)),
    )


def _successful_calls(transcript: Transcript) -> list[ToolCall]:
    """Return the calls that succeeded, each with its arguments once."""
    distinct: dict[str, ToolCall] = {}
    for call in transcript.tool_calls:
        if call.outcome == "ok":
            distinct.setdefault(canonical_json([call.tool, call.arguments]), call)
    return list(distinct.values())


def _is_redacted(value: Any) -> bool:
    return MARK[:-1] in canonical_json(value)  # the placeholders of several secrets are numbered


def _build_notes(transcript: Transcript, succeeded: list[ToolCall]) -> Iterator[str]:
    if others := [call for call in transcript.server_calls if call.outcome != "ok"]:
        yield f"Not asked for: {', '.join(f'{call.tool} ({call.outcome})' for call in others)}"
    if any(_is_redacted(call.arguments) for call in succeeded):
        yield "Arguments that hold secrets were left out."
    if made := (*transcript.setup_calls, *transcript.teardown_calls):
        yield f"Setup and teardown of the run are not here: {', '.join(c.tool for c in made)}"


def _free_name(wanted: str, taken: set[str]) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted)[:_LONGEST] or "recorded"
    numbered = (name if n == 1 else f"{name}_{n}" for n in count(1))
    return next(each for each in numbered if each not in taken)
