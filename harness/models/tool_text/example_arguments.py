"""Example arguments for a tool: from its schema, from its descriptions, or made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from harness.base import (
    STEPS,
    Budget,
    apply_budget,
    is_speakable,
    is_valid,
    matches_schema,
    text_matching,
)
from harness.models.tool_text.actions import is_verb
from harness.models.tool_text.parameters import Param, read_params
from harness.models.tool_text.terms import split_words, term_set
from harness.types import JsonObject, Tool, dataclass

_FORMATS: Mapping[str, str] = {
    "date": "2025-05-14",
    "date-time": "2025-05-14T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "P3D",
    "email": "maria.keller@example.com",
    "idn-email": "maria.keller@example.com",
    "hostname": "www.example.com",
    "ipv4": "192.0.2.17",
    "ipv6": "2001:db8::17",
    "uri": "https://example.com/start",
    "url": "https://example.com/start",
    "uri-reference": "https://example.com/start",
    "uuid": "3f2b8c1e-7a4d-4e59-9c06-1d2e3f4a5b6c",
}
"""JSON Schema format → a value of it."""

_TEXTS: tuple[tuple[str, str], ...] = (
    ("email mail recipient", "maria.keller@example.com"),
    ("phone telephone mobile", "+49 30 5550148"),
    ("url uri link website href", "https://example.com/start"),
    ("directory folder dir", "/data/reports"),
    ("destination target", "/data/archive/summary.txt"),
    ("path file filename source", "/data/reports/summary.txt"),
    ("glob pattern exclude", "*.txt"),
    ("timezone zone tz", "Europe/Berlin"),
    ("currency", "EUR"),
    ("ticker symbol", "AAPL"),
    ("language locale lang", "en"),
    ("datetime timestamp", "2025-05-14T09:30:00Z"),
    ("date day since until start end", "2025-05-14"),
    ("time hour", "09:30"),
    ("country", "Germany"),
    ("city location place town region", "Berlin"),
    ("branch ref", "main"),
    ("repo repository project", "website"),
    ("title subject label headline", "Quarterly report"),
    ("sql", "SELECT COUNT(*) FROM orders"),
    ("query search keyword term phrase", "wireless headphones"),
    ("message content text body comment note input prompt data", "Good morning"),
    ("message content text body comment note input prompt data", "Good evening"),
    ("topic theme", "solar power"),
    ("reason description summary", "the customer asked for it"),
    ("category kind type tag", "electronics"),
    ("user username author assignee owner", "maria.keller"),
    ("company organisation organization", "Example Ltd"),
    ("name person customer client employee", "Maria Keller"),
)
"""Words of a parameter's name → a text for it; the first row with one of the words applies."""

_NUMBERS: tuple[tuple[str, float], ...] = (
    ("latitude lat", 52.52),
    ("longitude lon lng", 13.405),
    ("years", 10),
    ("year", 2024),
    ("month", 6),
    ("percent percentage rate", 5),
    ("port", 8080),
    ("page", 2),
    ("limit count top max size head tail first last", 5),
    ("price amount principal budget cost salary", 250),
    ("quantity", 3),
    ("id number", 1042),
)
"""Words of a parameter's name → a number for it."""

_SERIES = (12, 30, 7, 45, 18, 60)
"""Numbers for parameters without any hint: all different, so that swapped arguments are noticed."""

_ENDS = frozenset(split_words("end last to until before due"))
_FOLDERS = frozenset(split_words("directory directories folder folders"))
_IDENTIFIES = frozenset(split_words("id key code uuid guid sku reference"))


def text_guesses(param: Param, thing: str) -> Iterator[str]:
    """Yield texts for ``param``, likeliest first; ``thing`` is what a bare ``id`` identifies."""
    if isinstance(kind := param.schema.get("format"), str) and kind in _FORMATS:
        ends = kind.startswith("date") and _ENDS & param.name_words
        # A week after the usual date, so that a period does not end on its first day.
        yield _FORMATS[kind].replace("-14", "-21") if ends else _FORMATS[kind]
    spoken = split_words(param.name)
    # Before words of the name: `customer_id` is an id, and no customer's name.
    if spoken and spoken[-1] in _IDENTIFIES:
        owner = "_".join(spoken[:-1]) or thing
        yield f"{owner.upper()}_1042" if owner else "A1042"
    # A tool for folders may call its parameter just `path`.
    if _FOLDERS & set(split_words(thing)):
        yield from (text for row, text in _TEXTS if "folder" in row and "path" in param.name_words)
    # The name first, since a description speaks of other things as well.
    for known in (param.name_terms | param.name_words, param.terms):
        yield from (text for row, text in _TEXTS if known & (term_set(row) | {*row.split()}))
    yield "example"


