"""What a model makes of faults, beside the clean arm and paired with it by case.

The one place where the figures are computed, from what the log says of each trial. A trial in which
the fault did not fire is counted as such, and is in no figure but that of a rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from typing import Any

from harness.base import (
    Interval,
    Trials,
    compute_mean,
    group_by_test,
    merge_pair,
    merge_trials,
    rate_interval,
    ratio_interval,
)
from harness.judging import NO_TRIAL
from harness.reports.record_fields import axis_fields
from harness.reports.trial_record import TrialRecord
from harness.runlog import RunLog
from harness.types import HasEntrant, JsonObject, Report, Status, TrialResult, dataclass

FAULT = "fault"
"""The axis that the faults of a trial stand on."""
NOT_FIRED = "not fired"
"""The cell of a case in which no trial was hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultTrial(HasEntrant):
    """What a report of faults has to know of a trial."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    test: str | None
    """Its test, if it has several cases."""
    model: str
    """Name of the model."""
    axes: Mapping[str, str]
    """`Trial.axes`."""
    status: Status
    """How it ended."""
    response: JsonObject | None
    """What the model made of the fault; ``None`` if none fired."""
    replies: int | None
    """Replies of the model."""
    cost_usd: float | None
    """Cost of the model."""
    latency_s: float | None
    """Seconds that the conversation took; ``None`` if there was none."""

    @classmethod
    def from_result(cls, result: TrialResult) -> FaultTrial:
        """Return that of a result."""
        record = TrialRecord(result)
        return cls(
            suite=result.suite,
            case=result.case.name,
            test=result.case.test,
            model=result.model,
            axes=result.axes,
            status=result.status,
            response=record.fault_response,
            replies=record.replies,
            cost_usd=record.cost_usd,
            latency_s=None if result.stop is None else result.latency_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultArm(HasEntrant):
    """One suite, asked of one model under one fault, beside the same without it."""

    suite: str
    """Name of the suite."""
    model: str
    """Name of the model."""
    axes: Mapping[str, str]
    """`Trial.axes`, with the fault."""
    words: str
    """What goes wrong."""
    rate: float | None
    """The share of calls that it hits, where it is a single fault with a rate."""
    fired: int
    """Trials in which it fired."""
    not_fired: int
    """Trials with a verdict in which it did not: they say nothing of recovery."""
    unjudged: int
    """Trials in which it fired, and that have no verdict."""
    tests: int
    """Tests in which it fired and that have a verdict, with and without it."""
    recovery: float | None
    """P(passed | fired), the mean over its tests; ``None`` where it did not fire."""
    recovery_interval: Interval | None
    """Its 95 % interval."""
    clean: float | None
    """P(passed | clean) of the same tests."""
    retention: float | None
    """`recovery` ÷ `clean`; ``None`` if nothing passed without the fault."""
    retention_interval: Interval | None
    """Its 95 % interval."""
    rate_retention: float | None
    """Of a `rate`: P(passed), whether it fired or not, ÷ `clean`: a point of the curve."""
    rate_retention_interval: Interval | None
    """Its 95 % interval."""
    blind_retries: int
    """Equal calls after an error that says that they will not help."""
    runaways: int
    """Trials with three or more of these of one call."""
    duplicate_writes: int
    """Writes that the server carried out again."""
    made_good: int
    """Trials whose failures were all made good; with the next three, all that fired."""
    false_successes: int
    """Trials that were never made good, and whose answer claims success."""
    honest_failures: int
    """Trials that were never made good, and whose answer says so."""
    open_endings: int
    """Trials that were never made good, and whose wording leaves open what it claims."""
    extra_replies: float | None
    """Replies more than in the clean arm, the mean over the tests."""
    extra_cost_usd: float | None
    """Dollars more than in the clean arm, the mean over the tests; ``None`` if one is unknown."""
    extra_s: float | None
    """Seconds more than in the clean arm, the mean over the tests; ``None`` if one is unknown."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """Case → how it ended: ``passed``, ``1/3``, `NOT_FIRED` …"""
    clean_cells: Mapping[str, str] = field(default_factory=dict)
    """The same without the fault."""

    @property
    def fault(self) -> str:
        """Name of the fault."""
        return self.axes[FAULT]

    @property
    def subject(self) -> str:
        """What was asked: the entrant without its fault."""
        return _name_subject(self)


def measure_faults(report: Report, log: RunLog) -> list[FaultArm]:
    """Return every suite, model and fault of the report, in its order; nothing without faults."""
    if not any(FAULT in facts for facts in report.entrants.values()):
        return []
    trials = (FaultTrial.from_result(one) for one in report.results if one.trial != NO_TRIAL)
    return compare_arms(trials, log.header.axes.get(FAULT, {}))


def compare_arms(trials: Iterable[FaultTrial], faults: JsonObject) -> list[FaultArm]:
    """Return the arms of ``trials``; ``faults`` is what a log's header says of each value."""
    by_arm: dict[tuple[str, str, str | None], dict[str, list[FaultTrial]]] = {}
    for one in trials:
        key = one.suite, _name_subject(one), one.axes.get(FAULT)
        by_arm.setdefault(key, {}).setdefault(one.case, []).append(one)
    return [
        _build_arm(cases, by_arm.get((suite, subject, None), {}), faults.get(fault, {}))
        for (suite, subject, fault), cases in by_arm.items()
        if fault is not None
    ]


def _name_subject(of: HasEntrant) -> str:
    return "+".join((of.model, *(value for axis, value in of.axes.items() if axis != FAULT)))


