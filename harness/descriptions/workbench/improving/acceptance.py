"""Splits the cases, and accepts proposals: screened on the seen ones, proven on the held-out ones.

Cases are split by *intent*: cases that ask nearly the same, or the same question as several
identities, stay together. Otherwise a proposal could be proven on a question that it was made from.

Every *look* at the held-out cases may be wrong. The number of looks is fixed beforehand, and each
has an equal share of the 5 %, so that any of them is wrong at most that often.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import ceil

from harness.base import (
    Interval,
    Pair,
    Trials,
    compute_allowance,
    count_cases_needed,
    difference_interval,
    merge_pair,
    not_worse,
    paired_effects,
)
from harness.descriptions.workbench.improving.proposal import (
    Proposal,
    combine_proposals,
    expected_call,
    find_mistake,
)
from harness.judging import wanted_tool
from harness.models import extract_terms
from harness.types import Case, Tool, dataclass

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
        if case.test is not None:
            yield place, case.test
        others = known.setdefault(tools[place], {})
        for other in others:
            if len(said & other) >= _NEAR * len(said | other):
                yield place, other
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


MOST_PROPOSALS = 12
"""Most proposals that are tried on the seen cases."""
MOST_FINALISTS = 3
"""Most proposals that are tried on the held-out cases; one more look is for their combination."""
LOOKS = MOST_FINALISTS + 1
"""Number of looks at the held-out cases that the correction accounts for."""
LEVEL = compute_allowance(1, looks=LOOKS)
"""The chance of a false claim in each look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The effect of a proposal over the intents that were judged with and without it."""

    intents: int
    """Number of intents."""
    before: float
    """Mean pass rate on the server's own list."""
    after: float
    """Mean pass rate under the proposal."""
    interval: Interval
    """Interval of the difference, at 1 − `level`."""
    level: float
    """The chance that the interval or the test is wrong."""
    p_value: float
    """p-value of the exact paired test."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    @property
    def is_significant(self) -> bool:
        """Whether it is better: the lower bound is above 0, and the exact test agrees."""
        return self.interval[0] > 0 and self.p_value <= self.level


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutResult:
    """The result of a proposal on the held-out cases."""

    proposal: Proposal
    """The proposal."""
    gain: Gain
    """Its effect over all held-out intents."""
    others: int
    """Number of held-out intents that expect a tool whose words are unchanged."""
    others_interval: Interval | None
    """90 % interval of the difference on these; ``None`` when there are none."""
    harmed: tuple[str, ...]
    """Tools whose held-out questions get significantly worse."""
    refused: str | None
    """Why it is not kept; ``None`` if it is kept."""

    @property
    def is_kept(self) -> bool:
        """Whether it is proven."""
        return self.refused is None


def measure_gain(pairs: Sequence[Pair], level: float) -> Gain | None:
    """Return the effect over ``pairs`` of intents; ``None`` without any."""
    [effect] = paired_effects([pairs])
    found = difference_interval(pairs, level)
    if effect is None or found is None:
        return None
    return Gain(
        intents=effect.pairs,
        before=effect.before,
        after=effect.after,
        interval=found[0],
        level=level,
        p_value=effect.test.p_value,
    )


def evaluate_proposal(
    proposal: Proposal,
    held_out: Sequence[Intent],
    before: Mapping[str, Trials],
    after: Mapping[str, Trials],
    margin: float,
) -> HeldOutResult | None:
    """Return the result of ``proposal`` on the held-out intents; ``None`` if none was judged."""
    gain = measure_gain(pair_intents(held_out, before, after), LEVEL)
    if gain is None:
        return None
    untouched = [intent for intent in held_out if intent.tool not in proposal.tools]
    pairs = pair_intents(untouched, before, after)
    # The ends of an interval of 90 % are one-sided bounds of 5 %.
    interval = difference_interval(pairs, 0.1)
    harmed = tuple(_find_harmed_tools(held_out, before, after))
    # A proposal for every tool leaves no others that it could harm.
    held = not untouched or not_worse(pairs, margin) is True
    refused = _find_refusal(gain, harmed, len(pairs), margin, others_hold=held)
    return HeldOutResult(
        proposal=proposal,
        gain=gain,
        others=len(pairs),
        others_interval=None if interval is None else interval[0],
        harmed=harmed,
        refused=refused,
    )


def choose_finalists(
    screened: Iterable[tuple[Proposal, Gain]], tools: Sequence[Tool]
) -> tuple[Proposal, ...]:
    """Return the finalists: all proposals with a gain combined, then the best single ones."""
    ranked = sorted(screened, key=lambda one: -one[1].difference)
    best = [one for one, gain in ranked if gain.difference > 0]
    if len(best) > 1:
        bundle = combine_proposals("all that gained", best, tools)
        # A combination may be wrong where none of its parts is.
        if find_mistake(bundle, tools) is None:
            best.insert(0, bundle)
    return tuple(best[:MOST_FINALISTS])


def fewest_gains() -> int:
    """Return the minimum number of improved intents, with none worse, that proves a gain."""
    # The exact two-sided test of gains alone: as many tosses of a coin with one side up.
    return next(gains for gains in count(1) if 2 / 2**gains <= LEVEL)


def questions_for_gain(difference: float) -> int:
    """Return the number of questions that prove a gain of ``difference`` with 80 % power.

    This assumes that no question gets worse, and that each is asked once.
    """
    return ceil(count_cases_needed(difference, difference, alpha=LEVEL) / HELD_OUT)


def questions_for_margin(margin: float) -> int:
    """Return the number of questions for other tools that show a loss below ``margin``.

    This assumes that none of them gets worse.
    """
    fewest = next(n for n in count(1) if not_worse([((1, 1), (1, 1))] * n, margin))
    return ceil(fewest / HELD_OUT)


def _find_harmed_tools(
    held_out: Sequence[Intent], before: Mapping[str, Trials], after: Mapping[str, Trials]
) -> Iterable[str]:
    for tool in dict.fromkeys(intent.tool for intent in held_out):
        own = [intent for intent in held_out if intent.tool == tool]
        # One by one: a correction over all tools would make harm harder to see.
        [effect] = paired_effects([pair_intents(own, before, after)])
        if effect is not None and effect.verdict == "worse":
            yield tool or "no tool"


def _find_refusal(
    gain: Gain, harmed: Sequence[str], others: int, margin: float, *, others_hold: bool
) -> str | None:
    if not gain.is_significant:
        low, high = (100 * bound for bound in gain.interval)
        return (
            f"no gain is shown on the held-out questions: {100 * gain.difference:+.0f} points "
            f"({low:+.0f} to {high:+.0f})"
        )
    if harmed:
        return f"it makes questions for {', '.join(harmed)} worse"
    if not others_hold:
        return (
            f"it is not shown that the {others} held-out questions for other tools lose less than "
            f"{100 * margin:.0f} points"
        )
    return None
