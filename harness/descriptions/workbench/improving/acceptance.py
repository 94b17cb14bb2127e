"""Accept proposals: screen them on the seen cases, prove them on the held-out ones.

Every *look* at the held-out cases may be wrong. The number of looks is fixed beforehand, and each
has an equal share of the 5 %, so that any of them is wrong at most that often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil

from harness.base import (
    Interval,
    Pair,
    Trials,
    compute_allowance,
    count_cases_needed,
    difference_interval,
    not_worse,
    paired_effects,
)
from harness.descriptions.workbench.improving.proposal import (
    Proposal,
    combine_proposals,
    find_mistake,
)
from harness.descriptions.workbench.improving.split import HELD_OUT, Intent, pair_intents
from harness.types import Tool

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
