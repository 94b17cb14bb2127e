"""Each request of a prompt becomes a goal: the tool that is meant, and its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from harness.models.lexical.arguments import Filling, beyond_filling, fill_arguments
from harness.models.lexical.choices import PromptRequest, join_requests, split_halves, split_prompt
from harness.models.lexical.text_parsing import ParsedText
from harness.models.tool_text.actions import Action, is_permitted
from harness.models.tool_text.instructions import Instruction, find_instructions
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.permission import NO_LEAVE, Leave, may_call
from harness.models.tool_text.ranking import IndexedTool, ToolIndex, ToolMatch, says_something
from harness.models.tool_text.terms import stem_word, term_set
from harness.types import dataclass

# These figures were set with the prompts that the baseline was developed on.
_ENOUGH = 0.36  # lowest coverage with which a tool is meant
_ENOUGH_WITH_EVIDENCE = 0.12  # the same when the request gives an id or several arguments that fit
_CANDIDATES = 6  # tools whose arguments are tried
_EVIDENCE = 0.8  # what a fitting argument adds to a tool's score
_INCOMPLETE = 0.6  # factor for a tool that lacks a required argument
# The same if only an id that can be looked up is missing, or text that no prompt contains.
_TO_LOOK_UP = 0.9
# Factor for a tool that reads when a change is requested, or changes when none is.
_OTHER_ACTION = 0.6
_LEFT_OVER = 0.4  # factor for a tool that cannot take the id that the request names
_SAME_AGAIN = 1.25  # factor for the tool of the request before, when this request refers back
# Coverage of "lifetime value" alone, from which "A and B" counts as two requests.
_HALF_ENOUGH = 0.36
_HALF_BETTER = 1.4  # factor by which its tool must beat the other half's tool

_FORBIDS = re.compile(r"(?:please\s+)?(?:do not|don['’]t|never|avoid)\b[^,;:]*\Z", re.IGNORECASE)
_SEARCHES = term_set("search find list lookup look query resolve")
_IDENTIFIES = term_set("id number code key reference name") | {"id"}
_IDENTIFYING = frozenset({"id", "email", "path", "url", "zone"})
_NAMES = frozenset({"name", "email", "phone", "quoted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What may be called for a request."""

    leave: Leave
    """The leave that the suite and the case give."""
    orders: tuple[Instruction, ...]
    """The changes that the user orders in this request."""

    def is_allowed(self, entry: IndexedTool) -> bool:
        """Whether the tool may be called."""
        return may_call(entry.tool, self.leave, self.orders, known_to_read=entry.reads)

    def needs_no_leave(self, entry: IndexedTool) -> bool:
        """Whether the tool may be called whatever the suite and the case say."""
        leave = Leave(reading=self.leave.reading)
        return may_call(entry.tool, leave, self.orders, known_to_read=entry.reads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A request, and the tool and arguments to meet it."""

    request: PromptRequest
    """The request."""
    entry: IndexedTool | None = None
    """The tool; ``None`` when none fits."""
    filling: Filling | None = None
    """The tool's arguments."""
    context: tuple[ParsedText, ...] = ()
    """The text around the request, the nearest first."""
    wanted: Param | None = None
    """A parameter whose value has to be looked up first."""
    lookup: IndexedTool | None = None
    """The tool to look it up with."""
    lookup_filling: Filling | None = None
    """That tool's arguments."""
    held_back: IndexedTool | None = None
    """The tool that fits better, but may change something that nobody asked for."""
    may: Permission | None = None
    """What may be called for it."""


def find_goals(
    prompt: str,
    earlier: Sequence[ParsedText],
    index: ToolIndex,
    today: date,
    leave: Leave = NO_LEAVE,
) -> tuple[Goal, ...]:
    """Return the goals of ``prompt``, in its order.

    ``earlier`` holds the earlier messages, the latest first. Only ``prompt`` itself can order a
    change, and ``leave`` can allow one.
    """
    requests = split_prompt(prompt, today)
    orders = find_instructions(prompt)
    found: list[Goal] = []
    for place, request in enumerate(requests):
        # A prohibition beside other requests asks for nothing of its own.
        if len(requests) > 1 and _FORBIDS.match(request.reading.text):
            continue
        # The nearest first, and those before it before those after it: "it" points backwards.
        others = [other.reading for other in (*reversed(requests[:place]), *requests[place + 1 :])]
        before = found[-1].entry if found else None
        may = Permission(leave=leave, orders=_select_instructions(request, orders))
        for part in _split_request(request, index, today):
            # A half lacks what the other half says, such as the customer that both are about.
            whole = () if part is request else (request.reading,)
            goal = _build_goal(part, (*whole, *others, *earlier), index, before, may)
            found.append(_add_lookup(_continue_goal(goal, found[-1] if found else None), index))
    return _merge_goals(found, index, today)


def _select_instructions(
    request: PromptRequest, orders: tuple[Instruction, ...]
) -> tuple[Instruction, ...]:
    """Return those of the prompt's orders whose verb this request says."""
    said = {word.text for word in request.reading.words if not word.in_value}
    return tuple(order for order in orders if order.verb in said)


def _split_request(request: PromptRequest, index: ToolIndex, today: date) -> list[PromptRequest]:
    """Split "lifetime value and top categories" into two requests if two tools clearly match."""
    pair = split_halves(request, today)
    if pair is None:
        return [request]
    actions = request.reading.actions
    ranked = [_rank_permitted(half.query_terms(), (), actions, index) for half in pair]
    if not all(ranked):
        return [request]
    left, right = ranked[0][0], ranked[1][0]
    if left.entry is right.entry or min(left.coverage, right.coverage) < _HALF_ENOUGH:
        return [request]
    for own, matches, other in ((left, ranked[0], right), (right, ranked[1], left)):
        # A half that the other tool fits nearly as well gives no reason for two calls.
        rival = next(match.score for match in matches if match.entry is other.entry)
        if own.score < _HALF_BETTER * rival:
            return [request]
    # The verb of the whole holds for both halves, only one of which says it.
    return [replace(request, reading=replace(half, actions=actions)) for half in pair]


def _rank_permitted(
    query: Iterable[str], mentions: Iterable[str], actions: frozenset[Action], index: ToolIndex
) -> list[ToolMatch]:
    ranked = index.rank_tools(query, mentions)
    return [match for match in ranked if is_permitted(actions, match.entry.action)]


def _build_goal(
    request: PromptRequest,
    context: tuple[ParsedText, ...],
    index: ToolIndex,
    before: IndexedTool | None,
    may: Permission,
) -> Goal:
    reading = request.reading
    # Words in values may name the subject ("table orders"), but say nothing against a tool.
    mentions = [word.term for word in reading.words if word.in_value and not word.is_stop]
    matches = _rank_permitted(reading.query_terms(), mentions, reading.actions, index)
    best = _choose_best(matches, request, context, before)
    held_back = None
    if best is not None and not may.is_allowed(best[1]):
        # The tool that the case expects gets no advantage over others: it is chosen, or it is not.
        held_back = best[1]
        free = [match for match in matches if may.needs_no_leave(match.entry)]
        best = _choose_best(free, request, context, before)
    goal = Goal(request=request, context=context, held_back=held_back, may=may)
    return goal if best is None else replace(goal, entry=best[1], filling=best[2])


def _choose_best(
    matches: Sequence[ToolMatch],
    request: PromptRequest,
    context: tuple[ParsedText, ...],
    before: IndexedTool | None,
) -> tuple[float, IndexedTool, Filling] | None:
    best: tuple[float, IndexedTool, Filling] | None = None
    # To fill a tool takes longer than to rank it; what is far behind does not win by arguments.
    for match in matches[:_CANDIDATES]:
        filling = _fill_tool(match.entry, request, context)
        score = _score_match(match, filling, request, before)
        if _is_meant(match, filling, request.reading) and (best is None or score > best[0]):
            best = (score, match.entry, filling)
    return best


def _continue_goal(goal: Goal, before: Goal | None) -> Goal:
    """Let "and what is their total?" reuse the arguments of the same tool before it."""
    if before is None or before.filling is None or goal.filling is None:
        return goal
    if goal.entry is not before.entry:
        return goal
    # Of several calls before, "their" may mean each of them.
    if not goal.request.refers_back or len(before.filling.arguments) > 1:
        return goal
    known = before.filling.arguments[0]
    # What this request says itself counts more.
    arguments = tuple({**known, **own} for own in goal.filling.arguments)
    missing = tuple(param for param in goal.filling.missing if param.name not in known)
    return replace(goal, filling=replace(goal.filling, arguments=arguments, missing=missing))


def _fill_tool(
    entry: IndexedTool, request: PromptRequest, context: Sequence[ParsedText]
) -> Filling:
    """Fill a tool.

    The request itself must name what is deleted, or refer to it ("delete it").
    """
    # An id from an earlier message must not be deleted because a later one is vague.
    known = () if entry.action == "delete" and not request.refers_back else context
    return fill_arguments(entry, request.reading, known, refers_back=request.refers_back)


def _is_meant(match: ToolMatch, filling: Filling, reading: ParsedText) -> bool:
    # One argument may fit by chance, but hardly one that looks like an id.
    sure = filling.evidence > 1 or any(value.kind in _IDENTIFYING for value in filling.used)
    # Words such as "show" fit every tool: only arguments tell which one is meant.
    if reading.actions and not says_something(reading.query_terms()):
        # "Show CUST_00042" contains only the value.
        return filling.evidence > 0 and not filling.missing
    return match.coverage >= (_ENOUGH_WITH_EVIDENCE if sure else _ENOUGH)


def _score_match(
    match: ToolMatch, filling: Filling, request: PromptRequest, before: IndexedTool | None
) -> float:
    score = match.score + _EVIDENCE * filling.evidence
    if filling.missing:
        # What no prompt contains is missing for each such tool, and tells nothing against this one.
        honest = all(beyond_filling(param, match.entry.tool) for param in filling.missing)
        score *= _TO_LOOK_UP if honest or _can_be_looked_up(filling) else _INCOMPLETE
    if match.entry.action == "read" and request.reading.actions - {"read"}:
        score *= _OTHER_ACTION
    if match.entry.action not in (None, "read") and not request.reading.actions:
        score *= _OTHER_ACTION
    if any(value.kind in _IDENTIFYING for value in filling.unused):
        score *= _LEFT_OVER
    if match.entry is before and request.refers_back:
        score *= _SAME_AGAIN
    return score


def _can_be_looked_up(filling: Filling) -> bool:
    return _names_something(filling) and all(
        param.name_terms & _IDENTIFIES for param in filling.missing
    )


def _names_something(filling: Filling) -> bool:
    return any(value.kind in _NAMES for value in filling.unused)


def _add_lookup(goal: Goal, index: ToolIndex) -> Goal:
    """Add the tool that finds the id of something that is given by name."""
    if goal.entry is None or goal.filling is None:
        return goal
    named = _names_something(goal.filling)
    given = goal.filling.arguments[0]
    for param in goal.entry.params:
        identifies = param.name_terms & _IDENTIFIES and param.name not in given
        is_sought = param in goal.filling.missing or (identifies and named)
        if not is_sought or beyond_filling(param, goal.entry.tool) is not None:
            continue
        if found := _find_lookup(param, goal, index):
            return replace(goal, wanted=param, lookup=found[0], lookup_filling=found[1])
    return goal


def _find_lookup(param: Param, goal: Goal, index: ToolIndex) -> tuple[IndexedTool, Filling] | None:
    """Return the search tool that is about what ``param`` names and that the request can fill."""
    # A bare `id` names no thing: then the words of the request do.
    things = param.name_terms - _IDENTIFIES or frozenset(goal.request.reading.query_terms())
    query = (*sorted(things), stem_word("search"), stem_word("find"))
    for match in index.rank_tools(query):
        entry = match.entry
        words = entry.weights.keys()
        speaks = words & things and words & _SEARCHES
        # A look-up is the baseline's own idea: it must not change anything.
        if entry is goal.entry or not speaks or entry.action not in (None, "read"):
            continue
        if goal.may is None or not goal.may.is_allowed(entry):
            continue
        filling = fill_arguments(entry, goal.request.reading)
        # Before a change, the name must clearly be what is looked up.
        sure = filling.evidence > 0 or goal.entry is None or goal.entry.action in (None, "read")
        given = filling.arguments[0]
        if sure and given and not filling.missing and param.name not in given:
            return entry, filling
    return None


def _merge_goals(found: list[Goal], index: ToolIndex, today: date) -> tuple[Goal, ...]:
    """Join a request that fits no tool to the goal before it.

    Example: "List orders. Only those of 2024."
    """
    merged: list[Goal] = []
    for goal in found:
        before = merged[-1] if merged else None
        asks_nothing = goal.entry is None and not goal.request.reading.actions
        if asks_nothing and before is not None and before.entry is not None:
            # Read again as one text: a value may now stand beside the words that say what it is.
            request = join_requests(before.request, goal.request, today)
            filling = _fill_tool(before.entry, request, before.context)
            whole = replace(before, request=request, filling=filling)
            merged[-1] = _add_lookup(whole, index)
        else:
            merged.append(goal)
    return tuple(merged)
