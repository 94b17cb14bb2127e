"""Fills a tool's parameters from a request.

The order is: what the request names by a word (enums, aliases, flags); the values in it, each for
the parameter that it fits best; plain words; earlier messages; the defaults. An optional parameter
without evidence is not sent.

The baseline copies words of the prompt and invents nothing, so it cannot fill some parameters. The
reason is told to people, so it has to be true: where name and description leave it open what a
parameter takes, there is none. ``code`` may be a postal code, ``expression`` a cron expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from harness.models.lexical.affinity import CONVINCING, PLAUSIBLE, fit_argument, leaves_out
from harness.models.lexical.choices import ArgumentMatch, named_choices, named_flag
from harness.models.lexical.phrases import find_free_text
from harness.models.lexical.text_parsing import ParsedText, find_nearby
from harness.models.lexical.text_values import TextValue
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.ranking import IndexedTool
from harness.models.tool_text.terms import first_sentence, split_words, term_set, word_set
from harness.types import Tool, dataclass

_MOST_CALLS = 8  # calls made for one request about several items
_SEVERAL: frozenset[str] = frozenset(
    {"id", "code", "name", "zone", "path", "file", "quoted", "email", "glob", "tag"}
)
_KIND_OF = term_set("type kind")
_COUNTED = term_set("id number issue key") | {"no"}
_AND = re.compile(
    r"(?:\W|['’]s\b|\b(?:and|or|vs|versus|with|plus|to|that|of|the|for|as well as)\b)*",
    re.IGNORECASE,
)
_JOINT = re.compile(r",|&|\b(?:and|or|vs|versus|with|plus|to)\b", re.IGNORECASE)
_CONTEXT = 2.5  # lowest score for a value from an earlier message
_POINTED_TO = 4.0  # the same for an optional parameter, when the request refers back


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """The arguments that a request gives to a tool."""

    arguments: tuple[Mapping[str, Any], ...]
    """The arguments of each call: a request for two companies is two calls."""
    said: tuple[Mapping[str, str], ...] = ()
    """For each call: parameter → the user's words for its argument."""
    missing: tuple[Param, ...] = ()
    """Required parameters for which no value was found."""
    used: tuple[TextValue, ...] = ()
    """Values of the request that became arguments."""
    unused: tuple[TextValue, ...] = ()
    """Values of the request that did not become arguments."""
    evidence: float = 0.0
    """Number of arguments that the request clearly gives: evidence for the tool."""


@dataclass(slots=True, kw_only=True)
class _FillingProgress:
    """A filling in progress."""

    found: dict[str, list[ArgumentMatch]] = field(default_factory=dict)
    taken: list[tuple[int, int]] = field(default_factory=list)

    def give_value(
        self, param: Param, found: Sequence[ArgumentMatch], *, take: bool = True
    ) -> None:
        if found:
            self.found[param.name] = list(found)
            self.taken += [(one.start, one.end) for one in found] if take else []

    def is_taken(self, start: int, end: int) -> bool:
        return any(start < other_end and other_start < end for other_start, other_end in self.taken)


def fill_arguments(
    entry: IndexedTool,
    reading: ParsedText,
    context: Sequence[ParsedText] = (),
    *,
    refers_back: bool = False,
    looked_up: Mapping[str, Any] | None = None,
) -> Filling:
    """Return the arguments that ``reading`` gives to a tool.

    ``context`` holds the messages before and after, the nearest first; they supply what the request
    itself leaves out. With ``refers_back`` ("their orders"), ids in them also fill optional
    parameters. ``looked_up`` holds values that other tools have returned.
    """
    work = _FillingProgress()
    _fill_from(entry, entry.params, reading, work)
    # Before the context is read: only the request itself speaks for a tool. By place, since one
    # period fills two parameters and is one piece of evidence.
    clear = (found[0] for found in work.found.values() if found[0].score >= CONVINCING)
    evidence = float(len({one.start for one in clear}))
    for earlier in context:
        _fill_from_context(entry.params, earlier, work, refers_back=refers_back)
    values: dict[str, Any] = {}
    for param in entry.params:
        if param.name in work.found:
            values[param.name] = _build_argument(param, work.found[param.name])
        # After direct values and before look-ups: its properties are read like parameters.
        elif param.kind == "object":
            _fill_object(entry, param, reading, values)
        elif param.name in (looked_up or {}):
            values[param.name] = (looked_up or {})[param.name]
        elif param.required:
            _fill_otherwise(param, values)
    missing = tuple(param for param in entry.params if param.required and param.name not in values)
    arguments, said = _spread_values(entry.params, values, work.found)
    used = tuple(value for value in reading.values if work.is_taken(value.start, value.end))
    unused = tuple(value for value in reading.values if value not in used)
    return Filling(
        arguments=arguments,
        said=said,
        missing=missing,
        used=used,
        unused=unused,
        evidence=evidence,
    )


