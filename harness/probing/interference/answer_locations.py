"""Split an answer into places, so that two answers can be compared without varying places.

There is one record for each call with either set of data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from harness.base import load_json, make_one_line, shorten_text
from harness.judging import Leaf, Result, fold_text, is_masked
from harness.probing.caller_views import NO_ANSWER, get_caller_name, get_facts
from harness.probing.interference.data_sets import Which
from harness.types import (
    STDERR,
    DependentTool,
    SideContent,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
    dataclass,
)

Kind: TypeAlias = Literal["outcome", "items", "value", "word", "words", "keys", "whole"]
"""``outcome``: how the call ended. ``items``: the length of a list. ``value``: a scalar. ``word``,
``words``: a word of a text that is not JSON, and the number of words. ``keys``: the names of an
object's fields, in order. ``whole``: the size and the digest of the whole result."""

RESULT, TEXT, TOOLS = "the result", "the text", "the list of tools"
# Every character is in some word, so that joined words are the text again (see below).
_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_SHOWN = 80
_AROUND = 6
"""Number of words that messages show on either side of a different word."""


class AnswerLocation(NamedTuple):
    """One place of an answer."""

    channel: str
    """The part of the answer: `RESULT`, `TEXT`, ``_meta of the result`` …"""
    kind: Kind
    """The kind of place."""
    path: tuple[str | int, ...] = ()
    """Names of fields, and positions from 0."""

    @property
    def description(self) -> str:
        """The place in words: ``members[0].name``."""
        path = ""
        for step in self.path:
            if isinstance(step, int):
                path += f"[{step}]"
            else:
                path += f".{step}" if path else step
        inner = path if self.channel == RESULT else f"{path} in {self.channel}"
        named = inner if path else self.channel
        return {
            "outcome": "the outcome",
            "items": f"the number of items in {named}",
            "word": self.channel,
            "words": f"the number of words in {self.channel}",
            "keys": f"the fields of {named}",
            "whole": f"the {path} of the whole result",
        }.get(self.kind, named)

    @property
    def generic_key(self) -> tuple[str, str, tuple[str, ...]]:
        """The place without positions, which is equal for all rows of a list."""
        path = tuple(step for step in self.path if isinstance(step, str))
        return self.channel, self.kind, path


Places: TypeAlias = Mapping[AnswerLocation, str]
"""Place → its content as JSON."""


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """A place whose content is constant with A and constant with B, but different."""

    place: AnswerLocation
    """The place."""
    in_a: str | None
    """Its content with A; ``None``: A has no such place."""
    in_b: str | None
    """Its content with B."""

    @property
    def description(self) -> str:
        """The difference, on a line."""
        both = ("nothing" if one is None else make_one_line(one) for one in (self.in_a, self.in_b))
        a, b = (shorten_text(one, _SHOWN) for one in both)
        return f"{self.place.description} is {a} in A, {b} in B"


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """The comparison of the answers to one call."""

    differences: tuple[AnswerDifference, ...]
    """The differences, the most significant first."""
    varying: frozenset[AnswerLocation]
    """Places that differ with equal data, so that they are no evidence."""


def collect_call_locations(call: ToolCall) -> Places:
    """Return all places of a call's answer, except for its duration."""
    ended = f"{call.outcome} ({call.error_code})" if call.error_code is not None else call.outcome
    found: dict[AnswerLocation, str] = {AnswerLocation(RESULT, "outcome"): ended}
    if call.structured is not None:
        found |= dict(_locate_json(RESULT, call.structured))
    found |= _locate_text(TEXT, call.text)
    found |= collect_side_locations(call.beside)
    # The whole also shows what no place does, such as white space.
    found[AnswerLocation(RESULT, "whole", ("size",))] = str(call.result_bytes)
    if call.result_sha256 is not None:
        found[AnswerLocation(RESULT, "whole", ("digest",))] = call.result_sha256
    return found


def collect_side_locations(asides: Iterable[SideContent]) -> Places:
    """Return the places of messages outside of results; the server's stderr is left out."""
    found: dict[AnswerLocation, str] = {}
    count: dict[str, int] = {}
    for aside in asides:
        if STDERR in aside.place or not aside.text:
            continue
        count[aside.place] = number = count.get(aside.place, 0) + 1
        found |= _locate_text(aside.place if number == 1 else f"{aside.place} {number}", aside.text)
    return found


def collect_tool_locations(tools: ToolList) -> Places:
    """Return the places of a list of tools."""
    declared = {
        tool.name: {
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
        }
        for tool in tools.tools
    }
    return dict(_locate_json(TOOLS, declared))


def compare_answers(a: Sequence[Places], b: Sequence[Places]) -> AnswerComparison:
    """Compare the answers to one call with data set A and with data set B."""
    steady_a, varying_a = _find_constant_locations(a)
    steady_b, varying_b = _find_constant_locations(b)
    varying = varying_a | varying_b
    # If a list varies in length, its rows cannot be matched by their positions.
    lists = [place for place in varying if place.kind in ("items", "words")]
    left_out = {
        place
        for place in {*steady_a, *steady_b}
        for each in lists
        if each.channel == place.channel and each.path == place.path[: len(each.path)]
    }
    found = [
        AnswerDifference(
            place,
            _format_difference(place, steady_a.get(place), a[0]),
            _format_difference(place, steady_b.get(place), b[0]),
        )
        for place in {**steady_a, **steady_b}
        if place not in varying | left_out
        and steady_a.get(place) != steady_b.get(place)
        and not (place.kind == "whole" and varying)
    ]
    found.sort(key=lambda one: get_args(Kind).index(one.place.kind))
    # Many servers give the same JSON in both forms of a result: it is shown once.
    structured = {one.place for one in found}
    again = {place._replace(channel=TEXT) for place in structured if place.channel == RESULT}
    once = tuple(one for one in found if one.place not in again)
    return AnswerComparison(once, frozenset(varying | left_out))


