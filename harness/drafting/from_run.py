"""Cases from a run: what was asked, and the calls that succeeded, become expectations.

A session that went well is a regression test once somebody has read it: arguments that may be said
in other ways are loosened, and what the answer must hold is added.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.canonical_json import canonical_json
from harness.drafting.render import SCHEMA_NAME, calls_data
from harness.drafting.yaml_text import Inline, comment, dump, joined
from harness.errors import UsageError
from harness.redaction import MARK
from harness.runlog import RunLog
from harness.types import JsonObject, ToolCall, Transcript, TrialResult, UserMessage

_LONGEST = 60
_NAME = "NAME"  # until it is known which names are free
_HEAD = """\
# What to do next:
# 1. Loosen arguments that may be said in other ways: args: {name: {$contains: "Weber"}}
# 2. Take out calls that another good session could do without.
# 3. Say what the answer must hold: answer_contains: ["…"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCases:
    """The suite, and what is not in it."""

    text: str
    """The file."""
    cases: int
    """Number of its cases."""
    left_out: tuple[str, ...]
    """Trials that no case was made of, with the reason."""


def suite_from_run(log: RunLog, name: str, server: JsonObject | str) -> RecordedCases:
    """Return the suite ``name`` with a case for each conversation of ``log`` that went well.

    ``server`` is the suite's ``server:``.

    Raises:
        UsageError: there is no such conversation.
    """
    cases: dict[str, str] = {}
    left_out: list[str] = []
    for result in log.results:
        transcript = log.transcript(result.key)
        why = _unfit(result, transcript)
        if why is not None or transcript is None:
            left_out.append(f"{result.case.name}: {why}")
            continue
        case = _case(result, transcript)
        text = _written(case, transcript)
        if text not in cases.values():  # a repeat that went the same way
            cases[_free(result.case.name, cases)] = text
    if not cases:
        raise UsageError(
            f"no case can be made of {log.header.run_id}: {'; '.join(left_out)}",
            meant="Record a session with --prompt, in which a call succeeds.",
        )
    head = f"# yaml-language-server: $schema={SCHEMA_NAME}\n" + comment(
        f"Cases from the run {log.header.run_id}."
    )
    facts = dump({"mxcp": 1, "suite": name}) + dump({"server": server})
    numbered = [
        text.replace(f"- name: {_NAME}", f"- name: {key}", 1) for key, text in cases.items()
    ]
    return RecordedCases(
        text=joined((head + "#\n" + _HEAD, facts, "tests:", *numbered)),
        cases=len(cases),
        left_out=tuple(left_out),
    )


def _unfit(result: TrialResult, transcript: Transcript | None) -> str | None:
    """Return why no case is made of a trial; ``None`` if one is."""
    if transcript is None or result.status not in ("passed", "skipped"):
        return f"it is {result.status}"
    if not _prompts(transcript):
        return "nobody noted what was asked (harness record --prompt)"
    if not any(call.outcome == "ok" for call in transcript.tool_calls):
        return "no call succeeded"
    return None


def _prompts(transcript: Transcript) -> list[str]:
    return [message.text for message in transcript.messages if isinstance(message, UserMessage)]


def _case(result: TrialResult, transcript: Transcript) -> dict[str, Any]:
    prompts = _prompts(transcript)
    asked = {"prompt": prompts[0]} if len(prompts) == 1 else {"turns": prompts}
    context = result.case.user_context
    calls = [(call.tool, _plain(call.arguments)) for call in _succeeded(transcript)]
    return {
        "name": _NAME,
        **asked,
        **({} if context is None else {"user_context": Inline(dict(context))}),
        "assertions": {"must_succeed": calls_data(calls)},
    }


def _succeeded(transcript: Transcript) -> Iterator[ToolCall]:
    """Yield the calls that succeeded, each with its arguments once."""
    seen = set()
    for call in transcript.tool_calls:
        key = canonical_json([call.tool, call.arguments])
        if call.outcome == "ok" and key not in seen:
            seen.add(key)
            yield call


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without those that the log holds redacted."""
    return {
        key: value for key, value in arguments.items() if MARK[:-1] not in canonical_json(value)
    }


def _written(case: Mapping[str, Any], transcript: Transcript) -> str:
    others = [call for call in transcript.tool_calls if call.outcome != "ok"]
    notes = ""
    if others:
        told = ", ".join(f"{call.tool} ({call.outcome})" for call in others)
        notes += comment(f"Not asked for: {told}", indent=2)
    if any(_plain(call.arguments) != dict(call.arguments) for call in _succeeded(transcript)):
        notes += comment("Arguments that hold secrets were left out.", indent=2)
    return notes + textwrap.indent(dump([case]), "  ")


def _free(wanted: str, taken: Mapping[str, str]) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted)[:_LONGEST] or "recorded"
    number = 1
    while (f"{name}_{number}" if number > 1 else name) in taken:
        number += 1
    return f"{name}_{number}" if number > 1 else name
