"""The trials of one case with one model as a comparison looks at them: counted, not one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import fsum
from operator import add
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from harness.reports.build import count_statuses
from harness.reports.comparing.comparison_types import Tally
from harness.reports.trial_record import TrialRecord
from harness.types import DECIDED, Counts, Status, TrialResult, Usage, known_sum

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
    """The test that it is, asked as one of several identities; ``None`` for any other case."""

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


def group_by_test(cases: Iterable[tuple[CaseName, str | None, T]]) -> Iterable[list[T]]:
    """Return what belongs to each test: the identities that a test is asked as are together."""
    # With a mark whether it is a test or a case: the two may have the same name.
    tests: dict[tuple[str, str, bool], list[T]] = {}
    for (suite, case), test, its in cases:
        tests.setdefault((suite, test or case, test is None), []).append(its)
    return tests.values()


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