def may_depend(place: AnswerLocation, tool: str, released: Iterable[DependentTool]) -> bool:
    """Whether the suite allows ``place`` of an answer of ``tool`` to depend on the value."""
    names = {fold_text(step) for step in place.path if isinstance(step, str)}
    return any(
        one.tool == tool
        and (not one.fields or bool(names & {fold_text(name) for name in one.fields}))
        for one in released
    )


def _find_constant_locations(
    answers: Sequence[Places],
) -> tuple[dict[AnswerLocation, str], set[AnswerLocation]]:
    """Return the places that are equal in all ``answers``, and those that vary."""
    steady: dict[AnswerLocation, str] = {}
    varying: set[AnswerLocation] = set()
    for place in {place: None for answer in answers for place in answer}:
        values = {answer.get(place) for answer in answers}
        # A place that only some of the answers have varies, too.
        if len(values) == 1 and (value := values.pop()) is not None:
            steady[place] = value
        else:
            varying.add(place)
    return steady, varying


def _format_difference(place: AnswerLocation, value: str | None, answer: Places) -> str | None:
    """Return ``value`` for messages: a word together with the words around it."""
    if place.kind != "word" or value is None:
        return value
    (position,) = place.path
    assert isinstance(position, int)
    near = range(position - _AROUND, position + _AROUND + 1)
    words = [answer.get(AnswerLocation(place.channel, "word", (each,)), "") for each in near]
    return json.dumps("".join(words).strip(), ensure_ascii=False)


def _locate_text(channel: str, text: str) -> dict[AnswerLocation, str]:
    try:
        value = load_json(text)
    except ValueError:
        value = text
    if isinstance(value, dict | list):
        return dict(_locate_json(channel, value))
    words = _WORD.findall(text)
    found = {AnswerLocation(channel, "word", (number,)): word for number, word in enumerate(words)}
    return {AnswerLocation(channel, "words"): str(len(words)), **found}


def _locate_json(channel: str, value: Any) -> Iterator[tuple[AnswerLocation, str]]:
    """Yield every scalar, every object's keys and every list's length, at any depth."""
    # A list of what is left, since answers may be nested deeper than Python recurses.
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping):
            yield AnswerLocation(channel, "keys", path), json.dumps([*part], ensure_ascii=False)
            waiting.extend(reversed([((*path, str(key)), each) for key, each in part.items()]))
        elif isinstance(part, list | tuple):
            yield AnswerLocation(channel, "items", path), str(len(part))
            waiting.extend(reversed([((*path, key), each) for key, each in enumerate(part)]))
        else:
            yield AnswerLocation(channel, "value", path), json.dumps(part, ensure_ascii=False)


Stage: TypeAlias = Literal["own", "further", "again"]
"""``own``: the regular calls. ``further``: calls with tampered arguments, and those that contain
the value. ``again``: repeated suspicious calls."""
SHOWN = "what is shown before any call"
"""In place of a call: the list of tools, the server's instructions, lists of resources …"""


class CallerCall(NamedTuple):
    """A caller and its call."""

    caller: str
    """Name of the caller."""
    call: str
    """The call's name in tables, or `SHOWN`."""


@dataclass(frozen=True)
class Record:
    """One answered call."""

    asked: CallerCall
    """Who asked what."""
    which: Which
    """With which data."""
    stage: Stage
    """What for."""
    run: TrialResult
    """The call."""
    transcript: Transcript
    """What happened."""
    tools: ToolList
    """The tools that the caller was shown."""

    @property
    def tool(self) -> str:
        """The tool that was called."""
        return str(get_facts(self.run)["tool"])

    @cached_property
    def result(self) -> Result | None:
        """The call and its answer; ``None`` if no session was opened."""
        calls = self.transcript.tool_calls
        return Result(call=calls[0]) if calls else None

    @cached_property
    def locations(self) -> Places:
        """The places of the answer."""
        if self.asked.call == SHOWN:
            beside = collect_side_locations(self.transcript.beside)
            return {**collect_tool_locations(self.tools), **beside}
        if self.result is None:
            # A refused session is an answer, too: it may depend on the value.
            how = self.transcript.refused_words
            return {AnswerLocation(RESULT, "outcome"): f"no session ({how})"}
        return collect_call_locations(self.result.call)

    def find_leaves(self, name: str) -> Iterator[Leaf]:
        """Yield the unmasked fields of that name in a successful answer, of one channel."""
        if self.asked.call == SHOWN or self.result is None or self.result.call.outcome != "ok":
            return
        named = [
            leaf
            for leaf in self.result.leaves
            if fold_text(leaf.name) == fold_text(name) and not is_masked(leaf.value)
        ]
        # The field is often in both forms of the result: one is compared.
        form = named[0].channel if named else ""
        yield from (leaf for leaf in named if leaf.channel == form)


def build_records(
    result: TrialResult, transcript: Transcript | None, tools: ToolList
) -> Iterator[Record]:
    """Yield the record of a trial, and for a caller's first call also one for `SHOWN`.

    A call without an answer has no record.
    """
    facts = get_facts(result)["data"]
    if transcript is None or facts["call"] is None:
        return
    calls = transcript.tool_calls
    if calls and calls[0].outcome in NO_ANSWER:
        return
    if not calls and transcript.refused_status is None:
        return
    names = [facts["call"], *([SHOWN] if facts["first"] and calls else [])]
    for name in names:
        yield Record(
            asked=CallerCall(get_caller_name(result), name),
            which=facts["which"],
            stage=facts["stage"],
            run=result,
            transcript=transcript,
            tools=tools,
        )
