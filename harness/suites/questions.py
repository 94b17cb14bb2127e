"""Which tests of a suite ask one question: rephrasings, which count as one piece of evidence.

Two tests ask the same if the same is expected of them, from the same caller and server, and their
prompts have nearly the same words. ``test:`` names the question instead, where this rule is wrong:
for one question in wholly other words, or for two that only look alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.types import Case, Check

ReadTest: TypeAlias = tuple[str, str | None, Sequence[Case]]
"""The name of a test, that of its question if it names one, and its cases, at least one."""
_NEAR = 0.8
"""Share of the words that prompts have in common which have nearly the same."""
_COMPARED = 300
"""Tests of equal expectations that are compared by their words: more would take too long."""


def name_questions(tests: Sequence[ReadTest]) -> list[str | None]:
    """Return for each test the name of its question; ``None`` if it is one case and asks alone.

    ``tests`` are those of a suite. A question is called like the first test that asks it.
    """
    names = [*_find_names(tests)]
    asked = Counter(names)
    return [
        name if len(cases) > 1 or asked[name] > 1 else None
        for (_, _, cases), name in zip(tests, names, strict=True)
    ]


def add_questions(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return ``cases``, each of a test of its own, with the names of their questions."""
    names = name_questions([(case.name, None, [case]) for case in cases])
    return tuple(
        replace(case, repeats=replace(case.repeats, test=name)) if name else case
        for case, name in zip(cases, names, strict=True)
    )


def _find_names(tests: Sequence[ReadTest]) -> Iterator[str]:
    """Yield the name of the first test that asks the same, for each of ``tests``."""
    known: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for name, named, cases in tests:
        key = None if named else _describe_expectations(cases)
        if key is None:
            yield named or name
            continue
        words = frozenset(re.findall(r"\w+", " ".join(cases[0].prompts).lower()))
        others = known.setdefault(key, [])
        same = (other for other, said in others if len(words & said) >= _NEAR * len(words | said))
        question = next(same, name)
        if len(others) < _COMPARED:
            others.append((question, words))
        yield question


def _describe_expectations(cases: Iterable[Case]) -> str | None:
    """Return everything of ``cases`` but words; ``None`` where it is not known to be all."""
    parts = []
    for case in cases:
        # A simulated user's question is its whole scenario; what code asks for nobody can see.
        if case.user is not None or any(
            check.code is not None for each in case.every_check for check in each.walk()
        ):
            return None
        calls = (
            [(it.tool, it.arguments) for it in them]
            for them in (case.setup, case.calls, case.teardown)
        )
        parts.append(
            (
                _place_nowhere(case.checks),
                [(turn.fresh, turn.ingest, _place_nowhere(turn.checks)) for turn in case.turns],
                *calls,
                replace(case.caller, group=None),
                case.server,
                case.limits,
                case.interruption,
            )
        )
    return repr(parts)


def _place_nowhere(checks: Iterable[Check]) -> list[Check]:
    return [check.with_location(None) for check in checks]
