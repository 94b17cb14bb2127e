"""The nouns of a comparison, and the trials of a case as it looks at them: counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import reduce
from itertools import chain
from math import fsum
from operator import add
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from harness.base import Evidence, Pair
from harness.reports.build import count_statuses
from harness.reports.trial_record import TrialRecord
from harness.types import (
    DECIDED,
    Counts,
    HasEntrant,
    Status,
    TrialResult,
    Usage,
    dataclass,
    known_sum,
)

Change: TypeAlias = Literal["better", "worse", "same", "not judged"]
"""How a case's pass rate moved; ``not judged`` when one side has no trial of it with a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side(HasEntrant):
    """One side: an entrant of a run. Its figures cover the cases that both sides share."""

    name: str
    """Its name in reports: ``A``, ``B``, …"""
    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log."""
    model: str
    """Name of the model."""
    started_at: str
    """UTC, ISO 8601."""
    counts: Counts
    """How its trials ended."""
    rate: float | None
    """Mean over the cases of the share of judged trials that passed; ``None`` when none was
    judged."""
    interval: tuple[float, float] | None
    """Its 95 % interval."""
    usage: Usage
    """Tokens and cost of its trials; unknown stays ``None``."""
    latency_s: float | None
    """Mean wall time of a trial that was started; ``None`` when none was."""
    exit_code: int = 0
    """The exit code of its whole run, by the results."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """Its value on each axis: `Trial.axes`."""
    ended: str = ""
    """How its whole run ended, in words: ``11 passed, 2 failed (interrupted)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The trials of one case on one side."""

    passed: int
    """Trials that passed."""
    judged: int
    """Trials with a verdict: the denominator."""
    unjudged: tuple[str, ...] = ()
    """What became of the others, each once: ``error (server)``, ``skipped (budget)``, ``no record``
    …"""

    @property
    def trial_counts(self) -> tuple[int, int]:
        """Trials that passed, and that were judged."""
        return self.passed, self.judged

    @property
    def rate(self) -> float | None:
        """Share of the judged trials that passed, or ``None`` when none was judged."""
        return self.passed / self.judged if self.judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePair:
    """One case on both sides."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    test: str | None = None
    """`CaseFacts.test`."""
    before: Tally
    """On the first side."""
    after: Tally
    """On the second side."""

    @classmethod
    def from_endings(cls, name: CaseName, before: CaseEndings, after: CaseEndings) -> CasePair:
        """Return the pair of the case of that name."""
        test = before.test or after.test
        return cls(suite=name[0], case=name[1], test=test, before=before.tally, after=after.tally)

    @property
    def trial_counts(self) -> Pair:
        """Those of both sides."""
        return self.before.trial_counts, self.after.trial_counts

    @property
    def difference(self) -> float | None:
        """Pass rate after minus before, or ``None`` when one is unknown."""
        before, after = self.before.rate, self.after.rate
        return None if before is None or after is None else after - before

    @property
    def change(self) -> Change:
        """How it moved."""
        moved = self.difference
        if moved is None:
            return "not judged"
        return "better" if moved > 0 else "worse" if moved < 0 else "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect on a set of cases: all that are shared, or those of one suite."""

    suite: str | None
    """``None`` means all shared cases."""
    better: int
    """Cases whose pass rate rose."""
    worse: int
    """Cases whose pass rate fell."""
    same: int
    """Cases whose pass rate did not change."""
    not_judged: int
    """Cases that one side has no verdict of; they are in none of the figures below."""
    tests: int = 0
    """Judged pairs, where the cases of one test count once: what the figures
    below are over."""
    before: float | None = None
    """Mean pass rate of the first side over the judged pairs; ``None`` when there is none."""
    after: float | None = None
    """The same of the second side."""
    interval: tuple[float, float] | None = None
    """95 % interval of the difference, after minus before."""
    interval_method: str | None = None
    """Name of the interval's method."""
    test: str | None = None
    """The paired test, by name; ``None`` when there is no pair."""
    p_value: float | None = None
    """Two-sided, of this test alone."""
    p_adjusted: float | None = None
    """The same after Holm's correction for all tests of the comparison: what the verdict goes
    by."""
    smallest: float | None = None
    """The smallest true difference that so many cases would show four times in five; ``None`` when
    not even a move of every case would be evidence."""
    evidence: Evidence = "undecided"
    """The verdict."""
    certain: bool = False
    """Whether both sides are the same subject, which always answers the same (the baseline, a
    recording): a case that changed is evidence by itself."""
    cases_to_decide: int | None = None
    """Cases that would likely show a difference of the margin, or that there is none; ``None``
    where it is decided, or where the data say nothing of it."""

    @property
    def pairs(self) -> int:
        """Judged pairs: the number of cases behind the figures."""
        return self.better + self.worse + self.same

    @property
    def unit(self) -> Literal["cases", "tests"]:
        """What the figures are the mean of."""
        return "cases" if self.tests == self.pairs else "tests"

    @property
    def difference(self) -> float | None:
        """Mean pass rate after minus before."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two sides on the cases that they share."""

    before: Side
    """The side that is compared with."""
    after: Side
    """The side that is compared."""
    differences: tuple[str, ...]
    """Different settings, in words: model, prompts, checks, servers, tools, judge."""
    cases: tuple[CasePair, ...]
    """Every shared case, in the order of the first side."""
    effects: tuple[Effect, ...]
    """All shared cases first; then suite by suite, where there are several."""
    only_before: tuple[str, ...]
    """Cases (``suite::case``) that only the first side has."""
    only_after: tuple[str, ...]
    """Cases that only the second side has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All contrasts that were asked for, with one correction over all their tests."""

    contrasts: tuple[Contrast, ...]
    """At least one."""
    level: float
    """The chance of any false alarm that the verdicts allow."""
    tests: int
    """How many tests Holm's correction covers."""
    margin: float
    """Difference that makes no difference: within it two sides are equivalent, as a rate."""
    by_people: bool = False
    """Whether a person's verdict takes the place of the machine's, where there is one."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """Every side once, by name."""
        each = [side for pair in self.contrasts for side in (pair.before, pair.after)]
        sides = {side.name: side for side in each}
        return tuple(sides[name] for name in sorted(sides, key=lambda name: (len(name), name)))

    @property
    def is_judged(self) -> bool:
        """Whether any case was judged on both sides of a contrast."""
        return any(contrast.effects[0].pairs for contrast in self.contrasts)

    def iterate_effects(self) -> Iterator[tuple[Contrast, Effect]]:
        """Yield every effect with the contrast that it belongs to."""
        for contrast in self.contrasts:
            for effect in contrast.effects:
                yield contrast, effect


CaseName: TypeAlias = tuple[str, str]
"""Suite and case."""
T = TypeVar("T")


class TrialEnding(NamedTuple):
    """How one trial ended."""

    status: Status
    """Its status."""
    error_kind: str | None
    """`TrialError.kind`."""
    skip_reason: str | None
    """`TrialResult.skip_reason`."""

    @classmethod
    def from_result(cls, result: TrialResult) -> TrialEnding:
        """Return the ending of ``result``."""
        kind, as_text = TrialRecord(result).error_kind, result.written_call is not None
        return cls.from_parts(result.status, kind, result.skip_reason, as_text)

    @classmethod
    def from_parts(
        cls, status: Status, error_kind: str | None, skip_reason: str | None, as_text: object
    ) -> TrialEnding:
        """Return an ending; a trial whose call arrived as text has no verdict on the words."""
        if as_text and status in {"passed", "failed"}:
            return cls("skipped", None, "a call written as text")
        return cls(status, error_kind, skip_reason)

    @property
    def no_verdict_reason(self) -> str | None:
        """Why it has no verdict, in words; ``None`` if it has one or was not needed for one."""
        if self.status in {"passed", "failed"} or self.skip_reason == DECIDED:
            return None
        detail = self.error_kind or self.skip_reason
        return f"{self.status} ({detail})" if detail else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEndings:
    """How the trials of one case ended."""

    counts: Counts
    """Their number, by status."""
    tally: Tally
    """What the comparison of the case goes by."""
    test: str | None = None
    """`CaseFacts.test`."""

    @classmethod
    def from_trials(cls, endings: Iterable[TrialEnding], test: str | None = None) -> CaseEndings:
        """Count ``endings``, at least one."""
        counted = Counter(endings)
        statuses: Counter[Status] = Counter()
        for ending, number in counted.items():
            statuses[ending.status] += number
        words = dict.fromkeys(filter(None, (one.no_verdict_reason for one in counted)))
        return cls.from_counts(count_statuses(statuses), tuple(words), test)

    @classmethod
    def from_counts(
        cls, counts: Counts, unjudged: tuple[str, ...], test: str | None = None
    ) -> CaseEndings:
        """Return endings that were counted before."""
        tally = Tally(passed=counts.passed, judged=counts.judged_count, unjudged=unjudged)
        return cls(counts=counts, tally=tally, test=test)


NO_RECORD = CaseEndings.from_counts(Counts(), ("no record",))
"""Of a case of which the log has no trial."""


class CaseUsage(NamedTuple):
    """What the trials of one case took."""

    input_tokens: int | None
    """`Usage.input_tokens` of all of them."""
    output_tokens: int | None
    """`Usage.output_tokens` of all of them."""
    cache_read_tokens: int | None
    """`Usage.cache_read_tokens` of all of them."""
    cache_write_tokens: int | None
    """`Usage.cache_write_tokens` of all of them."""
    costs: Sequence[float] | None
    """The cost of each trial in US dollars, in order; ``None`` if one is unknown."""
    latencies: Sequence[float]
    """Seconds of each trial that was started."""

    @classmethod
    def from_trials(cls, trials: Iterable[tuple[Usage, float | None]]) -> CaseUsage:
        """Add up usages, each with the seconds of the trial; ``None`` if it was not started."""
        used, costs, latencies = Usage(), [], []
        for usage, seconds in trials:
            used += usage
            costs.append(usage.cost_usd)
            if seconds is not None:
                latencies.append(seconds)
        known = [cost for cost in costs if cost is not None]
        tokens = used.input_tokens, used.output_tokens
        cached = used.cache_read_tokens, used.cache_write_tokens
        return cls(*tokens, *cached, known if len(known) == len(costs) else None, latencies)


def sum_usage(cases: Iterable[CaseUsage]) -> tuple[Usage, float | None]:
    """Return what the trials of ``cases`` used together, and their mean latency.

    Unknown stays ``None``. Costs are added trial by trial: a sum of sums would differ in the last
    digit. The cases go by one at a time.
    """
    tokens: list[int | None] = [0, 0, 0, 0]
    cost: float | None = 0.0
    started = 0

    def iterate_latencies() -> Iterator[Sequence[float]]:
        nonlocal tokens, cost, started
        for *more, costs, seconds in cases:
            tokens = list(map(known_sum, tokens, more))
            cost = None if cost is None or costs is None else reduce(add, costs, cost)
            started += len(seconds)
            yield seconds

    seconds = fsum(chain.from_iterable(iterate_latencies()))
    tokens_in, tokens_out, read, written = tokens
    usage = Usage(
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cost_usd=cost,
    )
    return usage, seconds / started if started else None


class CountedTrials(Protocol):
    """The trials of a run by model and case; only as many are in memory as the reader needs."""

    def get_endings(self, entrant: str) -> Mapping[CaseName, CaseEndings]:
        """Return how the trials of each case ended, in the order of a report."""
        ...

    def iterate_usage(self, entrant: str, names: Iterable[CaseName]) -> Iterator[CaseUsage]:
        """Yield what the trials of each of those cases took, in that order."""
        ...

    def find_offered_tools(self, entrant: str, names: Iterable[CaseName]) -> AbstractSet[str]:
        """Return the digests of the tool lists that the users of those cases were shown."""
        ...
