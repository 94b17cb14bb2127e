"""Arms (changed tool lists that studies request), and the parts of a list that they may lack."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from harness.base import digest_json
from harness.models import estimate_tokens
from harness.runner import Facet, get_facet, split_sentences
from harness.suites import describe_variant
from harness.types import JsonObject, ParameterEdit, Tool, ToolEdit, Variant, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One tool list to try, and the cases to try it on."""

    variant: Variant | None
    """The changed list; ``None`` is the server's own, the *clean* arm."""
    cases: frozenset[str] | None = None
    """Names of the cases; ``None``: every case of the suite."""

    @property
    def key(self) -> str:
        """Equal for arms with the same content, whatever their names."""
        return variant_key(self.variant)

    def has_case(self, case: str) -> bool:
        """Whether the case of that name is part of the arm."""
        return self.cases is None or case in self.cases


CLEAN = Arm(variant=None)
"""The server's own list, on every case."""


def variant_key(variant: Variant | None) -> str:
    """Return a digest of a variant's changes, without its name and description."""
    return "" if variant is None else logged_variant_key(describe_variant(variant))


def logged_variant_key(described: JsonObject) -> str:
    """Return the key of a variant from its description in a log's header."""
    return digest_json(
        {part: value for part, value in described["edits"].items() if part != "name"}
    )


def merge_arms(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """Return each arm once, in order; equal ones are joined over all their cases.

    Arms with the same name but different content get a number after the name.
    """
    joined: dict[str, Arm] = {}
    for arm in arms:
        known = joined.setdefault(arm.key, arm)
        # None is every case, which no further case can widen.
        if known.cases is not None:
            cases = None if arm.cases is None else known.cases | arm.cases
            joined[arm.key] = replace(known, cases=cases)
    return tuple(_make_names_unique(joined.values()))


def select_unrun_arms(
    arms: Iterable[Arm], ran: Mapping[str, frozenset[str]], every: frozenset[str]
) -> tuple[Arm, ...]:
    """Return ``arms`` with the cases that they have not been run on yet, and without empty ones.

    Args:
        arms: The wanted arms.
        ran: Key of an arm → the cases that it has run on.
        every: All cases of the suite.
    """
    wanted = ((arm, every if arm.cases is None else arm.cases) for arm in merge_arms(arms))
    left = ((arm, cases - ran.get(arm.key, frozenset())) for arm, cases in wanted)
    return tuple(replace(arm, cases=cases) for arm, cases in left if cases)


def _make_names_unique(arms: Iterable[Arm]) -> Iterable[Arm]:
    taken: Counter[str] = Counter()
    for arm in arms:
        variant = arm.variant
        if variant is not None:
            taken[variant.name] += 1
            if (number := taken[variant.name]) > 1:
                variant = replace(variant, name=f"{variant.name} ({number})")
        yield replace(arm, variant=variant)


PartKind: TypeAlias = Literal[
    "name", "title", "sentence", "parameter name", "parameter text", "enum", "examples", "default"
]
"""The kind of a part."""
_FACETS: tuple[Facet, ...] = ("enum", "examples", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of one tool's words."""

    tool: str
    """The server's name of the tool."""
    kind: PartKind
    """Its kind."""
    text: str
    """The words themselves; values as JSON."""
    parameter: str | None = None
    """The parameter that it belongs to, if any."""
    number: int | None = None
    """Number of a sentence in the description, from 1."""

    @property
    def label(self) -> str:
        """The part in a few words: ``search_orders: sentence 2``."""
        what = f"sentence {self.number}" if self.kind == "sentence" else self.kind
        if self.parameter is not None:
            what = f"{self.kind.removeprefix('parameter ')} of {self.parameter}"
        return f"{self.tool}: {what}"

    @property
    def tokens(self) -> int:
        """Estimated number of tokens that it adds to every request."""
        # Even a single character costs a token.
        return max(1, estimate_tokens(self.text))


def iterate_parts(tools: Sequence[Tool]) -> Iterator[Part]:
    """Yield every part of ``tools``, in the order in which a model reads them."""
    for tool in tools:
        yield Part(tool=tool.name, kind="name", text=tool.name)
        if tool.title:
            yield Part(tool=tool.name, kind="title", text=tool.title)
        for place, sentence in enumerate(split_sentences(tool.description), start=1):
            yield Part(tool=tool.name, kind="sentence", text=sentence, number=place)
        yield from _parameter_parts(tool)


def remove_part(part: Part, tools: Sequence[Tool]) -> Variant:
    """Return the variant that removes ``part`` from ``tools``.

    A name cannot be removed: it becomes a meaningless one (``tool_3``, ``value_2``).
    """
    tool = next(tool for tool in tools if tool.name == part.tool)
    return Variant(
        name=f"without {part.label}",
        tools={part.tool: _removal_edit(part, tool, [tool.name for tool in tools])},
        description=f"What does this carry: {part.text}",
    )


def _removal_edit(part: Part, tool: Tool, names: Sequence[str]) -> ToolEdit:
    if part.kind == "name":
        return ToolEdit(name=_free_name("tool", names.index(tool.name) + 1, names))
    if part.kind == "title":
        return ToolEdit(title="")
    if part.kind == "sentence":
        assert part.number is not None
        return ToolEdit(without_sentences=(part.number,))
    assert part.parameter is not None
    own = list(parameter_schemas(tool))
    edits = {
        "parameter name": ParameterEdit(
            name=_free_name("value", own.index(part.parameter) + 1, own)
        ),
        "parameter text": ParameterEdit(description=""),
        "enum": ParameterEdit(enum=()),
        "examples": ParameterEdit(examples=()),
        "default": ParameterEdit(default=()),
    }
    return ToolEdit(parameters={part.parameter: edits[part.kind]})


def _free_name(word: str, number: int, taken: Sequence[str]) -> str:
    name = f"{word}_{number}"
    return name if name not in taken else f"{name}_x"


def _parameter_parts(tool: Tool) -> Iterator[Part]:
    for name, schema in parameter_schemas(tool).items():
        yield Part(tool=tool.name, kind="parameter name", text=name, parameter=name)
        if not isinstance(schema, Mapping):
            continue
        said = schema.get("description")
        if isinstance(said, str) and said.strip():
            yield Part(tool=tool.name, kind="parameter text", text=said, parameter=name)
        for kind in _FACETS:
            value = get_facet(schema, kind)
            if value not in (None, []):
                text = json.dumps(value, ensure_ascii=False, default=str)
                yield Part(tool=tool.name, kind=kind, text=text, parameter=name)


def parameter_schemas(tool: Tool) -> Mapping[str, Any]:
    """Return parameter → schema of ``tool``."""
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def tool_json(tool: Tool) -> JsonObject:
    """Return the words of ``tool`` as JSON."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
