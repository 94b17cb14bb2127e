"""Plans the next step from the conversation alone, after a failed call, too.

Nothing is remembered between replies. Each time the goals are derived again from the user's words,
calls and results are read from the conversation, and the difference is the next step.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import Any

from harness.base import canonical_json
from harness.models.lexical.arguments import Filling, fill_arguments
from harness.models.lexical.choices import PromptRequest
from harness.models.lexical.goals import Goal, Permission, find_goals
from harness.models.lexical.results import find_argument, most_relevant
from harness.models.lexical.text_parsing import LONGEST_TEXT, ParsedText, parse_text
from harness.models.tool_text.actions import is_permitted
from harness.models.tool_text.instructions import find_instructions
from harness.models.tool_text.permission import NO_LEAVE, Leave
from harness.models.tool_text.ranking import IndexedTool, ToolIndex
from harness.models.tool_text.terms import term_set
from harness.types import (
    AssistantMessage,
    JsonObject,
    Message,
    ToolAnswer,
    ToolMessage,
    UserMessage,
    dataclass,
)

_MOST_TRIES = 3
"""Times that a call is made whose error asks to try again; after that, the error is told."""
_RETRY = re.compile(r"\b(?:try|retry) (?:again )?(?:in|after) \d|\bretry-after\b", re.IGNORECASE)
_MEANT = re.compile(
    r"did you mean:?\s+(?:\"([^\"]+)\"|'([^']+)'|`([^`]+)`|([\w./@-]*\w))", re.IGNORECASE
)
_REFUSED = re.compile(
    r"\b(?:denied|forbidden|not "
    r"(?:allowed|permitted|authori[sz]ed)|unauthori[sz]ed|permissions?|polic(?:y|ies)"
    r"|blocked)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call that will be made, or was made."""

    tool: str
    """The tool's name."""
    arguments: JsonObject
    """The arguments that are sent."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Parameter → the user's words for its argument."""

    @property
    def key(self) -> str:
        """A key that is equal for equal calls."""
        return canonical_json([self.tool, self.arguments])


def follow_up(
    call: PlannedCall,
    error: str,
    index: ToolIndex,
    request: ParsedText,
    may_call: Callable[[IndexedTool], bool],
) -> PlannedCall | None:
    """Return the call that an error suggests, or ``None``.

    "Did you mean X?" repeats a reading call with X; an error that names another tool leads to that
    tool, if the request can fill it and permits it, and ``may_call`` says so. A refusal is
    final and never worked around.
    """
    entry = index.find_tool(call.tool)
    # First of all: a refusal may name another tool, and is to be measured, not evaded.
    if _REFUSED.search(error) or entry is None:
        return None
    corrected = _correct_call(call, error, entry)
    return corrected or _follow_referral(call, error, index, request, may_call)


def _correct_call(call: PlannedCall, error: str, entry: IndexedTool) -> PlannedCall | None:
    match = _MEANT.search(error)
    # Another value of a change is not what the user ordered.
    if match is None or not entry.reads:
        return None
    meant = next(group for group in match.groups() if group is not None)
    wrong = _find_blamed(call.arguments, error)
    # The same value would fail again, without end.
    if wrong is None or meant == call.tool or call.arguments[wrong] == meant:
        return None
    arguments = {**call.arguments, wrong: meant}
    said = {wrong: str(call.arguments[wrong])}
    return PlannedCall(tool=call.tool, arguments=arguments, said=said)


def _find_blamed(arguments: JsonObject, error: str) -> str | None:
    """Return the parameter whose value the error repeats, or else the only string parameter."""
    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and value}
    quoted = [name for name, value in texts.items() if value.lower() in error.lower()]
    return quoted[0] if quoted else next(iter(texts)) if len(texts) == 1 else None


def _follow_referral(
    call: PlannedCall,
    error: str,
    index: ToolIndex,
    request: ParsedText,
    may_call: Callable[[IndexedTool], bool],
) -> PlannedCall | None:
    named: list[tuple[int, IndexedTool]] = []
    for entry in index.entries:
        place = re.search(rf"(?<![\w-]){re.escape(entry.tool.name)}(?![\w-])", error)
        if place is None or entry.tool.name == call.tool:
            continue
        if may_call(entry) and is_permitted(request.actions, entry.action):
            named.append((place.start(), entry))
    # In the order in which the error names them.
    for _, entry in sorted(named, key=lambda pair: pair[0]):
        filling = fill_arguments(entry, request)
        arguments: Mapping[str, Any] = filling.arguments[0]
        if arguments and not filling.missing:
            return PlannedCall(tool=entry.tool.name, arguments=arguments, said=filling.said[0])
    return None


