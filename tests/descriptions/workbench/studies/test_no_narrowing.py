"""A test that is asked as several identities is one case: no study gets surer by asking again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.descriptions.workbench.arms import variant_key
from harness.descriptions.workbench.studies import ab, ablation, decoys, order, paraphrase, steering
from harness.descriptions.workbench.study import Study, StudyOptions
from harness.types import Caller, Case, Repeats, ToolEdit, Variant
from tests.descriptions.workbench.benches import bench, case, measured, tool

TOOLS = [tool("find_orders", "Finds orders. Always use it."), tool("find_bills", "Finds bills.")]
NAMES = ("one", "two", "three", "four")
IDENTITIES = ("admin", "clerk", "guest")
STUDIES = (order, steering, decoys, paraphrase, ab, ablation)
SURE = {"p_value", "p_adjusted", "smallest_difference", "smallest"}
"""Keys of figures that get smaller with more evidence, besides the widths of intervals."""


def asked_as(identities: Sequence[str]) -> list[Case]:
    """Return the cases; each once for every identity."""
    plain = [
        replace(case(name, must_call=["find_orders"]), wordings=(f"{name}?", f"{name}!"))
        for name in NAMES
    ]
    if not identities:
        return plain
    return [
        replace(
            one,
            name=f"{one.name} [{who}]",
            repeats=Repeats(test=one.name),
            caller=Caller(identity=who, group=one.name),
        )
        for one in plain
        for who in identities
    ]


def sureness(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield the place and size of each figure that would get smaller with more evidence."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "interval" and one:
                yield f"{place}.{key}", one[1] - one[0]
            elif key in SURE and one is not None:
                yield f"{place}.{key}", one
            else:
                yield from sureness(one, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from sureness(one, f"{place}[{number}]")


def figures(study: Study, folder: Path, draw: Any, identities: Sequence[str]) -> dict[str, float]:
    folder.mkdir()
    cases = asked_as(identities)
    versus = (Variant(name="short", tools={"find_bills": ToolEdit(description="Bills.")}),)
    stage = bench(cases, TOOLS, options=StudyOptions(decoys=(2, 4)), versus=versus)
    arms = {
        variant_key(variant): variant
        for variant in (None, *(arm.variant for arm in study.arms(stage)))
    }
    ends = [(variant, {name: draw(variant, name) for name in NAMES}) for variant in arms.values()]
    facts = study.read(stage, measured(folder, *ends, identities=identities, tools=TOOLS)).facts
    if study.name == "paraphrase":  # each case has a figure of its own
        facts = {key: one for key, one in facts.items() if key != "cases"}
    return dict(sureness(facts))


@pytest.mark.parametrize("module", STUDIES, ids=lambda one: one.__name__.split(".")[-1])
def test_the_same_results_of_further_identities_make_no_study_surer(
    tmp_path: Path, module: Any
) -> None:
    for trials in (1, 2):

        def draw(variant: Any, name: str, trials: int = trials) -> Any:
            """Return the same results for an arm and test, whoever asks it."""
            rng = random.Random(f"{variant and variant.name} {name} {trials}")
            choices = [("p", "find_orders"), ("p", "find_orders"), ("f", "find_bills"), ("f", None)]
            return rng.choices(choices, k=trials)

        once = figures(module.STUDY, tmp_path / f"once {trials}", draw, ())
        often = figures(module.STUDY, tmp_path / f"often {trials}", draw, IDENTITIES)
        assert once
        assert once.keys() == often.keys()
        for place, size in once.items():
            assert often[place] >= size - 1e-9, (trials, place)