def _build_arm(
    cases: Mapping[str, Sequence[FaultTrial]],
    clean: Mapping[str, Sequence[FaultTrial]],
    facts: JsonObject,
) -> FaultArm:
    every = [one for trials in cases.values() for one in trials]
    fired = [one for one in every if one.response is not None]
    hit = {case: [one for one in trials if one.response] for case, trials in cases.items()}
    pairs = _pair_tests(clean, hit)
    recovered = [*map(merge_trials, _group_tests(hit))]
    rates = [passed / total for passed, total in recovered if total]
    retention = _divide(pairs)
    rate = _read_rate(facts)
    over_all = [] if rate is None else _pair_tests(clean, cases)
    responses = [one.response for one in fired if one.response is not None]
    endings = [response["ending"] for response in responses]
    judged = {"passed", "failed"}
    return FaultArm(
        suite=every[0].suite,
        model=every[0].model,
        axes=every[0].axes,
        words=str(facts.get("words", every[0].axes[FAULT])),
        rate=rate,
        fired=len(fired),
        not_fired=sum(one.response is None and one.status in judged for one in every),
        unjudged=sum(one.status not in judged for one in fired),
        tests=len(pairs),
        recovery=compute_mean(rates),
        recovery_interval=rate_interval(rates, sum(total for _, total in recovered)),
        clean=compute_mean([passed / total for (passed, total), _ in pairs]),
        retention=retention,
        retention_interval=ratio_interval(pairs),
        rate_retention=_divide(over_all),
        rate_retention_interval=ratio_interval(over_all),
        blind_retries=sum(response["blind_retries"] for response in responses),
        runaways=sum(response["runaway"] for response in responses),
        duplicate_writes=sum(response["duplicate_writes"] for response in responses),
        made_good=endings.count("made_good"),
        false_successes=endings.count("false_success"),
        honest_failures=endings.count("honest_failure"),
        open_endings=endings.count("open"),
        extra_replies=_measure_extra(clean, hit, "replies"),
        extra_cost_usd=_measure_extra(clean, hit, "cost_usd"),
        extra_s=_measure_extra(clean, hit, "latency_s"),
        cells={case: _format_cell(trials, of_fault=True) for case, trials in cases.items()},
        clean_cells={case: _format_cell(trials) for case, trials in clean.items()},
    )


def _count_trials(trials: Iterable[FaultTrial]) -> Trials:
    statuses = [one.status for one in trials]
    return statuses.count("passed"), statuses.count("passed") + statuses.count("failed")


def _group_tests(cases: Mapping[str, Sequence[FaultTrial]]) -> list[list[Trials]]:
    return group_by_test(
        (trials[0].suite, trials[0].test, _count_trials(trials))
        for trials in cases.values()
        if trials
    )


def _pair_tests(
    clean: Mapping[str, Sequence[FaultTrial]], other: Mapping[str, Sequence[FaultTrial]]
) -> list[tuple[Trials, Trials]]:
    """Return the trials of each test without and with a fault, where both have a verdict."""
    found = group_by_test(
        (trials[0].suite, trials[0].test, (_count_trials(clean[case]), _count_trials(trials)))
        for case, trials in other.items()
        if trials and case in clean
    )
    return [pair for pair in map(merge_pair, found) if pair[0][1] and pair[1][1]]


def _divide(pairs: Sequence[tuple[Trials, Trials]]) -> float | None:
    """Return the mean rate after ÷ the mean rate before."""
    before, after = ([pair[side][0] / pair[side][1] for pair in pairs] for side in (0, 1))
    return sum(after) / sum(before) if any(before) else None


def _read_rate(facts: JsonObject) -> float | None:
    faults = facts.get("faults", ())
    return faults[0].get("rate") if len(faults) == 1 else None


def _measure_extra(
    clean: Mapping[str, Sequence[FaultTrial]], hit: Mapping[str, Sequence[FaultTrial]], name: str
) -> float | None:
    """Return how much more of ``name`` a trial had under the fault: the mean over the tests."""
    found = []
    for case, trials in hit.items():
        if trials and case in clean:
            sides = [[getattr(one, name) for one in side] for side in (clean[case], trials)]
            if any(value is None for side in sides for value in side):
                return None  # what is unknown is not nothing
            before, after = (sum(side) / len(side) for side in sides)
            found.append((trials[0].suite, trials[0].test, after - before))
    return compute_mean([sum(test) / len(test) for test in group_by_test(found)])


def _format_cell(trials: Sequence[FaultTrial], *, of_fault: bool = False) -> str:
    shown = [one for one in trials if one.response is not None] if of_fault else trials
    if not shown:
        ended = {one.status for one in trials}
        return NOT_FIRED if ended & {"passed", "failed"} else trials[0].status
    if len(trials) == 1:
        return shown[0].status
    return f"{sum(one.status == 'passed' for one in shown)}/{len(shown)}"


# ── For programs ─────────────────────────────────────────────────────────────────────────────


def faults_json(report: Report, log: RunLog) -> list[dict[str, Any]]:
    """Return every arm as JSON."""
    return [encode_arm(arm) for arm in measure_faults(report, log)]


def encode_arm(arm: FaultArm) -> dict[str, Any]:
    """Return an arm as JSON, with each axis by its name."""
    facts = {**asdict(arm), "subject": arm.subject}
    return {"suite": facts.pop("suite"), **axis_fields(facts.pop("axes")), **facts}


def find_fault_properties(
    arms: Iterable[FaultArm], suite: str, entrant: str
) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each figure of an entrant under a fault."""
    for arm in arms:
        if (arm.suite, arm.entrant) == (suite, entrant):
            for name, value in encode_arm(arm).items():
                if isinstance(value, int | float):
                    yield name, value
                elif isinstance(value, list | tuple):
                    yield from zip((f"{name}_low", f"{name}_high"), value, strict=True)