def _fill_from(
    entry: IndexedTool, params: Sequence[Param], reading: ParsedText, work: _FillingProgress
) -> None:
    # Each request for the tool says these words; they cannot turn on a flag as well.
    known = term_set(f"{entry.tool.name} {first_sentence(entry.tool.description)}")
    for param in params:
        if param.kind == "boolean":
            flag = named_flag(param, reading, known)
            # Not taken: the word that sets a flag may also be part of a value or of plain words.
            work.give_value(param, [flag] if flag else [], take=False)
        else:
            target = param.items if param.kind == "array" and param.items else param
            work.give_value(param, named_choices(target, reading))
    # After words that name a choice, which are certain, and before plain words, which are guesses.
    _match_values(params, reading, work, PLAUSIBLE, CONVINCING)
    tool_terms = term_set(entry.tool.name)
    kinds = [
        one.end for p in params if p.name_terms & _KIND_OF for one in work.found.get(p.name, ())
    ]
    for param in params:
        # Weak words fill an optional parameter only if nothing else was understood.
        wanted = param.required or not work.found
        if param.name not in work.found and _takes_text(param):
            one = find_free_text(param, reading, entry.vocabulary, tool_terms, kinds)
            is_sure = one is not None and (wanted or one.score >= CONVINCING)
            if one and is_sure and not work.is_taken(one.start, one.end):
                work.give_value(param, [one])


def _takes_text(param: Param) -> bool:
    return param.kind in ("string", "any") or (
        param.kind == "array" and bool(param.items and _takes_text(param.items))
    )


def _match_values(
    params: Sequence[Param],
    reading: ParsedText,
    work: _FillingProgress,
    required: float,
    optional: float,
) -> None:
    """Give each value to the parameter that it fits best, the most certain pairs first."""
    # By id(): values are compared with every parameter, and looking around them takes time.
    around = {id(value): find_nearby(value, reading) for value in reading.values}
    pairs: list[tuple[float, int, int, ArgumentMatch, TextValue]] = []
    for place, param in enumerate(params):
        if param.name in work.found:
            continue
        target = param.items if param.kind == "array" and param.items else param
        for value in reading.values:
            if leaves_out(param, value, around[id(value)]):
                continue
            found = fit_argument(target, value, around[id(value)])
            if found is not None and found.score >= (required if param.required else optional):
                pairs.append((-found.score, value.start, place, found, value))
    # By text and schema where scores are equal: the same prompt must give the same call.
    for _, _, place, found, value in sorted(pairs, key=lambda pair: pair[:3]):
        param = params[place]
        shared = value.period is not None  # one period gives a first and a last day
        first = param.name not in work.found
        is_free = shared or not work.is_taken(found.start, found.end)
        if is_free and (first or _goes_along(param, work.found[param.name], found, value, reading)):
            work.found.setdefault(param.name, []).append(found)
            work.taken += [] if shared else [(found.start, found.end)]


def _goes_along(
    param: Param,
    have: Sequence[ArgumentMatch],
    more: ArgumentMatch,
    value: TextValue,
    reading: ParsedText,
) -> bool:
    """Whether ``more`` belongs to the same parameter as ``have``: "Apple and Microsoft"."""
    if param.kind == "array":
        return True
    if value.kind not in _SEVERAL and not (value.kind == "number" and param.name_terms & _COUNTED):
        return False
    return len(have) < _MOST_CALLS and any(_are_joined(one, more, reading.text) for one in have)


def _are_joined(one: ArgumentMatch, other: ArgumentMatch, text: str) -> bool:
    first, second = sorted((one, other), key=lambda found: found.start)
    between = text[first.end : second.start]
    return _JOINT.search(between) is not None and _AND.fullmatch(between) is not None


def _fill_from_context(
    params: Sequence[Param], reading: ParsedText, work: _FillingProgress, *, refers_back: bool
) -> None:
    """Take from other messages only what this call requires, or what it refers back to."""
    lacking = [p for p in params if p.name not in work.found and (p.required or refers_back)]
    # A progress of its own: places in another text must not count as taken in the request.
    elsewhere = _FillingProgress()
    for param in lacking:
        if param.required and param.kind != "boolean":
            elsewhere.give_value(param, named_choices(param, reading)[:1])
    # Higher scores than in the request itself: what stands elsewhere may be about something else.
    _match_values(lacking, reading, elsewhere, _CONTEXT, _POINTED_TO)
    work.found.update(elsewhere.found)