def number_guesses(param: Param, place: int) -> Iterator[float | int]:
    """Yield numbers for ``param``, the likeliest first.

    ``place`` is the position of the parameter in its tool.
    """
    usual = [number for row, number in _NUMBERS if set(row.split()) & param.name_words]
    usual.append(_SERIES[place % len(_SERIES)])
    # The likeliest first; the bounds below are for schemas that refuse it.
    yield from usual
    low = param.find_bound("minimum", "exclusiveMinimum")
    high = param.find_bound("maximum", "exclusiveMaximum")
    step = param.find_bound("multipleOf") or 1
    if low is not None:
        yield from (low, low + step, low + 1)
    if high is not None:
        yield from (high, high - step, high - 1)
    if low is not None and high is not None:
        yield (low + high) / 2
    yield step


Source: TypeAlias = Literal["schema", "description", "guess"]
"""Source of a value: given in the schema, shown in a description, or made up."""

_LONGEST_TEXT = 500  # characters; a prompt has no longer value
_MOST_ITEMS = 5  # of a list with a minimum length


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A value for one parameter."""

    param: Param
    """Its parameter."""
    value: Any
    """JSON, short, and valid for the parameter."""
    source: Source
    """Its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleArguments:
    """The example arguments of a tool."""

    examples: tuple[Example, ...] = ()
    """One for each argument, in the schema's order."""
    missing: tuple[str, ...] = ()
    """Required parameters for which there is no valid value."""
    gave_up: bool = False
    """Whether the schema exceeds a draft's budget of work, so that values may be missing or
    invalid."""

    @property
    def values(self) -> dict[str, Any]:
        """The arguments to send."""
        return {example.param.name: example.value for example in self.examples}


def build_example_arguments(tool: Tool) -> ExampleArguments:
    """Return values for required parameters of ``tool``, else for one useful optional parameter.

    If the schema has a further condition (such as one of two), the first single addition that makes
    the arguments valid is chosen; if there is none, all values found are returned.
    """
    budget = Budget(STEPS)
    with apply_budget(budget):
        found = _build_arguments(tool)
    # A schema may have used up the budget in the middle: what was found until then is kept.
    return replace(found, gave_up=budget.left < 0)


def _build_arguments(tool: Tool) -> ExampleArguments:
    params = read_params(tool)
    thing = _find_subject(tool)
    found = _build_examples(params, tool.input_schema, thing)
    needed = [found[p.name] for p in params if p.required and p.name in found]
    missing = tuple(p.name for p in params if p.required and p.name not in found)
    optional = [found[p.name] for p in params if not p.required and p.name in found]
    # A call without any argument says little: one optional value makes a better prompt.
    if not needed and not missing:
        optional.sort(key=lambda example: not _is_telling(example))
        needed = [example for example in optional[:1] if _is_telling(example)]
    # Without an addition first: most schemas have no further condition.
    for more in ([], *([example] for example in optional)):
        added = [example for example in more if example not in needed]
        chosen = ExampleArguments(examples=(*needed, *added))
        if is_valid(chosen.values, tool.input_schema):
            return chosen
    return ExampleArguments(examples=tuple(needed), missing=missing)


def _is_telling(example: Example) -> bool:
    """Whether an optional argument is worth a prompt: a known value other than the default."""
    return example.source != "guess" and example.value != example.param.schema.get("default")


def _find_subject(tool: Tool) -> str:
    """Return the subject of a tool, by its name: ``order`` for ``get_order``."""
    return "_".join(word for word in split_words(tool.name) if not is_verb(word)).removesuffix("s")


