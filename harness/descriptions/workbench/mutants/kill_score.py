"""Which mutants a suite notices, computed from counts, and the tests that would notice the others.

A case notices a mutant if it passes on the server's own list, passes on every repetition of that
list (the *placebos*), and fails under the mutant, each time in most of its trials. If the placebos
show that cases fail by chance, a kill needs so many failing cases that chance alone kills at most
about one mutant in twenty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Literal, TypeAlias

import yaml

from harness.base import HIDDEN, Interval, Trials, wilson_interval
from harness.descriptions.workbench.mutants.mutant import Mutant
from harness.judging import MUST_CALL, MUST_NOT_CALL
from harness.types import dataclass

Fate: TypeAlias = Literal["killed", "survived", "open"]
"""``open``: not all cases that might notice it were judged, and no other case noticed it."""

LEVEL = 0.05
"""How often chance may look like a kill."""

_ByCase: TypeAlias = Mapping[str, Trials]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantFate:
    """One mutant and its fate."""

    mutant: Mutant
    """The mutant."""
    fate: Fate
    """Whether the suite notices it."""
    noticed_by: tuple[str, ...]
    """Cases that pass on the server's own list and fail under the mutant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillScore:
    """The share of planted defects that a suite notices."""

    mutants: tuple[MutantFate, ...]
    """Every mutant that was tried, in order."""
    able: tuple[str, ...]
    """Cases that always pass on the server's own list; other cases cannot notice anything."""
    fickle: tuple[str, ...]
    """Cases that passed on the server's own list and failed on a placebo."""
    chance: float
    """How often a case that passed failed on a placebo."""
    needed: int
    """Cases that must fail for a kill; 1 unless some are fickle."""

    def mutants_with(self, fate: Fate) -> tuple[MutantFate, ...]:
        """Return the mutants with that fate."""
        return tuple(mutant for mutant in self.mutants if mutant.fate == fate)

    @property
    def counted_mutants(self) -> int:
        """Mutants that were killed or survived."""
        return len(self.mutants_with("killed")) + len(self.mutants_with("survived"))

    @property
    def kill_rate(self) -> float | None:
        """The share of them that was killed; ``None`` if there are none."""
        counted = self.counted_mutants
        return len(self.mutants_with("killed")) / counted if counted else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval of 95 % of `kill_rate`."""
        return wilson_interval(len(self.mutants_with("killed")), self.counted_mutants)


def kill_score(
    clean: _ByCase, placebos: Sequence[_ByCase], arms: Sequence[tuple[Mutant, _ByCase]]
) -> KillScore:
    """Return which mutants in ``arms`` are noticed; an arm has its (passed, judged) by case.

    A case without a verdict on a placebo counts as passing it.
    """
    passing = [name for name, trials in clean.items() if _is_passed(trials)]
    again = [
        (name, _is_passed(placebo[name]))
        for name in passing
        for placebo in placebos
        if name in placebo
    ]
    failed = [name for name, passed in again if not passed]
    chance = len(failed) / len(again) if again else 0.0
    able = tuple(name for name in passing if name not in failed)
    needed = _needed_failures(len(able), chance)
    return KillScore(
        mutants=tuple(_judge_mutant(mutant, able, needed, trials) for mutant, trials in arms),
        able=able,
        fickle=tuple(dict.fromkeys(failed)),
        chance=chance,
        needed=needed,
    )


def _judge_mutant(mutant: Mutant, able: Sequence[str], needed: int, trials: _ByCase) -> MutantFate:
    noticed = tuple(name for name in able if name in trials and _is_failed(trials[name]))
    fate: Fate = "survived"
    # Enough failures decide, even if other cases were not judged.
    if len(noticed) >= needed:
        fate = "killed"
    elif not able or any(name not in trials for name in able):
        fate = "open"
    return MutantFate(mutant=mutant, fate=fate, noticed_by=noticed)


def _is_passed(trials: Trials) -> bool:
    passed, judged = trials
    return passed * 2 > judged


def _is_failed(trials: Trials) -> bool:
    # A tie neither passes nor fails.
    passed, judged = trials
    return passed * 2 < judged


def _needed_failures(cases: int, chance: float) -> int:
    """Return the fewest failures that ``chance`` alone causes in at most `LEVEL` of all runs."""
    # The probability of fewer failures than are looked at.
    below = (1 - chance) ** cases
    for count in range(1, cases + 1):
        if 1 - below <= LEVEL:
            return count
        below += comb(cases, count) * chance**count * (1 - chance) ** (cases - count)
    return cases + 1


def missing_test(mutant: Mutant) -> str:
    """Return the YAML of a test that would notice ``mutant``; its author must write the prompt.

    Names and values come from the server; hidden characters in them are escaped.
    """
    call: dict[str, Any] = {"tool": mutant.tool}
    if mutant.parameter is not None:
        call["args"] = {mutant.parameter: mutant.value[0] if mutant.value else {"$any": True}}
    assertions: dict[str, Any] = {MUST_CALL.name: [call]}
    if mutant.other is not None:
        assertions[MUST_NOT_CALL.name] = [mutant.other]
    test = [{"name": _test_name(mutant), "prompt": _write_prompt(mutant), "assertions": assertions}]
    text = yaml.safe_dump(test, sort_keys=False, allow_unicode=True, width=100)
    if HIDDEN.search(text):
        return yaml.safe_dump(test, sort_keys=False, allow_unicode=False, width=100)
    return text


def _test_name(mutant: Mutant) -> str:
    parts = [mutant.tool, mutant.parameter or "", *map(str, mutant.value)]
    parts += [] if mutant.other is None else ["not", mutant.other]
    return re.sub(r"\W+", "_", "_".join(filter(None, parts))).strip("_").lower()


def _write_prompt(mutant: Mutant) -> str:
    """Return what the prompt of the missing test must ask for."""
    needs = f"only {mutant.tool} can answer"
    if mutant.other is not None:
        needs = f"{mutant.tool} answers and {mutant.other} does not"
    if mutant.value:
        needs += f", with {mutant.parameter} = {mutant.value[0]}"
    elif mutant.parameter is not None:
        needs += f", and that needs {mutant.parameter}"
    return f"TODO: ask, in a user's words, something that {needs}."
