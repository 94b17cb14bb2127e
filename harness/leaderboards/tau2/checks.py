"""The leaderboard's rules as checks of a case, and the reward they make together.

A component outside a task's basis is shown but does not count.

``end_state`` compares the database: the resource with its digest must equal the digest after the
gold actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from harness.base import canonical_json
from harness.judging import (
    GRADE,
    KINDS,
    CheckFinding,
    Evidence,
    JudgeQuestion,
    UnlistedKind,
    ask_judge,
    build_check_result,
    build_material,
    format_value,
    passed_if,
)
from harness.leaderboards.tau2.data import ASSERTION_URI, HASH_URI
from harness.leaderboards.tau2.tasks import Action, Component, Criteria, StateAssertion
from harness.types import (
    AssistantMessage,
    Check,
    CheckResult,
    CheckTrait,
    JsonObject,
    Reply,
    Severity,
    Stop,
    ToolMessage,
    ToolRequest,
    Transcript,
    UserMessage,
)


def list_agent_texts(transcript: Transcript) -> list[str]:
    """Return every text of the agent, including the greeting and texts beside calls."""
    replies = (reply.text for reply in _iterate_replies(transcript))
    return [text for text in (transcript.greeting, *replies) if text]


def list_requested_calls(transcript: Transcript) -> list[ToolRequest]:
    """Return every call that the agent asked for, then those of the customer."""
    asked = [request for reply in _iterate_replies(transcript) for request in reply.tool_requests]
    # As upstream, a gold action may be called by either side.
    return asked + [
        ToolRequest(id=call.request_id, tool=call.tool, arguments=call.arguments)
        for call in transcript.user_calls
    ]


def _iterate_replies(transcript: Transcript) -> Iterator[Reply]:
    for message in transcript.messages:
        if isinstance(message, AssistantMessage):
            yield message.reply


def is_communicated(wanted: str, texts: Sequence[str]) -> bool:
    """Whether ``wanted`` is part of one of ``texts``.

    Commas in ``wanted`` are kept, so a text with commas never matches.
    """
    return any(wanted.lower() in text.lower().replace(",", "") for text in texts)


def matches_action(action: Action, call: ToolRequest) -> bool:
    """Whether ``call`` has the name of the gold action and the same compared arguments.

    Without ``compare_args``, the call's own arguments are compared: an extra one is wrong, a
    missing one is not.
    """
    if action.name != call.tool:
        return False
    compared = call.arguments.keys() if action.compare_args is None else action.compare_args
    return {key: value for key, value in call.arguments.items() if key in compared} == {
        key: value for key, value in action.arguments.items() if key in compared
    }


def is_called(action: Action, calls: Sequence[ToolRequest]) -> bool:
    """Whether any of ``calls`` is the gold action."""
    return any(matches_action(action, call) for call in calls)


RULE: Final = "tau2"
"""The kind of check that decides ``TERMINATION``, ``COMMUNICATE`` and ``ACTION``."""
ASSERTION: Final = "tau2_assertion"
"""The kind of check that decides ``NL_ASSERTION``."""

_CHARS = 60_000
"""Characters of a conversation that a judge gets."""


def build_checks(criteria: Criteria | None) -> tuple[Check, ...]:
    """Return the checks that must pass for a reward of 1.

    Without criteria, only the end of the conversation is checked.
    """
    checks = [Check(kind=RULE, params={"component": "TERMINATION"})]
    if criteria is None:
        return tuple(checks)

    def add_check(component: Component, kind: str, params: JsonObject) -> None:
        severity: Severity = "fail" if component in criteria.basis else "warn"
        checks.append(Check(kind=kind, params=params, severity=severity))

    # Where the task asks something of the state itself, most ways to it end in another one.
    if criteria.actions is not None and (
        "DB" in criteria.basis or "ENV_ASSERTION" not in criteria.basis
    ):
        # As upstream, a gold action that fails is skipped.
        calls = [
            {"tool": action.name, "args": dict(action.arguments), "may_fail": True}
            for action in criteria.actions
        ]
        state = {"source": {"resource": HASH_URI}, "same_state_as": calls}
        add_check("DB", "end_state", state)
    for assertion in criteria.state_assertions:
        source = {"resource": format_assertion_uri(assertion)}
        question = {"source": source, "path": "$", "value": assertion.expected}
        add_check("ENV_ASSERTION", "end_state", question)
    for wanted in criteria.communicate:
        add_check("COMMUNICATE", RULE, {"component": "COMMUNICATE", "text": wanted})
    if criteria.actions:
        gold = list(map(_encode_action, criteria.actions))
        add_check("ACTION", RULE, {"component": "ACTION", "actions": gold})
    # A judge costs money: ask only if it decides.
    if "NL_ASSERTION" in criteria.basis:
        checks += [Check(kind=ASSERTION, params={"text": text}) for text in criteria.assertions]
    return tuple(checks)


def format_assertion_uri(assertion: StateAssertion) -> str:
    """Return the URI of the resource that answers a question about the state."""
    side, name = assertion.call["env_type"], assertion.call["func_name"]
    # Each value as JSON, since 2 and "2" are different questions.
    given = {key: canonical_json(value) for key, value in assertion.call["arguments"].items()}
    return f"{ASSERTION_URI}{side}/{name}{f'?{urlencode(given)}' if given else ''}"


def _encode_action(action: Action) -> JsonObject:
    compared = {} if action.compare_args is None else {"compare_args": list(action.compare_args)}
    return {"tool": action.name, "args": dict(action.arguments), **compared}


class RuleKind(UnlistedKind):
    """A kind of check that no suite file can use: its params come from a task."""

    name = RULE
    source = "tasks of tau2-bench"

    def traits(self, params: JsonObject) -> Sequence[CheckTrait]:
        """Say that the leaderboard itself knows which calls are right."""
        return ("no_success",)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge by the leaderboard's rule."""
        return build_check_result(check, _RULES[check.params["component"]](check.params, evidence))


