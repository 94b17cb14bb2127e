"""A workbench without servers: models whose chance of the right call is a known function."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TypeAlias, cast

from harness.base.stats.units import Trials
from harness.descriptions.workbench.arms import (
    CLEAN,
    Arm,
    ServerTexts,
    select_unrun_arms,
    variant_key,
)
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.measurements import FirstCall, ModelMeasurements
from harness.descriptions.workbench.study import StudyContext, StudyOptions
from harness.types import Case, Check, Suite, Tool, Variant

Chance: TypeAlias = Callable[[Case, Variant | None], float]
"""``(case, what the model is shown) → chance to pass``."""

TOOLS = tuple(
    Tool(
        name=f"list_{thing}",
        description=f"Lists {thing}. Sorted by date. Do not use it for totals.",
        input_schema={
            "type": "object",
            "properties": {
                "state": {"type": "string", "description": "One of open, shipped or closed"},
                "id": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
                "since": {"type": "string", "format": "date"},
            },
        },
    )
    for thing in ("invoices", "parcels", "contracts", "refunds")
)
_SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")


def made_up_words(count: int) -> list[str]:
    """Return so many words that no language has."""
    words = ["".join(parts) for parts in combinations(_SYLLABLES, 4)]
    random.Random(1).shuffle(words)
    return words[:count]


def suite(cases: int) -> Suite:
    """Return a suite of questions that share no word, the tools in turn."""
    words = made_up_words(3 * cases)
    return Suite(
        name="s",
        cases=tuple(
            Case(
                name=f"case_{number}",
                prompt=" ".join(words[3 * number : 3 * number + 3]),
                checks=(
                    Check(
                        kind="must_call",
                        params={"tool": TOOLS[number % len(TOOLS)].name, "args": {}},
                    ),
                ),
            )
            for number in range(cases)
        ),
    )


class Simulated:
    """Stands in for `ModelMeasurements`: results that were drawn, not run."""

    def __init__(self, bench: StudyContext, chance: Chance, seed: int, trials: int = 1) -> None:
        self._bench, self._chance, self._trials = bench, chance, trials
        self._rng = random.Random(seed)
        self._found: dict[str, dict[str, Trials]] = {}
        self._order = {case.name: case for case in bench.suite.cases}

    def run(self, arm: Arm) -> None:
        """Draw the trials of ``arm``."""
        found = self._found.setdefault(arm.key, {})
        for name, case in self._order.items():
            if arm.has_case(name):
                chance = self._chance(case, arm.variant)
                passed = sum(self._rng.random() < chance for _ in range(self._trials))
                found[name] = passed, self._trials

    def has_trials(self, variant: Variant | None) -> bool:
        return variant_key(variant) in self._found

    def tried_cases(self, variant: Variant | None = None) -> frozenset[str]:
        return frozenset(self.count_trials(variant))

    def count_trials(self, variant: Variant | None = None) -> Mapping[str, Trials]:
        return self._found.get(variant_key(variant), {})

    def first_calls(self, variant: Variant | None = None) -> tuple[FirstCall, ...]:
        """Say that the tool after the wanted one was called by whoever failed."""
        return tuple(
            FirstCall(
                case=name,
                key=name,
                tool=TOOLS[(int(name[5:]) + (passed < judged)) % len(TOOLS)].name,
                arguments={},
                decoy=False,
                passed=passed == judged,
            )
            for name, (passed, judged) in self.count_trials(variant).items()
        )


def on_bench(cases: int, seed: int, margin: float = 0.1) -> StudyContext:
    """Return the bench of a suite with so many questions."""
    options = StudyOptions(seed=seed, margin=margin)
    return StudyContext(
        suite=suite(cases), texts=ServerTexts(tools=TOOLS), model="m", options=options
    )


def improved(
    cases: int, chance: Chance, seed: int, trials: int = 1, margin: float = 0.1
) -> Improvement:
    """Carry out the whole study on a simulated model."""
    bench = on_bench(cases, seed, margin)
    drawn = Simulated(bench, chance, seed, trials)
    drawn.run(CLEAN)
    every = frozenset(case.name for case in bench.suite.cases)
    ran = {CLEAN.key: every}
    measured = cast("ModelMeasurements", drawn)
    while arms := select_unrun_arms(
        Improvement(bench, measured, ask=True).needed_arms(), ran, every
    ):
        for arm in arms:
            drawn.run(arm)
            ran[arm.key] = ran.get(arm.key, frozenset()) | (arm.cases or frozenset())
    return Improvement(bench, measured)
