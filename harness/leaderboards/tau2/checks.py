"""The leaderboard's rules as checks of a case.

A component outside a task's basis is shown but does not count.

``end_state`` compares the database: the resource with its digest must equal the digest after the
gold actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from harness.base import InvalidValue
from harness.judging import (
    GRADE,
    KINDS,
    CheckFinding,
    Evidence,
    Judged,
    Question,
    conclude,
    material_of,
    passed_if,
    show,
)
from harness.leaderboards.tau2.data import HASH_URI
from harness.leaderboards.tau2.reward import called, communicated, requested, said
from harness.leaderboards.tau2.tasks import Action, Criteria
from harness.types import (
    AssistantMessage,
    Check,
    CheckResult,
    JsonObject,
    JsonPath,
    Severity,
    Stop,
    ToolMessage,
    UserMessage,
)

RULE: Final = "tau2"
"""The kind of check that decides ``TERMINATION``, ``COMMUNICATE`` and ``ACTION``."""
ASSERTION: Final = "tau2_assertion"
"""The kind of check that decides ``NL_ASSERTION``."""

_CHARS = 60_000
"""Characters of a conversation that a judge gets."""


def checks_of(criteria: Criteria | None) -> tuple[Check, ...]:
    """Return the checks that must pass for a reward of 1.

    Without criteria, only the end of the conversation is checked.
    """
    ended = Check(kind=RULE, params={"component": "TERMINATION"})
    if criteria is None:
        return (ended,)
    return (
        ended,
        *_database(criteria),
        *(_rule(criteria, "COMMUNICATE", {"text": wanted}) for wanted in criteria.communicate),
        *(
            [_rule(criteria, "ACTION", {"actions": list(map(_described, criteria.actions))})]
            if criteria.actions
            else ()
        ),
        *(
            Check(kind=ASSERTION, params={"text": assertion})
            for assertion in criteria.assertions
            if "NL_ASSERTION" in criteria.basis  # a judge costs money: ask only if it decides
        ),
    )


def _database(criteria: Criteria) -> tuple[Check, ...]:
    if criteria.actions is None:
        return ()
    calls = [
        {"tool": one.name, "args": dict(one.arguments), "may_fail": True}
        for one in criteria.actions
    ]
    params = {"source": {"resource": HASH_URI}, "same_state_as": calls}
    return (Check(kind="end_state", params=params, severity=_severity(criteria, "DB")),)


def _rule(
    criteria: Criteria, component: Literal["COMMUNICATE", "ACTION"], what: JsonObject
) -> Check:
    return Check(
        kind=RULE, params={"component": component, **what}, severity=_severity(criteria, component)
    )


def _severity(criteria: Criteria, component: Literal["DB", "COMMUNICATE", "ACTION"]) -> Severity:
    return "fail" if component in criteria.basis else "warn"


def _described(action: Action) -> JsonObject:
    compared = {} if action.compare_args is None else {"compare_args": list(action.compare_args)}
    return {"tool": action.name, "args": dict(action.arguments), **compared}


@dataclass(frozen=True, slots=True)
class RuleKind:
    """A `checks.CheckKind` that no suite file can use: its params come from a task."""

    names_tools: ClassVar[bool] = False
    """False: the tools in its params come from the task, and the leaderboard vouches for them."""

    @property
    def schema(self) -> JsonObject:
        """Return a schema that matches nothing."""
        return {"not": {}}

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, JsonObject]]:
        """Refuse: only tau2-bench has such checks."""
        raise InvalidValue("only tasks of tau2-bench have a check of this kind")

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge by the leaderboard's rule."""
        return conclude(check, _RULES[check.params["component"]](check.params, evidence))


ENDED: Final[tuple[Stop, ...]] = ("user_stop", "agent_stop", "transfer")
"""The ends of a conversation that the leaderboard judges: by the customer or by the agent."""