_TOLD = re.compile(r"\bUse the tool ([^\s\"'`]{1,128}?)(?: with (?=\{)|[.!]?(?=\s|$))")
_DECODER = json.JSONDecoder()


def explicit_calls(
    prompt: str, index: ToolIndex, today: date, leave: Leave = NO_LEAVE
) -> tuple[Goal, ...]:
    """Return a goal for each call that ``prompt`` spells out, in its order.

    Unknown tools are left out. If a call has no arguments, they are taken from the rest of the
    prompt. A tool that may change something is not called if the sentence is quoted, or no order.
    """
    # The same bound as for reading: places in both texts have to agree.
    prompt = prompt[:LONGEST_TEXT]
    # What stands before the first such sentence: the question that it was added to.
    said = PromptRequest(reading=parse_text(_TOLD.split(prompt)[0], today))
    # Without orders: only the sentence that names a call can order it.
    may = Permission(leave=leave, orders=())
    ordered = {order.start for order in find_instructions(prompt) if order.verb == "use"}
    goals = []
    for tool, arguments, start in _named_calls(prompt):
        entry = index.find_tool(tool)
        if entry is None:
            continue
        # The sentence itself is the order, unless it is quoted or only talked about.
        if start in ordered or may.is_allowed(entry):
            goals.append(_build_goal(entry, said, arguments, may))
        else:
            goals.append(Goal(request=said, held_back=entry, may=may))
    return tuple(goals)


def _named_calls(prompt: str) -> Iterator[tuple[str, dict[str, Any] | None, int]]:
    for told in _TOLD.finditer(prompt):
        try:
            arguments, _ = _DECODER.raw_decode(prompt, told.end())
        # No JSON behind it, or too deep: the arguments are taken from the question.
        except (ValueError, RecursionError):
            arguments = None
        yield told[1], arguments if isinstance(arguments, dict) else None, told.start()


def _build_goal(
    entry: IndexedTool, said: PromptRequest, arguments: dict[str, Any] | None, may: Permission
) -> Goal:
    given = Filling(arguments=(arguments or {},), said=({},))
    filling = fill_arguments(entry, said.reading) if arguments is None else given
    return Goal(request=said, entry=entry, filling=filling, may=may)