def _build_examples(params: Sequence[Param], root: JsonObject, thing: str) -> dict[str, Example]:
    """Return a value for each parameter that has one. Made-up values differ where possible."""
    found: dict[str, Example] = {}
    for place, param in enumerate(params):
        valid = _iterate_valid(param, root, thing, place)
        # Guesses differ where they can: of two equal values, nobody notices a swap.
        taken = [example.value for example in found.values() if example.source == "guess"]
        apart = (v for v in valid if v[0] != "guess" or v[1] is True or v[1] not in taken)
        # The same value twice is still better than none.
        chosen = next(apart, None) or next(_iterate_valid(param, root, thing, place), None)
        if chosen is not None and param.name.strip():
            found[param.name] = Example(param=param, value=chosen[1], source=chosen[0])
    return found


def _iterate_valid(
    param: Param, root: JsonObject, thing: str, place: int
) -> Iterator[tuple[Source, Any]]:
    for source, value in _iterate_candidates(param, root, thing, place):
        # Every candidate is checked: examples in descriptions, and in schemas, may be wrong.
        if is_speakable(value) and matches_schema(value, param.schema, root):
            yield source, value


def _iterate_candidates(
    param: Param, root: JsonObject, thing: str, place: int
) -> Iterator[tuple[Source, Any]]:
    default = param.schema.get("default")
    # Not the default: a call with it tests the same as a call without it.
    yield from (("schema", choice) for choice in param.choices if choice != default)
    listed = param.schema.get("examples")
    shown = listed if isinstance(listed, list) else [param.schema.get("example")]
    yield from (("schema", value) for value in shown if value is not None)
    if param.kind in ("string", "any"):
        yield from (("description", value) for value in param.examples if value.strip() == value)
    # After examples, and only one that a prompt can say.
    if default not in (None, "", [], {}):
        yield "schema", default
    yield from (("guess", value) for value in _iterate_guesses(param, root, thing, place))


def _iterate_guesses(param: Param, root: JsonObject, thing: str, place: int) -> Iterator[Any]:
    if param.kind == "boolean":
        yield True
    elif param.kind in ("integer", "number"):
        for number in number_guesses(param, place):
            yield int(number) if float(number).is_integer() else number
    elif param.kind == "array":
        yield from _iterate_lists(param, root, thing)
    elif param.kind == "object":
        yield _build_object(param, root, thing)
    elif param.kind == "null":
        yield None
    else:
        yield from _iterate_texts(param, thing)


def _iterate_texts(param: Param, thing: str) -> Iterator[str]:
    for text in text_guesses(param, thing):
        yield text
        if isinstance(longest := param.schema.get("maxLength"), int) and len(text) > longest > 0:
            yield text[:longest].strip()
    pattern = param.schema.get("pattern")
    if isinstance(pattern, str) and (matching := text_matching(pattern)):
        yield matching
    if isinstance(least := param.schema.get("minLength"), int):
        yield _build_text(least)


def _build_text(length: int) -> str:
    """Return a text of the required length, or one that is too long for a prompt."""
    filler = "An example text. "
    # Bounded: a schema may ask for a minimum of millions.
    text = (filler * (1 + min(max(length, 0), _LONGEST_TEXT) // len(filler)))[:length]
    return f"{text.rstrip()}." if text != text.rstrip() else text


def _iterate_lists(param: Param, root: JsonObject, thing: str) -> Iterator[list[Any]]:
    """Yield a list of one item, and longer lists for a schema that requires them."""
    if param.items is None:
        yield []
        return
    # The list's name describes its items: `paths` holds paths.
    named = replace(
        param.items, name=param.name, name_terms=param.name_terms, name_words=param.name_words
    )
    valid = [value for _, value in _iterate_valid(named, root, thing, 0)]
    unique = [value for place, value in enumerate(valid) if value not in valid[:place]]
    for length in range(1, _MOST_ITEMS + 1):
        yield unique[:length]
    yield []


def _build_object(param: Param, root: JsonObject, thing: str) -> dict[str, Any]:
    chosen = [sub for sub in param.properties if sub.required] or list(param.properties[:1])
    return {name: example.value for name, example in _build_examples(chosen, root, thing).items()}
