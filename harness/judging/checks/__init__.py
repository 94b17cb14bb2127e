"""The checks: assertions over a transcript, one file a family, found by name through `KINDS`.

A check is data (`harness.types.Check`); a `CheckKind` knows how to read it from a suite, how to
judge it, and whatever else the program asks about it. To add one, write it into a file of
``kinds``, or name it under the entry-point group ``harness.checks``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from harness.base import HarnessError, Problem
from harness.judging.checks.contradictions import find_contradictions
from harness.judging.checks.kind import CheckKind, Evidence
from harness.judging.checks.registry import KINDS, check_traits, get_kind
from harness.judging.matching.calls import matches_call
from harness.types import (
    AssistantMessage,
    Case,
    Check,
    CheckResult,
    JsonObject,
    JsonPath,
    Message,
    Reply,
    Severity,
    ToolCall,
    Transcript,
    Usage,
    UserMessage,
    Verdict,
    sum_server_waits,
)


class CheckVocabulary:
    """What readers of suites need from `KINDS`: a `harness.suites.Vocabulary`."""

    def names(self) -> Sequence[str]:
        """Return every check name that may stand under ``assertions:``."""
        return KINDS.list_names()

    def schema(self, name: str) -> JsonObject:
        """Return the JSON Schema of the value under that name, with the check's description."""
        kind = KINDS.get(name)
        return kind.schema if kind.doc is None else {"description": kind.doc.plain, **kind.schema}

    def parse(self, name: str, value: Any) -> Sequence[tuple[JsonPath, Check]]:
        """Return ``(path in value, check)`` for each check in ``value``.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        return tuple(
            (path, asked if isinstance(asked, Check) else Check(kind=name, params=asked))
            for path, asked in KINDS.get(name).parse(value)
        )

    def find_contradictions(self, case: Case) -> Sequence[Problem]:
        """Return the checks of ``case`` that cannot hold together."""
        return tuple(find_contradictions(case))


VOCABULARY = CheckVocabulary()
"""The vocabulary of this installation, including checks from other packages."""


async def evaluate_checks(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Judge all checks of the case in the suite's order: turn by turn, then the whole.

    They see the calls of tools alone: a search for tools is the client's affair.
    """
    calls = evidence.transcript.server_calls
    if len(calls) < len(evidence.transcript.tool_calls):
        evidence = replace(evidence, transcript=replace(evidence.transcript, tool_calls=calls))
    results: list[CheckResult] = []
    # Texts of `ingest` come before all questions, which are counted without them.
    told = sum(turn.ingest for turn in evidence.case.turns)
    for number, turn in enumerate(evidence.case.turns, start=1):
        so_far = transcript_until(evidence.transcript, number)
        name = f"question {number - told}" if told else f"turn {number}"
        for check in turn.checks:
            if so_far is None:
                result = unreached_result(check, evidence.transcript)
            else:
                until = _set_current_prompt(replace(evidence, transcript=so_far), number)
                result = await evaluate_check(check, until)
            results.append(replace(result, label=f"{name}: {result.label}", turn=number))
    # For `turns_passed`, which judges by the results of the turns.
    whole = replace(evidence, turn_results=tuple(results))
    if evidence.case.turns:
        whole = _set_current_prompt(whole, len(evidence.case.turns))
    ended = [await evaluate_check(check, whole) for check in evidence.case.checks]
    # The share of right turns decides then, so a wrong turn is shown and fails nothing by itself.
    if any("counts_turns" in result.traits and result.severity == "fail" for result in ended):
        results = [
            result if result.verdict == "passed" else replace(result, severity="warn")
            for result in results
        ]
    return (*results, *ended)


