"""The check that applies to every case: the model must answer."""

from __future__ import annotations

from harness.types import AssistantMessage, Case, CheckResult, Reply, Transcript, UserMessage

_HANDED_ON = "transfer"


def answer_checks(case: Case, transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a failed check for each turn whose last reply has no text, no call and no refusal.

    An empty reply would pass every check that only forbids something. Two kinds of turn need no
    answer: turns that only give the model information (``ingest``), and those of a leaderboard with
    its own rule for empty replies.
    """
    if case.leaderboard.silence or transcript.stop == _HANDED_ON:
        return ()
    silent = _silent_turns(transcript)
    needed = [
        place for place in silent if not (place < len(case.turns) and case.turns[place].ingest)
    ]
    return tuple(
        _failed_check(place + 1 if case.turns else None, _describe_emptiness(silent[place]))
        for place in needed
    )


def _silent_turns(transcript: Transcript) -> dict[int, Reply]:
    """Return the turns (from 0) that ended with an empty reply, and that reply."""
    last: dict[int, Reply] = {}
    turn = -1
    for message in transcript.messages:
        if isinstance(message, UserMessage) and not message.injected:
            turn += 1
        elif isinstance(message, AssistantMessage):
            # The last reply of a turn is its answer; those before it ask for tools.
            last[turn] = message.reply
    return {
        turn: reply
        for turn, reply in last.items()
        # A refusal is an answer, and a reply that was cut fails by its limit (`limits`).
        if reply.stop in ("end", "tool_calls", "other")
        and not (reply.text.strip() or reply.tool_requests)
    }


def _describe_emptiness(reply: Reply) -> str:
    if reply.only_thinking:
        return "the reply holds only thinking (no text for the user, no tool call, no refusal)"
    return "the model's reply was empty (no text, no tool call, no refusal)"


def _failed_check(turn: int | None, why: str) -> CheckResult:
    return CheckResult(
        kind="answered",
        label="an answer",
        verdict="failed",
        expected="an answer",
        actual="",
        explanation=f"No answer: {why}.",
        hint="Say in the system prompt that every question must be answered in words, also after "
        "tool calls.",
        turn=turn,
    )
