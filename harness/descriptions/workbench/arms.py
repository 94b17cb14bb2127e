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
from harness.types import (
    InstructionsEdit,
    JsonObject,
    ParameterEdit,
    Tool,
    ToolEdit,
    ToolList,
    Variant,
    dataclass,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTexts:
    """What a server shows the models of all callers of a suite."""

    tools: tuple[Tool, ...] = ()
    """Every tool that a caller is offered, once, with the texts that the first of them sees."""
    instructions: tuple[Mapping[str, str], ...] = ()
    """Name of a server → its instructions, once for all callers with the same ones; callers
    without any are left out."""


def collect_texts(lists: Iterable[ToolList]) -> ServerTexts:
    """Return the texts of the ``lists`` of several callers."""
    tools: dict[str, Tool] = {}
    instructions: list[Mapping[str, str]] = []
    for listed in lists:
        for tool in listed.tools:
            tools.setdefault(tool.name, tool)
        if listed.instructions and listed.instructions not in instructions:
            instructions.append(listed.instructions)
    return ServerTexts(tools=tuple(tools.values()), instructions=tuple(instructions))


PartKind: TypeAlias = Literal[
    "name",
    "title",
    "sentence",
    "parameter name",
    "parameter text",
    "enum",
    "examples",
    "default",
    "all",
]
"""The kind of a part."""
_FACETS: tuple[Facet, ...] = ("enum", "examples", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the words of one tool, or of the server's instructions."""

    tool: str | None
    """The server's name of the tool; ``None`` for the instructions."""
    kind: PartKind
    """Its kind; ``all`` is the instructions as a whole."""
    text: str
    """The words themselves; values as JSON."""
    parameter: str | None = None
    """The parameter that it belongs to, if any."""
    number: int | None = None
    """Number of a sentence in the description or the instructions, from 1."""

    @property
    def label(self) -> str:
        """The part in a few words: ``search_orders: sentence 2``."""
        what = f"sentence {self.number}" if self.kind == "sentence" else self.kind
        if self.parameter is not None:
            what = f"{self.kind.removeprefix('parameter ')} of {self.parameter}"
        return f"{self.tool or INSTRUCTIONS}: {what}"

    @property
    def tokens(self) -> int:
        """Estimated number of tokens that it adds to every request."""
        # Even a single character costs a token.
        return max(1, estimate_tokens(self.text))


INSTRUCTIONS = "the server's instructions"
"""Stands where a part of them would name its tool."""


def iterate_parts(texts: ServerTexts) -> Iterator[Part]:
    """Yield every part of ``texts``: the instructions, then tool by tool as a model reads them.

    The instructions are a part as a whole and by sentences; as a whole only, if there is one
    sentence, or if they differ by caller: a number would then be another sentence for each.
    """
    if texts.instructions:
        whole = "\n\n".join(texts.instructions[0].values())
        yield Part(tool=None, kind="all", text=whole)
    for place, sentence in enumerate(_list_instruction_sentences(texts), start=1):
        yield Part(tool=None, kind="sentence", text=sentence, number=place)
    yield from iterate_tool_parts(texts.tools)


def count_tokens(parts: Iterable[Part]) -> int:
    """Return the estimated tokens of ``parts``, each word once."""
    known = list(parts)
    sentences = any(part.tool is None and part.kind == "sentence" for part in known)
    return sum(part.tokens for part in known if part.kind != "all" or not sentences)


def _list_instruction_sentences(texts: ServerTexts) -> tuple[str, ...]:
    if len(texts.instructions) != 1:
        return ()
    (said,) = texts.instructions
    found = tuple(sentence for text in said.values() for sentence in split_sentences(text))
    return found if len(found) > 1 else ()


def iterate_tool_parts(tools: Sequence[Tool]) -> Iterator[Part]:
    """Yield every part of ``tools``, in the order in which a model reads them."""
    for tool in tools:
        yield Part(tool=tool.name, kind="name", text=tool.name)
        if tool.title:
            yield Part(tool=tool.name, kind="title", text=tool.title)
        for place, sentence in enumerate(split_sentences(tool.description), start=1):
            yield Part(tool=tool.name, kind="sentence", text=sentence, number=place)
        yield from _parameter_parts(tool)


def remove_part(part: Part, tools: Sequence[Tool]) -> Variant:
    """Return the variant that removes ``part`` from ``tools``, or from the instructions.

    A name cannot be removed: it becomes a meaningless one (``tool_3``, ``value_2``).
    """
    if part.tool is None:
        return Variant(
            name=f"without {part.label}",
            instructions=InstructionsEdit(text="")
            if part.number is None
            else InstructionsEdit(without_sentences=(part.number,)),
            description=f"What does this carry: {part.text}",
        )
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