def _terminated(_: JsonObject, evidence: Evidence) -> CheckFinding:
    transcript = evidence.transcript
    ended = transcript.stop in ENDED
    how = transcript.stop_detail or transcript.stop
    lines = (
        []
        if ended
        else [f"Neither the customer nor the agent ended the conversation: it ended with {how}."]
    )
    return CheckFinding(
        label="TERMINATION",
        verdict=passed_if(ended),
        expected=list(ENDED),
        actual=how,
        explanation=lines,
    )


def _communicated(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted = params["text"]
    told = communicated(wanted, said(evidence.transcript))
    lines = [] if told else [f"The agent never said {show(wanted, 200)}."]
    if not told and "," in wanted:
        lines.append(
            "A comma in it can never match: the leaderboard removes commas from the agent's "
            "messages."
        )
    return CheckFinding(
        label=f"COMMUNICATE {show(wanted, 60)}",
        verdict=passed_if(told),
        expected=wanted,
        explanation=lines,
    )


def _called(params: JsonObject, evidence: Evidence) -> CheckFinding:
    actions = [_action(described) for described in params["actions"]]
    calls = requested(evidence.transcript)
    made = [called(action, calls) for action in actions]
    lines = []
    for action in (action for action, hit in zip(actions, made, strict=True) if not hit):
        lines.append(f"Never called: {action.name}({show(action.arguments, 300)})")
        lines += [
            f"  called was: {show(call.arguments, 200)}"
            for call in calls
            if call.tool == action.name
        ][:_NEAREST]
    return CheckFinding(
        label=f"ACTION {sum(made)} of {len(made)} gold actions called",
        verdict=passed_if(all(made)),
        expected=params["actions"],
        actual=made,
        explanation=lines,
    )


_RULES: Final = {"TERMINATION": _terminated, "COMMUNICATE": _communicated, "ACTION": _called}

_NEAREST = 2
"""Number of calls of the same tool that are shown beside a gold action that was never called."""


def _action(described: JsonObject) -> Action:
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


def _question(params: JsonObject, evidence: Evidence) -> Question:
    text = conversation_text(evidence)
    cut = (
        text
        if len(text) <= _CHARS
        else f"{text[:_CHARS]}\n[… {len(text) - _CHARS} characters left out]"
    )
    material = material_of(
        evidence.case.prompt,
        (),
        evidence.transcript.answer,
        conversation=cut,
        assertion=params["text"],
    )
    return Question(instructions=_INSTRUCTIONS, material=material, scale=GRADE)


def conversation_text(evidence: Evidence) -> str:
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
                f"assistant calls {call.tool}({show(call.arguments, 2_000)})"
                for call in reply.tool_requests
            ]
        elif isinstance(message, ToolMessage):
            lines += [f"tool: {answer.text}" for answer in message.answers]
    return "\n".join(lines)


def _refused(_: Any) -> JsonObject:
    raise InvalidValue("only tasks of tau2-bench have a check of this kind")


@dataclass(frozen=True, kw_only=True)
class AssertionKind(Judged):
    """A judged check that takes the recording's own verdict when no judge is configured."""

    names_tools: ClassVar[bool] = False
    """False: its params name no tools."""

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Ask the judge; without one, take the recorded verdict and say so."""
        judge = evidence.judge
        given = (
            None if judge is None or judge.available() else judge.given.get(check.params["text"])
        )
        if judge is None or given is None:
            return await Judged.evaluate(self, check, evidence)
        judge.take_over(_question(check.params, evidence), given)
        found = await Judged.evaluate(self, check, evidence)
        words = f"No judge is configured: this is the recorded verdict. {found.explanation}"
        return replace(found, explanation=words.rstrip())


KINDS.add_unlisted(RULE, RuleKind())  # ``TERMINATION``, ``COMMUNICATE`` and ``ACTION``

TAU2_ASSERTION = AssertionKind(name=ASSERTION, schema={"not": {}}, read=_refused, ask=_question)
"""``NL_ASSERTION``: a judge decides whether an assertion holds for the conversation."""
KINDS.add_unlisted(ASSERTION, TAU2_ASSERTION)
