"""Views: what one identity saw in one trial, with results split into fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.base import canonical_json, digest_json, load_json
from harness.judging.matching.texts import fold_text
from harness.judging.policy.comparable_values import NOTHING, JsonRecord
from harness.types import JsonObject, Refusal, SideContent, ToolCall, ToolList, dataclass

CallKey: TypeAlias = tuple[str, str]
"""Tool and arguments as canonical JSON: equal keys mean equal calls."""
Channel: TypeAlias = Literal["structured", "text"]
"""The two forms of a result."""

_MAX_FIELDS = 5_000
"""Maximum number of fields of one result that are compared."""
# A name has no digits: `Written at 10:30` is a time, not a field.
# The emphasis of a name may end after its colon: `**Salary:** 5`.
_LINE = re.compile(
    r"^[\s>*+|#-]*(?P<name>[^\W\d][^\W\d]*(?:[ -][^\W\d]+){0,3})[*_`]*\s*[:=|]"
    r"(?:\*\*)?\s*[*_`]*(?P<value>\S.{0,400}?)[\s*_`|]*$"
)
# Names may contain underscores (`_id`): they are emphasis only if they close after the name or at
# the end of the line.
_UNDERSCORED = re.compile(
    r"^([\s>*+|#-]*)(_{1,3})(?=[^\W\d_])"
    r"([^:=|]{1,80}?[:=|]?|(?:(?!\s_).){1,500}?(?=\2\s*$))\2(?!\w)"
)


class Leaf(NamedTuple):
    """One scalar in a result."""

    path: str
    """Its path; all items of a list share one path: ``customers[].email``."""
    name: str
    """Its key; empty for a bare value."""
    value: Any
    """The scalar."""
    record: JsonRecord
    """The object that contains it: the record that it belongs to."""
    channel: Channel
    """The form of the result that contains it."""

    def describe_place(self, call: str) -> str:
        """Return in words where it is in the result of ``call``."""
        form = "structured result" if self.channel == "structured" else "text"
        return f"the {form} of {call}: {self.path or self.name}"


@dataclass(frozen=True, kw_only=True)
class Result:
    """A recorded call, with its result split into fields."""

    call: ToolCall
    """The recorded call."""

    @cached_property
    def key(self) -> CallKey:
        """Tool and arguments."""
        return self.call.tool, canonical_json(self.call.arguments)

    @cached_property
    def requested_record(self) -> JsonRecord:
        """The arguments, as the record that the call requests."""
        return JsonRecord(self.call.arguments)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of call, outcome and result: equal for equal answers to equal calls."""
        return digest_json([*self.key, self.call.outcome, self.call.text, self.call.structured])

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All fields of the structured result, and of a text of JSON or ``name: value`` lines."""
        found = [*_iterate_leaves(self.call.structured, "structured"), *self._text_leaves]
        return tuple(found)

    @cached_property
    def is_prose(self) -> bool:
        """Whether the text is not JSON."""
        return not isinstance(self.text_json, dict | list)

    @cached_property
    def leaves_by_place(self) -> Mapping[tuple[Channel, str], Sequence[Leaf]]:
        """The fields by form of the result and path."""
        found: dict[tuple[Channel, str], list[Leaf]] = {}
        for leaf in self.leaves:
            found.setdefault((leaf.channel, leaf.path), []).append(leaf)
        return found

    @cached_property
    def paths(self) -> Mapping[Channel, frozenset[str]]:
        """The paths of the fields by form of the result."""
        found: dict[Channel, set[str]] = {}
        for channel, path in self.leaves_by_place:
            found.setdefault(channel, set()).add(path)
        return {channel: frozenset(paths) for channel, paths in found.items()}

    @cached_property
    def text_json(self) -> Any:
        """The text parsed as JSON; ``None`` if it is not JSON."""
        try:
            return load_json(self.call.text)
        except ValueError:
            return None

    @property
    def _text_leaves(self) -> Iterator[Leaf]:
        if not self.is_prose:
            yield from _iterate_leaves(self.text_json, "text")
        # An error is prose: `Error: no access` has no field of that name.
        elif self.call.outcome == "ok":
            yield from _parse_lines(self.call.text)


# By identity: equal views of two trials are two.
@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """What one identity saw in one trial."""

    identity: str
    """Name of the identity."""
    calls: tuple[ToolCall, ...]
    """The recorded calls in order."""
    tools: ToolList = field(default_factory=lambda: ToolList(tools=()))
    """The tools that were listed for this identity."""
    beside: tuple[SideContent, ...] = ()
    """What the server sent outside of results and tool lists."""
    answer: str = ""
    """The model's final answer, which the user sees."""
    known: tuple[str, ...] = ()
    """Texts that the identity itself sent: prompts, its own attributes. Their content is no
    secret."""
    attributes: JsonObject = field(default_factory=dict)
    """The identity's attributes: a record with the same ids is its own."""
    suite: str = ""
    """Name of the suite, for leaks."""
    case: str = ""
    """Name of the case, for leaks."""
    group: str = ""
    """Trials of one group ask the same question; decisions are determined by group."""
    key: str = ""
    """Identifies the trial in leaks."""
    nobody: bool = False
    """Whether the caller is anonymous: an identity without attributes."""
    meant: bool = False
    """Whether the suite expects the identity's request to be allowed."""
    masks: Mapping[str, float] = field(default_factory=dict)
    """Field in lower case → the share that a mask may leave readable by the suite, from 0 to 1;
    for other fields it is `harness.judging.secrecy.masks.MOST_READABLE`."""
    refused: bool = False
    """Whether the server refused this identity a session."""
    refused_by: Refusal = "http_status"
    """The form of that refusal."""
    rightful: bool = True
    """Whether the identity may see what it saw; false if the suite says that it must not."""

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The calls with their results split into fields."""
        return tuple(Result(call=call) for call in self.calls)

    @cached_property
    def tool_names(self) -> frozenset[str]:
        """Names of the listed tools."""
        return frozenset(tool.name for tool in self.tools.tools)


def _iterate_leaves(value: Any, channel: Channel) -> Iterator[Leaf]:
    """Yield every scalar of a JSON value at any depth."""
    waiting: list[tuple[str, str, Any, JsonRecord]] = [("", "", value, NOTHING)]
    left = _MAX_FIELDS
    while waiting and left:
        path, name, part, record = waiting.pop()
        if isinstance(part, Mapping):
            inner = JsonRecord(part)
            inside = [
                (f"{path}.{key}" if path else str(key), str(key), each, inner)
                for key, each in part.items()
            ]
            # A stack gives what was put on it last: reversed, fields keep their order.
            waiting.extend(reversed(inside))
        elif isinstance(part, list | tuple):
            waiting.extend((f"{path}[]", name, each, record) for each in reversed(part))
        # As a whole, null is no result; inside one it is an empty field.
        elif value is not None:
            left -= 1
            yield Leaf(path, name, part, record, channel)


def _parse_lines(text: str) -> Iterator[Leaf]:
    """Yield ``name: value`` lines as fields."""
    # Emphasis in stars, which `_LINE` can leave out without cutting names with underscores.
    lines = (_UNDERSCORED.sub(r"\1**\3**", line) for line in text.splitlines()[:_MAX_FIELDS])
    pairs = [
        (fold_text(match["name"]), match["value"]) for line in lines if (match := _LINE.match(line))
    ]
    names = [name for name, _ in pairs]
    # A repeated name starts another record, but lines do not show where a record ends.
    record = NOTHING if len(set(names)) < len(names) else JsonRecord(dict(pairs))
    for name, value in pairs:
        yield Leaf(name, name, value, record, "text")
