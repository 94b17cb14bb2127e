"""Plans the next step from the conversation alone.

Nothing is remembered between replies. Each time the goals are derived again from the user's words,
calls and results are read from the conversation, and the difference is the next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from harness.models.lexical.arguments import Filling, fill
from harness.models.lexical.explicit_calls import explicit_calls
from harness.models.lexical.goals import Goal, goals
from harness.models.lexical.read_text import LONGEST_TEXT, Reading, read
from harness.models.lexical.recovery import Call, follow_up
from harness.models.lexical.results import find_argument, most_relevant
from harness.models.tool_text.permission import NO_LEAVE, Leave
from harness.models.tool_text.ranking import Entry, Index
from harness.models.tool_text.terms import terms
from harness.types import AssistantMessage, Message, ToolAnswer, ToolMessage, UserMessage

_MOST_ROUNDS = 6  # replies with calls per message of the user
_MOST_CALLS = 16  # in one reply
_CONTEXT_TEXTS = 6  # earlier messages and results that are considered


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalProgress:
    """The progress of a goal."""

    goal: Goal
    """The goal."""
    done: tuple[tuple[Call, ToolAnswer], ...] = ()
    """The calls made for the goal, with their results; look-ups are left out."""
    searched: tuple[Call, ToolAnswer] | None = None
    """A look-up whose result does not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The next step."""

    calls: tuple[Call, ...]
    """Calls to make now; if there are none, it is time to answer."""
    outcomes: tuple[GoalProgress, ...]
    """The goals and results to answer from."""


_Past = Mapping[str, ToolAnswer]


def plan(
    conversation: Sequence[Message], index: Index, today: date, leave: Leave = NO_LEAVE
) -> Plan:
    """Return the next step of ``conversation``, in which ``leave`` allows changes."""
    start = max(
        (place for place, message in enumerate(conversation) if isinstance(message, UserMessage)),
        default=-1,
    )
    message = conversation[start] if start >= 0 else None
    prompt = message.text if isinstance(message, UserMessage) else ""
    since = conversation[start + 1 :]
    past = _past(since)
    pending: list[Call] = []
    outcomes: list[GoalProgress] = []
    earlier = _earlier(conversation[: max(0, start)], today)
    wanted = explicit_calls(prompt, index, today, leave) or goals(
        prompt, earlier, index, today, leave
    )
    for goal in wanted:
        if goal.request.after and pending:
            break  # "…, then …": the first request is not finished yet
        calls, outcome = _pursue(goal, past, index, today)
        pending += calls
        outcomes.append(outcome)
    unique = tuple({call.key: call for call in pending}.values())[:_MOST_CALLS]
    rounds = sum(isinstance(one, AssistantMessage) for one in since)
    return Plan(calls=unique if rounds < _MOST_ROUNDS else (), outcomes=tuple(outcomes))


def _past(messages: Sequence[Message]) -> _Past:
    """Return the result of each call that was made, by `Call.key`."""
    answers = {
        a.request_id: a
        for message in messages
        if isinstance(message, ToolMessage)
        for a in message.answers
    }
    requests = [
        r
        for message in messages
        if isinstance(message, AssistantMessage)
        for r in message.reply.tool_requests
    ]
    return {
        Call(tool=request.tool, arguments=request.arguments).key: answers[request.id]
        for request in requests
        if request.id in answers
    }


def _earlier(messages: Sequence[Message], today: date) -> tuple[Reading, ...]:
    """Return the messages of users and tools before the last one, the latest first."""
    texts: list[str] = []
    for message in messages:
        if isinstance(message, UserMessage):
            texts.append(message.text[:LONGEST_TEXT])
        elif isinstance(message, ToolMessage):
            asked = frozenset(terms(" ".join(texts[-1:])))
            good = (answer.text for answer in message.answers if not answer.is_error)
            texts += [most_relevant(text, asked)[:LONGEST_TEXT] for text in good]
    return tuple(read(text, today) for text in reversed(texts[-_CONTEXT_TEXTS:]))


def _pursue(goal: Goal, past: _Past, index: Index, today: date) -> tuple[list[Call], GoalProgress]:
    """Return the calls that a goal needs now, and its progress."""
    if goal.entry is None or goal.filling is None:
        return [], GoalProgress(goal=goal)
    filling = goal.filling
    if goal.lookup is not None and goal.lookup_filling is not None:
        looking = _calls(goal.lookup, goal.lookup_filling)[0]
        if looking.key not in past:
            return [looking], GoalProgress(goal=goal)
        found = _filled_from(goal, looking, past[looking.key], today)
        if found is None:
            return [], GoalProgress(goal=goal, searched=(looking, past[looking.key]))
        filling = found
    if filling.missing:
        return [], GoalProgress(goal=goal)
    return _carry_out(_calls(goal.entry, filling), goal, past, index)


def _filled_from(goal: Goal, looking: Call, answer: ToolAnswer, today: date) -> Filling | None:
    """Return the goal's arguments, completed by what a look-up returned.

    Before a change, the record must clearly be the one that the user named.
    """
    if goal.entry is None or goal.wanted is None or answer.is_error:
        return None
    changes = not goal.entry.reads
    sought = frozenset(terms(" ".join(str(value) for value in looking.arguments.values())))
    value = find_argument(answer.text, goal.wanted, sought, strict=changes)
    if value is None and changes:
        return None
    reading = goal.request.reading
    looked_up = {} if value is None else {goal.wanted.name: value}
    context = goal.context if value is not None else (*goal.context, read(answer.text, today))
    filling = fill(goal.entry, reading, context, refers_back=value is None, looked_up=looked_up)
    return filling if goal.wanted.name in filling.arguments[0] else None


def _carry_out(
    calls: Sequence[Call], goal: Goal, past: _Past, index: Index
) -> tuple[list[Call], GoalProgress]:
    pending: list[Call] = []
    done: list[tuple[Call, ToolAnswer]] = []
    for call in calls:
        answer = past.get(call.key)
        if answer is None:
            pending.append(call)
            continue
        done.append((call, answer))
        further = (
            follow_up(call, answer.text, index, goal.request.reading, goal.may.allows)
            if answer.is_error and goal.may is not None
            else None
        )
        if further is not None and further.key in past:
            done.append((further, past[further.key]))
        elif further is not None:
            pending.append(further)
    return pending, GoalProgress(goal=goal, done=tuple(done))


def _calls(entry: Entry, filling: Filling) -> list[Call]:
    return [
        Call(tool=entry.tool.name, arguments=arguments, said=said)
        for arguments, said in zip(filling.arguments, filling.said, strict=True)
    ]
