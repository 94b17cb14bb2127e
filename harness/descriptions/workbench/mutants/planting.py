"""All operators, and a sample of mutants that is balanced over operators and tools."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base import UsageError
from harness.descriptions.workbench.arms import variant_key
from harness.descriptions.workbench.mutants import name_mutants, text_mutants, value_mutants
from harness.descriptions.workbench.mutants.mutant import Mutant, Operator
from harness.runner import ShownTools
from harness.types import Tool, ToolEdit, ToolList, Variant

OPERATORS: Mapping[str, Operator] = {
    "swapped-texts": text_mutants.swapped_texts,
    "emptied-text": text_mutants.emptied_text,
    "purpose-removed": text_mutants.purpose_removed,
    "when-not-removed": text_mutants.when_not_removed,
    "wrong-claim": text_mutants.wrong_claim,
    "contrary-word": text_mutants.contrary_word,
    "swapped-names": name_mutants.swapped_names,
    "sibling-name": name_mutants.sibling_name,
    "opposite-parameter": name_mutants.opposite_parameter,
    "swapped-parameter-texts": name_mutants.swapped_parameter_texts,
    "required-hidden": name_mutants.required_hidden,
    "text-removed": value_mutants.text_removed,
    "unit-removed": value_mutants.unit_removed,
    "wrong-unit": value_mutants.wrong_unit,
    "wrong-date": value_mutants.wrong_date,
    "wrong-example": value_mutants.wrong_example,
    "example-removed": value_mutants.example_removed,
    "member-removed": value_mutants.member_removed,
    "member-replaced": value_mutants.member_replaced,
    "wrong-default": value_mutants.wrong_default,
}
"""Every operator by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planting:
    """The mutants of a tool list."""

    mutants: tuple[Mutant, ...]
    """The chosen mutants."""
    possible: int
    """Number of mutants that the operators can make from the list."""
    equivalent: int
    """Mutants that were left out: a model would see no change, or the same change as by another."""


def plant_mutants(offered: Sequence[Tool], most: int, seed: int) -> Planting:
    """Choose at most ``most`` mutants of all offered tools.

    The choice depends on the seed, not on the order of the tools. Operators take turns, and each
    takes the tool with the fewest mutants so far. A larger number extends the choice of a smaller
    one.
    """
    tools = sorted(offered, key=lambda tool: tool.name)
    order = random.Random(seed)  # noqa: S311 - which defects is no secret
    left = {name: list(operator(tools)) for name, operator in OPERATORS.items()}
    for mutants in left.values():
        order.shuffle(mutants)
    possible = sum(map(len, left.values()))
    equivalent = 0
    chosen: list[Mutant] = []
    seen: set[str] = set()
    used: Counter[str] = Counter()
    # The generator reads `used`, which is counted up below.
    for mutant in _rotate_mutants(left, used):
        if len(chosen) == most:
            break
        key = variant_key(mutant.variant)
        if key in seen or not has_visible_change(mutant, tools):
            equivalent += 1
            continue
        seen.add(key)
        used[mutant.tool] += 1
        chosen.append(mutant)
    return Planting(mutants=tuple(chosen), possible=possible, equivalent=equivalent)


def build_placebos(offered: Sequence[Tool], most: int) -> tuple[Variant, ...]:
    """Return at most ``most`` different variants that show the server's own words.

    Each repeats another part of the server's own list; a single tool allows four.
    """
    said = [
        edit
        for tool in sorted(offered, key=lambda tool: tool.name)
        for edit in (
            (tool.name, ToolEdit(description=tool.description)),
            (tool.name, ToolEdit(name=tool.name)),
        )
    ]
    return tuple(
        Variant(
            name=f"placebo {number + 1}",
            # Each number chooses edits by its bits, so that no two placebos are the same.
            tools=_join_edits([edit for bit, edit in enumerate(said) if number >> bit & 1]),
            description="The server's own words, once more.",
        )
        for number in range(min(most, 2 ** len(said)))
    )


def _join_edits(edits: Sequence[tuple[str, ToolEdit]]) -> dict[str, ToolEdit]:
    joined: dict[str, ToolEdit] = {}
    for tool, edit in edits:
        known = joined.get(tool, ToolEdit())
        joined[tool] = replace(
            known, name=known.name or edit.name, description=known.description or edit.description
        )
    return joined


def has_visible_change(mutant: Mutant, tools: Sequence[Tool]) -> bool:
    """Whether a model that is offered ``tools`` sees a change by ``mutant``."""
    # Only the tools that it touches: every mutant of a long list is shown here.
    names = {*mutant.edits, *(edit.name for edit in mutant.edits.values())}
    touched = tuple(tool for tool in tools if tool.name in names)
    try:
        shown = ShownTools(mutant.variant, ToolList(tools=touched))
    except UsageError:  # two tools, or two parameters, would have the same name
        return False
    return shown.tools.tools != touched


def _rotate_mutants(left: Mapping[str, list[Mutant]], used: Counter[str]) -> Iterator[Mutant]:
    while any(left.values()):
        for mutants in left.values():
            if mutants:
                best = min(range(len(mutants)), key=lambda place: used[mutants[place].tool])
                yield mutants.pop(best)