_MOST_ROUNDS = 6  # replies with calls per message of the user
_MOST_CALLS = 16  # in one reply
_CONTEXT_TEXTS = 6  # earlier messages and results that are considered


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalProgress:
    """The progress of a goal."""

    goal: Goal
    """The goal."""
    done: tuple[tuple[PlannedCall, ToolAnswer], ...] = ()
    """The calls made for the goal, with their results; look-ups are left out."""
    searched: tuple[PlannedCall, ToolAnswer] | None = None
    """A look-up whose result does not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """The next step."""

    calls: tuple[PlannedCall, ...]
    """Calls to make now; if there are none, it is time to answer."""
    outcomes: tuple[GoalProgress, ...]
    """The goals and results to answer from."""


_Past = Mapping[str, ToolAnswer]


def plan_step(
    conversation: Sequence[Message], index: ToolIndex, today: date, leave: Leave = NO_LEAVE
) -> NextStep:
    """Return the next step of ``conversation``, in which ``leave`` allows changes."""
    places = (n for n, message in enumerate(conversation) if isinstance(message, UserMessage))
    start = max(places, default=-1)
    message = conversation[start] if start >= 0 else None
    prompt = message.text if isinstance(message, UserMessage) else ""
    # Only since the user's last message: an equal call before it was for another question.
    since = conversation[start + 1 :]
    past = _collect_past(since)
    pending: list[PlannedCall] = []
    outcomes: list[GoalProgress] = []
    earlier = _parse_earlier(conversation[: max(0, start)], today)
    # A call that is written out needs no choice, and no other goals beside it.
    wanted = explicit_calls(prompt, index, today, leave)
    for goal in wanted or find_goals(prompt, earlier, index, today, leave):
        if goal.request.after and pending:
            break  # "…, then …": the first request is not finished yet
        calls, outcome = _pursue_goal(goal, past, index, today)
        pending += calls
        outcomes.append(outcome)
    # Two goals may need the same look-up.
    unique = tuple({call.key: call for call in pending}.values())[:_MOST_CALLS]
    rounds = sum(isinstance(one, AssistantMessage) for one in since)
    # After so many rounds it answers with what it has: a server's errors could go on for ever.
    return NextStep(calls=unique if rounds < _MOST_ROUNDS else (), outcomes=tuple(outcomes))


def _collect_past(messages: Sequence[Message]) -> _Past:
    """Return the result of each call that was made, by `Call.key`.

    A call whose error asks to try again later counts as not made, so that it is made again.
    """
    answers = {a.request_id: a for m in messages if isinstance(m, ToolMessage) for a in m.answers}
    replies = (message.reply for message in messages if isinstance(message, AssistantMessage))
    requests = (request for reply in replies for request in reply.tool_requests)
    # By tool and arguments and not by id: calls are derived anew in each reply, without ids.
    made = [
        (PlannedCall(tool=request.tool, arguments=request.arguments).key, answers[request.id])
        for request in requests
        if request.id in answers
    ]
    tries = Counter(key for key, _ in made)
    return {
        key: answer
        for key, answer in made
        if tries[key] >= _MOST_TRIES or not (answer.is_error and _RETRY.search(answer.text))
    }


def _parse_earlier(messages: Sequence[Message], today: date) -> tuple[ParsedText, ...]:
    """Return the messages of users and tools before the last one, the latest first."""
    texts: list[str] = []
    for message in messages:
        if isinstance(message, UserMessage):
            texts.append(message.text[:LONGEST_TEXT])
        elif isinstance(message, ToolMessage):
            asked = term_set(" ".join(texts[-1:]))
            # Words of an error would be taken for values.
            good = (answer.text for answer in message.answers if not answer.is_error)
            texts += [most_relevant(text, asked)[:LONGEST_TEXT] for text in good]
    return tuple(parse_text(text, today) for text in reversed(texts[-_CONTEXT_TEXTS:]))


def _pursue_goal(
    goal: Goal, past: _Past, index: ToolIndex, today: date
) -> tuple[list[PlannedCall], GoalProgress]:
    """Return the calls that a goal needs now, and its progress."""
    if goal.entry is None or goal.filling is None:
        return [], GoalProgress(goal=goal)
    filling = goal.filling
    if goal.lookup is not None and goal.lookup_filling is not None:
        looking = _build_calls(goal.lookup, goal.lookup_filling)[0]
        # One step at a time: what is looked up is an argument of the next call.
        if looking.key not in past:
            return [looking], GoalProgress(goal=goal)
        found = _fill_from_answer(goal, looking, past[looking.key], today)
        if found is None:
            return [], GoalProgress(goal=goal, searched=(looking, past[looking.key]))
        filling = found
    if filling.missing:
        return [], GoalProgress(goal=goal)
    return _carry_out(_build_calls(goal.entry, filling), goal, past, index)


def _fill_from_answer(
    goal: Goal, looking: PlannedCall, answer: ToolAnswer, today: date
) -> Filling | None:
    """Return the goal's arguments, completed by what a look-up returned.

    Before a change, the record must clearly be the one that the user named.
    """
    if goal.entry is None or goal.wanted is None or answer.is_error:
        return None
    changes = not goal.entry.reads
    sought = term_set(" ".join(str(value) for value in looking.arguments.values()))
    value = find_argument(answer.text, goal.wanted, sought, strict=changes)
    if value is None and changes:
        return None
    reading = goal.request.reading
    looked_up = {} if value is None else {goal.wanted.name: value}
    # A result that is only text is read like a message.
    context = goal.context if value is not None else (*goal.context, parse_text(answer.text, today))
    filling = fill_arguments(
        goal.entry, reading, context, refers_back=value is None, looked_up=looked_up
    )
    # Without the value that was sought, the call would be about something else.
    return filling if goal.wanted.name in filling.arguments[0] else None


def _carry_out(
    calls: Sequence[PlannedCall], goal: Goal, past: _Past, index: ToolIndex
) -> tuple[list[PlannedCall], GoalProgress]:
    pending: list[PlannedCall] = []
    done: list[tuple[PlannedCall, ToolAnswer]] = []
    for call in calls:
        answer = past.get(call.key)
        if answer is None:
            pending.append(call)
            continue
        done.append((call, answer))
        further = (
            follow_up(call, answer.text, index, goal.request.reading, goal.may.is_allowed)
            if answer.is_error and goal.may is not None
            else None
        )
        # Followed once: its own error leads nowhere else.
        if further is not None and further.key in past:
            done.append((further, past[further.key]))
        elif further is not None:
            pending.append(further)
    return pending, GoalProgress(goal=goal, done=tuple(done))


def _build_calls(entry: IndexedTool, filling: Filling) -> list[PlannedCall]:
    return [
        PlannedCall(tool=entry.tool.name, arguments=arguments, said=said)
        for arguments, said in zip(filling.arguments, filling.said, strict=True)
    ]
