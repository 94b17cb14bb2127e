"""Operators on the names of tools and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.descriptions.workbench.mutants.mutant import (
    Mutant,
    iterate_parameters,
    mutate_parameter,
    mutate_tool,
    parameter_text,
)
from harness.descriptions.workbench.mutants.text_mutants import most_alike, pairs_alike
from harness.descriptions.workbench.mutants.wrong_words import opposite_name, synonymous_name
from harness.types import ParameterEdit, Tool, ToolEdit


def swapped_names(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which a tool and the most similar one swap their names."""
    for tool, other in pairs_alike(tools):
        yield Mutant(
            operator="swapped-names",
            tool=tool.name,
            other=other.name,
            defect=f"it is called {other.name}, and the other way round",
            edits={
                tool.name: ToolEdit(name=other.name),
                other.name: ToolEdit(name=tool.name),
            },
        )


def sibling_name(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one tool has nearly the name of another: ``find_orders``."""
    taken = {tool.name for tool in tools}
    for tool in tools:
        other = most_alike(tool, tools)
        name = None if other is None else synonymous_name(other.name)
        if other is not None and name is not None and name not in taken:
            defect = f"it is called {name}, nearly like {other.name}"
            yield mutate_tool("sibling-name", tool, defect, ToolEdit(name=name), other=other.name)


def opposite_parameter(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which a parameter is named for its opposite: ``date_to`` for ``date_from``.

    If the tool has both, they swap names.
    """
    for tool in tools:
        names = [name for name, _ in iterate_parameters(tool)]
        done: set[str] = set()
        for name in names:
            other = opposite_name(name)
            # A pair of opposites is found from both sides.
            if other is None or name in done:
                continue
            done |= {name, other}
            edits = {name: ParameterEdit(name=other)}
            if other in names:
                edits[other] = ParameterEdit(name=name)
            yield mutate_tool(
                "opposite-parameter",
                tool,
                f"it is called {other}" + (", and the other way round" if len(edits) > 1 else ""),
                ToolEdit(parameters=edits),
                parameter=name,
            )


def swapped_parameter_texts(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which two parameters of one tool swap their descriptions."""
    for tool in tools:
        told = [
            (name, parameter_text(schema))
            for name, schema in iterate_parameters(tool)
            if parameter_text(schema)
        ]
        # Neighbours, so that there are no more mutants than parameters.
        for (name, text), (other, others_text) in pairwise(told):
            yield mutate_tool(
                "swapped-parameter-texts",
                tool,
                f"its text is that of {other}, and the other way round",
                ToolEdit(
                    parameters={
                        name: ParameterEdit(description=others_text),
                        other: ParameterEdit(description=text),
                    }
                ),
                parameter=name,
            )


def required_hidden(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which a required parameter is hidden."""
    for tool in tools:
        required = tool.input_schema.get("required")
        for name, _ in iterate_parameters(tool):
            if isinstance(required, list) and name in required:
                defect = "it is required, and not shown"
                yield mutate_parameter("required-hidden", tool, name, defect, None)