def _fill_object(
    entry: IndexedTool, param: Param, reading: ParsedText, values: dict[str, Any]
) -> None:
    inner = _FillingProgress()
    _fill_from(entry, param.properties, reading, inner)
    content = {
        sub.name: _build_argument(sub, inner.found[sub.name])
        for sub in param.properties
        if sub.name in inner.found
    }
    for sub in param.properties:
        if sub.required and sub.name not in content:
            _fill_otherwise(sub, content)
    # An empty object only where it is valid.
    if content or (param.required and not any(sub.required for sub in param.properties)):
        values[param.name] = content


def _fill_otherwise(param: Param, values: dict[str, Any]) -> None:
    """Fill a required parameter with its default, or with its only possible value."""
    if "default" in param.schema:
        values[param.name] = param.schema["default"]
    elif len(param.choices) == 1:
        values[param.name] = param.choices[0]
    # Required, and not mentioned: the cautious value.
    elif param.kind == "boolean":
        values[param.name] = False


def _build_argument(param: Param, found: Sequence[ArgumentMatch]) -> Any:
    if param.kind == "array":
        return [one.argument for one in sorted(found, key=lambda one: one.start)]
    return found[0].argument


def _spread_values(
    params: Iterable[Param], values: Mapping[str, Any], found: Mapping[str, Sequence[ArgumentMatch]]
) -> tuple[tuple[Mapping[str, Any], ...], tuple[Mapping[str, str], ...]]:
    """Return one call for each of several values of a parameter, and the user's words for them."""
    single = (p for p in params if p.kind not in ("array", "boolean"))
    several = next((p for p in single if len(found.get(p.name, ())) > 1), None)
    words = {name: one[0].said for name, one in found.items() if one}
    if several is None:
        return (dict(values),), (words,)
    # In the order of the request, which the answer follows.
    each = sorted(found[several.name], key=lambda one: one.start)[:_MOST_CALLS]
    calls = tuple({**values, several.name: one.argument} for one in each)
    return calls, tuple({**words, several.name: one.said} for one in each)


_LONGEST_TEXT = 2_000
_SQL_TEXT = word_set("sql query statement command script text string code expression")
_CODE = word_set("javascript typescript python bash shell js regex regexp")
_CODE_TEXT = word_set("code script snippet source program function body text expression")
_RUNS = re.compile(
    r"\b(?:source code|(?:javascript|typescript|python|java|bash|shell|ruby|rust) "
    r"(?:code|script|function|program|expression|snippet|source)"
    r"|(?:code|script|program|function|snippet) (?:to|that) (?:be )?(?:run|execute|evaluate|format"
    r"|lint|compile|test|check)\w*|regular expression|regex)\b",
    re.IGNORECASE,
)
_SUMS = word_set("expression formula equation calculation calculations sum math")
_CALCULATES = re.compile(r"\b(?:calculat|arithmetic|mathematic|math\b|evaluate\b)", re.IGNORECASE)
_SQL = re.compile(r"(?<!not )(?<!no )\bSQL (?:query|statement|command|to|text|script)|in SQL\b")


def beyond_filling(param: Param, tool: Tool) -> str | None:
    """Return the kind of text that ``param`` of ``tool`` needs, such as SQL, or ``None``."""
    if param.kind == "array" and param.items and param.items.kind in ("object", "array"):
        return "build lists of objects"
    if param.kind == "object":
        return "build objects"
    if param.kind not in ("string", "any") or param.choices:
        return None
    # What the tool does says what a parameter without a description takes.
    about = param.description or f"{' '.join(split_words(tool.name))}: {tool.description}"
    return _find_language(set(split_words(param.name)), about[:_LONGEST_TEXT])


def _find_language(name: set[str], about: str) -> str | None:
    """Return the kind of text, from all words of a parameter's name and from its description."""
    if name <= _SQL_TEXT and ("sql" in name or _SQL.search(about)):
        return "write SQL"
    if name <= _CODE | _CODE_TEXT and (name & _CODE or _RUNS.search(about)):
        return "write code"
    sums = name <= _SUMS and _CALCULATES.search(about)
    return "work out what is to be calculated" if sums else None