ENDED: Final[tuple[Stop, ...]] = ("user_stop", "agent_stop", "transfer", "answer")
"""The ends of a conversation that the leaderboard judges: by the customer or by the agent.

An agent without a customer ends it with an answer.
"""


def _judge_termination(_: JsonObject, evidence: Evidence) -> CheckFinding:
    transcript = evidence.transcript
    ended = transcript.stop in ENDED
    how = transcript.stop_detail or transcript.stop
    why = f"Neither the customer nor the agent ended the conversation: it ended with {how}."
    return CheckFinding(
        label="TERMINATION",
        verdict=passed_if(ended),
        expected=list(ENDED),
        actual=how,
        why=([] if ended else [why], None),
    )


def _judge_communication(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted = params["text"]
    told = is_communicated(wanted, list_agent_texts(evidence.transcript))
    lines = [] if told else [f"The agent never said {format_value(wanted, 200)}."]
    if not told and "," in wanted:
        lines.append(
            "A comma in it can never match: the leaderboard removes commas from the agent's "
            "messages."
        )
    return CheckFinding(
        label=f"COMMUNICATE {format_value(wanted, 60)}",
        verdict=passed_if(told),
        expected=wanted,
        why=(lines, None),
    )


def _judge_actions(params: JsonObject, evidence: Evidence) -> CheckFinding:
    actions = [_decode_action(described) for described in params["actions"]]
    # As upstream, it is enough that the agent asked for a call, whatever came of it.
    calls = list_requested_calls(evidence.transcript)
    made = [is_called(action, calls) for action in actions]
    lines = []
    for action in (action for action, hit in zip(actions, made, strict=True) if not hit):
        lines.append(f"Never called: {action.name}({format_value(action.arguments, 300)})")
        lines += [
            f"  called was: {format_value(call.arguments, 200)}"
            for call in calls
            if call.tool == action.name
        ][:_NEAREST]
    return CheckFinding(
        label=f"ACTION {sum(made)} of {len(made)} gold actions called",
        verdict=passed_if(all(made)),
        expected=params["actions"],
        actual=made,
        why=(lines, None),
    )


_RULES: Final = {
    "TERMINATION": _judge_termination,
    "COMMUNICATE": _judge_communication,
    "ACTION": _judge_actions,
}

_NEAREST = 2
"""Number of calls of the same tool that are shown beside a gold action that was never called."""


def _decode_action(described: JsonObject) -> Action:
    compared = described.get("compare_args")
    return Action(
        name=described["tool"],
        arguments=described["args"],
        compare_args=None if compared is None else tuple(compared),
    )


# ── In plain words ───────────────────────────────────────────────────────────────────────────

_INSTRUCTIONS = """\
The material holds a "conversation" between a customer service agent (role assistant) \
and a customer (role user),
with the calls of the agent's tools and their results, and one "assertion" about it. \
Grade whether the assertion
holds of this conversation, as a whole and in every part.
correct: it holds. wrong: it does not, or only in part. Do not use "partially correct"."""


def ask_about_assertion(params: JsonObject, evidence: Evidence) -> JudgeQuestion:
    """Return the question whether the assertion holds for the conversation."""
    text = format_conversation(evidence)
    if len(text) > _CHARS:
        text = f"{text[:_CHARS]}\n[… {len(text) - _CHARS} characters left out]"
    prompt, answer = evidence.case.prompt, evidence.transcript.answer
    material = build_material(prompt, (), answer, conversation=text, assertion=params["text"])
    return JudgeQuestion(instructions=_INSTRUCTIONS, material=material, scale=GRADE)


def format_conversation(evidence: Evidence) -> str:
    """Return the conversation as ``role: content`` lines, with calls and results."""
    transcript = evidence.transcript
    lines = [f"assistant: {transcript.greeting}"] if transcript.greeting else []
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            lines.append(f"user: {message.text}")
        elif isinstance(message, AssistantMessage):
            reply = message.reply
            lines += [f"assistant: {reply.text}"] if reply.text else []
            lines += [
                f"assistant calls {call.tool}({format_value(call.arguments, 2_000)})"
                for call in reply.tool_requests
            ]
        elif isinstance(message, ToolMessage):
            lines += [f"tool: {answer.text}" for answer in message.answers]
    return "\n".join(lines)


class AssertionKind(UnlistedKind):
    """A judged check that takes the recording's own verdict when no judge is configured.

    It says nothing of a judge in its traits, since that verdict may be recorded.
    """

    name = ASSERTION
    source = "tasks of tau2-bench"
    needs_judge = True

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Ask the judge; without one, take the recorded verdict and say so."""
        judge, question = evidence.judge, ask_about_assertion(check.params, evidence)
        given = None
        if judge is not None and not judge.is_available():
            given = judge.given.get(check.params["text"])
            if given is not None:
                judge.take_over(question, given)
        found = build_check_result(check, await ask_judge(question, check.params, evidence))
        if given is None:
            return found
        words = f"No judge is configured: this is the recorded verdict. {found.explanation}"
        return replace(found, explanation=words.rstrip())


KINDS.add_unlisted(RULE, RuleKind())  # ``TERMINATION``, ``COMMUNICATE`` and ``ACTION``
# ``NL_ASSERTION``: a judge decides whether an assertion holds for the conversation.
KINDS.add_unlisted(ASSERTION, AssertionKind())
