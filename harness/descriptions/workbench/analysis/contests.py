"""Which of several equal tools is called first, computed from first calls alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from harness.base import (
    LEVEL,
    ChoiceShare,
    Trials,
    adjust_by_holm,
    group_cases,
    measure_choice_share,
    merge_trials,
)

RIVALS = 4
"""Number of equal tools that are offered: one of the server's, and copies of it."""

Kind: TypeAlias = Literal["equal", "brag", "own"]
"""The text that only the server's tool has: none, the stock brag, or its own assertive
sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestPick:
    """The first call of one trial."""

    case: str
    """Name of the case."""
    tool: str
    """The copied tool, which is also the expected one."""
    kind: Kind
    """The text that sets it apart."""
    chosen: bool | None
    """Whether the tool itself was called; ``None`` when neither it nor a copy was called."""
    place: int | None = None
    """Position of the called tool among the rivals in the list, from 0."""
    name: str | None = None
    """Name under which the called tool was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """How often the tool that was set apart is called first."""

    kind: Kind
    """The text that sets it apart."""
    tool: str | None
    """The tool; ``None`` for all together."""
    share: ChoiceShare
    """Its share of the calls of all rivals."""
    elsewhere: int
    """Trials in which no rival was called first; the share leaves them out."""
    p_adjusted: float
    """p-value after Holm's correction over all tested contests; contests of equal texts are not
    tested."""

    @property
    def is_winning(self) -> bool:
        """Whether its text is shown to win calls."""
        return self.kind != "equal" and self.p_adjusted < LEVEL and self.share.advantage > 0

    @property
    def is_losing(self) -> bool:
        """Whether its text is shown to lose calls."""
        return self.kind != "equal" and self.p_adjusted < LEVEL and self.share.advantage < 0

    @property
    def call_ratio(self) -> float | None:
        """How many times as often as each copy it is called; ``None`` when no copy was called."""
        rest = 1 - self.share.share
        return None if rest <= 0 else self.share.share / (rest / (RIVALS - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """The effect of texts among equal tools."""

    contests: tuple[Contest, ...]
    """Equal texts and the stock assertive text over all tools, then each tool's own."""
    places: Mapping[int, int]
    """Position among the rivals, from 0 → first calls there, with equal texts."""
    names: Mapping[str, int]
    """Last letter of the shown name → first calls under it, with equal texts."""

    def find_contest(self, kind: Kind, tool: str | None = None) -> Contest | None:
        """Return the contest of that kind."""
        return next((c for c in self.contests if (c.kind, c.tool) == (kind, tool)), None)


def analyze_steering(
    picks: Iterable[ContestPick], tests: Mapping[str, str] | None = None
) -> Steering:
    """Return the effects that ``picks`` show.

    Every tool must have had every position and every name equally often, so that a preference for a
    position or a name gives an even share. ``tests`` has the test of each case that is asked as one
    of several identities; those of a test count as one case.
    """
    picks = list(picks)
    owners = dict.fromkeys(pick.tool for pick in picks if pick.kind == "own")
    asked: list[tuple[Kind, str | None]] = [("equal", None), ("brag", None)]
    asked += [("own", tool) for tool in owners]
    found = []
    for kind, tool in asked:
        those = [pick for pick in picks if pick.kind == kind and tool in (None, pick.tool)]
        chosen = _count_by_case(those)
        alike = group_cases(chosen, tests or {})
        share = measure_choice_share(
            [merge_trials([chosen[case] for case in one]) for one in alike], RIVALS
        )
        if share is not None:
            found.append((kind, tool, share, sum(one.chosen is None for one in those)))
    # Equal texts are a control that nobody tests, so they are no part of the correction.
    adjusted = iter(
        adjust_by_holm([share.p_value for kind, _, share, _ in found if kind != "equal"])
    )
    return Steering(
        contests=tuple(
            Contest(
                kind=kind,
                tool=tool,
                share=share,
                elsewhere=elsewhere,
                p_adjusted=share.p_value if kind == "equal" else next(adjusted),
            )
            for kind, tool, share, elsewhere in found
        ),
        places=_count_values([pick.place for pick in picks if pick.kind == "equal"]),
        names=_count_values(
            [pick.name and pick.name[-1] for pick in picks if pick.kind == "equal"]
        ),
    )


def _count_by_case(picks: Sequence[ContestPick]) -> dict[str, Trials]:
    """Return case → (trials that called the tool itself, trials that called any rival)."""
    found: dict[str, Trials] = {}
    for pick in picks:
        if pick.chosen is not None:
            chosen, total = found.get(pick.case, (0, 0))
            found[pick.case] = chosen + pick.chosen, total + 1
    return found


def _count_values(values: Iterable[Any]) -> Mapping[Any, int]:
    return dict(sorted(Counter(value for value in values if value is not None).items()))
