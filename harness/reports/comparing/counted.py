"""The trials of one case with one model as a comparison looks at them: counted, not one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from math import fsum
from operator import add
from typing import NamedTuple, Protocol, TypeAlias

from harness.reports.build import counts_of
from harness.reports.comparing.nouns import Tally
from harness.types import DECIDED, Counts, Status, TrialResult, Usage

CaseName: TypeAlias = tuple[str, str]
"""Suite and case."""


class Ending(NamedTuple):
    """How one trial ended."""

    status: Status
    """Its status."""
    error_kind: str | None
    """`TrialError.kind`."""
    skip_reason: str | None
    """`TrialResult.skip_reason`."""

    @classmethod
    def of(cls, result: TrialResult) -> Ending:
        """Return the ending of ``result``."""
        kind = None if result.error is None else result.error.kind
        return cls(result.status, kind, result.skip_reason)

    @property
    def unjudged(self) -> str | None:
        """Why it has no verdict, in words; ``None`` if it has one or was not needed for one."""
        if self.status in {"passed", "failed"} or self.skip_reason == DECIDED:
            return None
        detail = self.error_kind or self.skip_reason
        return f"{self.status} ({detail})" if detail else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Endings:
    """How the trials of one case ended."""

    counts: Counts
    """Their number, by status."""
    tally: Tally
    """What the comparison of the case goes by."""

    @classmethod
    def of(cls, endings: Iterable[Ending]) -> Endings:
        """Count ``endings``, at least one."""
        counted = Counter(endings)
        statuses: Counter[Status] = Counter()
        for ending, number in counted.items():
            statuses[ending.status] += number
        words = dict.fromkeys(one.unjudged for one in counted if one.unjudged is not None)
        return cls.counted(counts_of(statuses), tuple(words))

    @classmethod
    def counted(cls, counts: Counts, unjudged: tuple[str, ...]) -> Endings:
        """Return endings that were counted before."""
        tally = Tally(passed=counts.passed, judged=counts.judged, unjudged=unjudged)
        return cls(counts=counts, tally=tally)


NO_RECORD = Endings.counted(Counts(), ("no record",))
"""Of a case of which the log has no trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the trials of one case took."""

    tokens: Usage
    """Their tokens; the cost stands apart."""
    costs: Sequence[float] | None
    """The cost of each trial in US dollars, in order; ``None`` if one is unknown."""
    latencies: Sequence[float]
    """Seconds of each trial that was started."""

    @classmethod
    def of(cls, trials: Iterable[tuple[Usage, float | None]]) -> Spent:
        """Add up usages, each with the seconds of the trial; ``None`` if it was not started."""
        tokens, costs, latencies = Usage(), [], []
        for usage, seconds in trials:
            tokens += usage
            costs.append(usage.cost_usd)
            if seconds is not None:
                latencies.append(seconds)
        known = [cost for cost in costs if cost is not None]
        return cls(
            tokens=replace(tokens, cost_usd=0.0),
            costs=known if len(known) == len(costs) else None,
            latencies=latencies,
        )


@dataclass(slots=True)
class Total:
    """What the trials of many cases took together.

    Costs are added trial by trial: a sum of sums would differ in the last digit.
    """

    usage: Usage
    """Tokens and cost; unknown if one is unknown."""
    latency_s: float | None
    """Mean latency of the trials that were started; ``None`` without any."""

    @classmethod
    def of(cls, cases: Iterable[Spent]) -> Total:
        """Add up ``cases``, which go by one at a time."""
        tokens, started = Usage(), 0
        cost: float | None = 0.0

        def latencies() -> Iterator[Sequence[float]]:
            nonlocal tokens, cost, started
            for case in cases:
                tokens += case.tokens
                if case.costs is None:
                    cost = None
                elif cost is not None:
                    cost = reduce(add, case.costs, cost)
                started += len(case.latencies)
                yield case.latencies

        seconds = fsum(chain.from_iterable(latencies()))
        return cls(
            usage=replace(tokens, cost_usd=cost),
            latency_s=seconds / started if started else None,
        )


class CountedTrials(Protocol):
    """The trials of a run by model and case; only as many are in memory as the reader needs."""

    def endings(self, model: str) -> Mapping[CaseName, Endings]:
        """Return how the trials of each case ended, in the order of a report."""
        ...

    def spent(self, model: str, names: Iterable[CaseName]) -> Iterator[Spent]:
        """Yield what the trials of each of those cases took, in that order."""
        ...

    def offered(self, model: str, names: Iterable[CaseName]) -> AbstractSet[str]:
        """Return the digests of the tool lists that the users of those cases were shown."""
        ...
