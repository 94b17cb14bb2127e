"""All operators, and a sample of mutants that is balanced over operators and tools."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import UsageError
from harness.descriptions.workbench.arms import variant_key
from harness.descriptions.workbench.mutants import parameter_mutants, tool_mutants
from harness.descriptions.workbench.mutants.mutant import (
    Mutant,
    Operator,
    mutate_parameters,
    mutate_tools,
)
from harness.runner import ShownTools
from harness.types import Tool, ToolEdit, ToolList, Variant, dataclass

OPERATORS: Mapping[str, Operator] = {
    "swapped-texts": tool_mutants.swap_texts,
    "emptied-text": mutate_tools(tool_mutants.empty_text),
    "purpose-removed": mutate_tools(tool_mutants.remove_purpose),
    "when-not-removed": mutate_tools(tool_mutants.remove_when_not),
    "wrong-claim": mutate_tools(tool_mutants.claim_other_action),
    "contrary-word": mutate_tools(tool_mutants.contradict_text),
    "swapped-names": tool_mutants.swap_names,
    "sibling-name": tool_mutants.name_like_sibling,
    "opposite-parameter": mutate_tools(tool_mutants.name_parameter_opposite),
    "swapped-parameter-texts": mutate_tools(tool_mutants.swap_parameter_texts),
    "required-hidden": mutate_tools(tool_mutants.hide_required),
    "text-removed": mutate_parameters(parameter_mutants.remove_text),
    "unit-removed": mutate_parameters(parameter_mutants.remove_unit),
    "wrong-unit": mutate_parameters(parameter_mutants.replace_unit),
    "wrong-date": mutate_parameters(parameter_mutants.reorder_date),
    "wrong-example": mutate_parameters(parameter_mutants.distort_example),
    "example-removed": mutate_parameters(parameter_mutants.remove_example),
    "member-removed": mutate_parameters(parameter_mutants.remove_member),
    "member-replaced": mutate_parameters(parameter_mutants.replace_member),
    "wrong-default": mutate_parameters(parameter_mutants.replace_default),
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
    left = {name: list(operator(name, tools)) for name, operator in OPERATORS.items()}
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
    said: list[tuple[str, dict[str, Any]]] = [
        (tool.name, field)
        for tool in sorted(offered, key=lambda tool: tool.name)
        for field in ({"description": tool.description}, {"name": tool.name})
    ]
    placebos = []
    for number in range(min(most, 2 ** len(said))):
        edits: dict[str, ToolEdit] = {}
        # Each number chooses edits by its bits, so that no two placebos are the same.
        for tool, field in (edit for bit, edit in enumerate(said) if number >> bit & 1):
            edits[tool] = replace(edits.get(tool, ToolEdit()), **field)
        placebos.append(
            Variant(
                name=f"placebo {number + 1}",
                tools=edits,
                description="The server's own words, once more.",
            )
        )
    return tuple(placebos)


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
