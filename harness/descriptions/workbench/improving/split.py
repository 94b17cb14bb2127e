"""Splits the cases: proposers see one part, and the held-out part proves their proposals.

Cases are split by *intent*: cases that ask nearly the same, or the same question as several
identities, stay together. Otherwise a proposal could be proven on a question that it was made from.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base import Pair, Trials, merge_pair
from harness.descriptions.workbench.improving.proposal import expected_call
from harness.judging import wanted_tool
from harness.models import extract_terms
from harness.types import Case

HELD_OUT = 0.4
"""Share of the intents that proposers never see."""
_NEAR = 0.8
"""Similarity of prompts for one tool from which they count as one intent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """Cases that ask the same question."""

    cases: tuple[str, ...]
    """Names of the cases, in the order of the suite."""
    tool: str | None
    """The tool that the first case expects; ``None`` if it expects none, or any of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """All intents of a suite, in two parts."""

    seen: tuple[Intent, ...]
    """Intents from whose failures proposals are made, and on which they are screened."""
    held_out: tuple[Intent, ...]
    """Intents on which proposals are proven."""

    @property
    def size(self) -> int:
        """The number of all intents."""
        return len(self.seen) + len(self.held_out)


def split_intents(cases: Sequence[Case], seed: int) -> Split:
    """Return the intents of ``cases`` in two parts, by ``seed``; each tool has the same shares."""
    rng = random.Random(seed)  # noqa: S311 - which cases is no secret
    intents = list(group_intents(cases))
    rng.shuffle(intents)
    # Sorting is stable, so that the order within a tool stays random.
    intents.sort(key=lambda intent: intent.tool or "")
    # Every n-th from a random start: the shares are right overall and for each tool.
    start = rng.random()
    parts: tuple[list[Intent], list[Intent]] = ([], [])
    for place, intent in enumerate(intents):
        kept_back = int(start + (place + 1) * HELD_OUT) > int(start + place * HELD_OUT)
        parts[kept_back].append(intent)
    return Split(seen=tuple(parts[0]), held_out=tuple(parts[1]))


def case_names(intents: Iterable[Intent]) -> frozenset[str]:
    """Return the names of all cases of ``intents``."""
    return frozenset(name for intent in intents for name in intent.cases)


def pair_intents(
    intents: Iterable[Intent], before: Mapping[str, Trials], after: Mapping[str, Trials]
) -> list[Pair]:
    """Return each intent before and after, of its cases that were judged on both sides.

    An intent without such a case is left out.
    """
    found = (
        [(before[name], after[name]) for name in intent.cases if name in before and name in after]
        for intent in intents
    )
    return [merge_pair(pairs) for pairs in found if pairs]


def group_intents(cases: Sequence[Case]) -> tuple[Intent, ...]:
    """Return the intents of ``cases``, in the order of the first case of each."""
    tools = [wanted_tool(case) for case in cases]
    same_as = list(range(len(cases)))

    def find_root(place: int) -> int:
        while same_as[place] != place:
            place = same_as[place]
        return place

    first: dict[object, int] = {}
    for place, alike in _case_marks(cases, tools):
        # The earlier case stays the root, so that intents are in the order of the suite.
        one, other = sorted((find_root(place), find_root(first.setdefault(alike, place))))
        same_as[other] = one
    members: dict[int, list[str]] = {}
    for place, case in enumerate(cases):
        members.setdefault(find_root(place), []).append(case.name)
    return tuple(Intent(cases=tuple(own), tool=tools[place]) for place, own in members.items())


def _case_marks(cases: Sequence[Case], tools: Sequence[str | None]) -> Iterator[tuple[int, object]]:
    """Yield ``(index of a case, mark)``: cases with a common mark are one intent."""
    known: dict[str | None, dict[frozenset[str], None]] = {}
    for place, case in enumerate(cases):
        said = _prompt_words(case)
        yield place, said
        if case.caller.group is not None:
            yield place, case.caller.group
        others = known.setdefault(tools[place], {})
        yield from ((place, other) for other in others if _is_similar(said, other))
        others[said] = None


def _prompt_words(case: Case) -> frozenset[str]:
    """Return the words of the prompts that carry meaning, without the values of arguments."""
    call = expected_call(case)
    values = "" if call is None else " ".join(_plain_texts(call.arguments.values()))
    prompt = " ".join(case.prompts)
    left = frozenset(extract_terms(prompt)) - frozenset(extract_terms(values))
    # A prompt of nothing but values keeps all its words, or all such prompts would be alike.
    return left or frozenset(prompt.lower().split())


def _plain_texts(values: Iterable[object]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _plain_texts(value)
        elif isinstance(value, Mapping):
            yield from _plain_texts(value.values())


def _is_similar(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _NEAR * len(one | other)