async def evaluate_check(check: Check, evidence: Evidence) -> CheckResult:
    """Judge by one check.

    Raises:
        JudgeError: it cannot be judged.
        HarnessError: the result, perhaps from another package's check, has an invalid value, which
            could not be read back from a log.
    """
    kind = get_kind(check)
    result = await kind.evaluate(check, evidence)
    place = f" ({check.at})" if check.at else ""
    found = f"check {check.kind}{place} returned a result with"
    for name, known in _WORDS.items():
        if (word := getattr(result, name)) not in known:
            wrong = f"{name} {word!r:.100}, which is no {name}; it is one of {', '.join(known)}"
            raise HarnessError(f"{found} {wrong}")
    score = result.score
    if score is not None and not (isinstance(score, int | float) and 0 <= score <= 1):
        wrong = f"score {score!r:.100}, which is no score; it is a number from 0 to 1"
        raise HarnessError(f"{found} {wrong}")
    traits = tuple(dict.fromkeys((*result.traits, *kind.traits(check.params))))
    tools = _expected_tools(kind, check.params, evidence.transcript.tool_calls)
    return replace(result, traits=traits, expected_tools=tools)


def _expected_tools(
    kind: CheckKind, params: JsonObject, calls: Sequence[ToolCall]
) -> tuple[str, ...]:
    """Return the tools that a check expects to be called; of alternatives, those that were."""
    if "expects_calls" not in kind.traits(params):
        return ()
    wanted: list[JsonObject] = [
        {"tool": tool, "args": args} for tool, args in kind.wanted_calls(params)
    ]
    tools: list[str] = [call["tool"] for call in wanted]
    if kind.order == "one_of":
        made = [one["tool"] for one in wanted if any(matches_call(one, call) for call in calls)]
        tools = made or [tool for tool in tools if tool in {call.tool for call in calls}] or tools
    return tuple(dict.fromkeys(tools))


_WORDS = {"verdict": get_args(Verdict), "severity": get_args(Severity)}
"""The allowed values of a result."""


def _set_current_prompt(evidence: Evidence, turns: int) -> Evidence:
    """Return ``evidence`` whose prompt is what the user said in the current conversation.

    ``turns`` is the number of turns so far.
    """
    begins = max(
        (place for place, turn in enumerate(evidence.case.turns[:turns]) if turn.fresh), default=0
    )
    prompt = "\n\n".join(evidence.case.prompts[begins:turns])
    return replace(evidence, case=replace(evidence.case, prompt=prompt))


# ── The state of a conversation of several turns after each of them ──────────────────────────────


def transcript_until(transcript: Transcript, number: int) -> Transcript | None:
    """Return the transcript up to the end of user turn ``number`` (from 1), or ``None``.

    It is ``None`` if the turn did not take place; the last turn ends with the conversation.
    """
    said = [place for place, message in enumerate(transcript.messages) if _begins_turn(message)]
    if number > len(said):
        return None
    if number == len(said):
        return transcript
    return _cut_transcript(transcript, said[number])


def _begins_turn(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.injected


def _cut_transcript(transcript: Transcript, end: int) -> Transcript:
    """Return ``transcript`` up to the user message at ``end``."""
    messages, following = transcript.messages[:end], transcript.messages[end]
    replies = [message.reply for message in messages if isinstance(message, AssistantMessage)]
    last = replies[-1] if replies else Reply()
    calls = tuple(call for call in transcript.tool_calls if call.reply <= len(replies))
    # Recorded for the whole only, so it is added up again from its parts.
    waited_s = sum(reply.waited_s for reply in replies) + sum_server_waits(calls)
    return replace(
        transcript,
        messages=messages,
        tool_calls=calls,
        # Made when the conversation is over.
        teardown_calls=(),
        states=(),  # they are read when the conversation is over
        answer=last.text,
        # After any other end the user would not have gone on.
        stop="refusal" if last.stop == "refusal" else "answer",
        usage=sum((reply.usage for reply in replies), Usage()),
        replies=len(replies),
        latency_s=following.said_s if isinstance(following, UserMessage) else transcript.latency_s,
        waited_s=round(waited_s, 6),
    )


def unreached_result(check: Check, transcript: Transcript) -> CheckResult:
    """Return the result of a check of a turn that did not take place."""
    said = sum(map(_begins_turn, transcript.messages))
    return CheckResult(
        kind=check.kind,
        label=check.kind,
        verdict="failed",
        severity=check.params.get("severity", check.severity),
        # As `evaluate_check` does: reports look for the traits of every result.
        traits=tuple(check_traits(check)),
        explanation=f"This turn never came: the conversation ended in turn {said} "
        f"({transcript.stop}).",
        hint="See why it ended there; what follows could not be asked.",
        at=check.at,
    )
