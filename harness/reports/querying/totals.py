"""What a run came to, over all of its trials: the verdicts on its cases, and its one row.

Trials are read in the order of a report, a case at a time, and given to the functions that make
the report.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, field, replace
from itertools import groupby
from operator import itemgetter
from struct import pack, unpack
from typing import Any

from harness.judging import (
    NO_LEAK,
    NO_TRIAL,
    case_results,
    choose_exit_code,
    counted_result,
    find_missing,
    order_by_header,
)
from harness.reports.build import Totals, build_run_report, past_run
from harness.reports.comparing.comparison_types import CaseEndings, CaseUsage, TrialEnding
from harness.reports.querying.columns import ENTRANT, to_number
from harness.reports.querying.tables import CASES, RUNS, build_case_row
from harness.reports.sections.remarks import count_calls
from harness.reports.sections.sentences import compute_pass_rate
from harness.runlog import RunLog
from harness.suites import AXES
from harness.types import (
    WRITTEN_CALL,
    CallCounts,
    CaseFacts,
    CaseResult,
    Counts,
    Status,
    TrialResult,
    Usage,
    dataclass,
)

_AXES = ", ".join(f"'{axis.name}', \"{axis.name}\"" for axis in AXES)
_ROWS = f"""
SELECT suite_at, case_at, model_at, repeat, trial_id, suite, "case", model, json_object({_AXES}),
    status, repeats, pass_threshold, test, identity, tokens_in, tokens_out, cost_usd,
    judge_cost_usd, user_cost_usd, outcomes
FROM "_places" JOIN "trials" USING (trial_id)
ORDER BY suite_at, case_at, model_at, repeat, first_at
"""  # noqa: S608 - our own names


def write_totals(
    db: sqlite3.Connection,
    log: RunLog,
    size: int,
    add_missing: Callable[[TrialResult, int], None],
) -> None:
    """Write the rows of cases and of the run; ``log`` has no results, they are in ``db``.

    ``add_missing`` adds a row for a planned case that has no result, and is told its number.
    """
    whole: list[TrialResult] = []
    for number, result in enumerate(
        list(find_missing(log.header, log.footer, _IndexedResults(db))), start=1
    ):
        # The run as a whole is no trial and has no row, but it counts as a verdict.
        if result.trial == NO_TRIAL:
            whole.append(result)
        else:
            add_missing(result, number)
    sums = _RunningTotals()
    db.execute('DELETE FROM "cases"')
    # In one pass: each case is added up, written and rated as it goes by, and none is kept.
    rate = compute_pass_rate(sums.write_each(db, _iterate_cases(db, log, whole)))
    report = build_run_report(log, sums.totals)
    code = choose_exit_code(sums.verdicts, report.reason, report.counts.planned, sums.results)
    past = past_run(report)
    row = RUNS.build_row(
        header=log.header,
        past=replace(past, exit_code=code),
        counts=past.counts,
        finished_at=report.finished_at,
        pass_rate=rate and rate.rate,
        pass_rate_low=rate and rate.low,
        pass_rate_high=rate and rate.high,
        usage=report.usage,
        judge_usage=report.judge_usage,
        user_usage=report.user_usage,
        calls=CallCounts(outcomes=dict(sums.outcomes)),
        log_bytes=size,
    )
    db.execute('DELETE FROM "runs"')
    db.execute(RUNS.insert_statement, row)


@dataclass(slots=True)
class _RunningTotals:
    """What is added up while cases go by."""

    totals: Totals = field(default_factory=Totals)
    verdicts: set[Status] = field(default_factory=set)
    results: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def write_each(
        self, db: sqlite3.Connection, cases: Iterable[CaseResult]
    ) -> Iterator[CaseResult]:
        """Write and add up each of ``cases``, and pass it on."""
        for case in cases:
            self.verdicts.add(case.status)
            self.results += len(case.trials)
            self.outcomes.update(count_calls(case.trials).outcomes)
            for trial in case.trials:
                self.totals.add_result(trial)
            db.execute(CASES.insert_statement, build_case_row(case))
            yield case


def _iterate_cases(
    db: sqlite3.Connection, log: RunLog, whole: list[TrialResult]
) -> Iterator[CaseResult]:
    """Yield the verdicts; the trials of a case share its place, and stand one behind the other."""
    order = order_by_header(log.header)
    leaking = {
        trial_id
        for (trial_id,) in db.execute(
            "SELECT trial_id FROM checks WHERE kind = ? AND verdict = 'failed'", (NO_LEAK,)
        )
    }
    trials = ((tuple(row[:4]), _build_counted_result(row, leaking)) for row in db.execute(_ROWS))
    others = sorted(((order(one), one) for one in whole), key=itemgetter(0))
    together = heapq.merge(trials, others, key=itemgetter(0))
    for _, same in groupby(together, key=lambda found: found[0][:3]):
        yield from case_results(one for _, one in same)


def _build_counted_result(row: tuple[Any, ...], leaking: AbstractSet[int]) -> TrialResult:
    _, _, _, repeat, trial_id, suite, case, model, axes, status, repeats, share, *more = row
    test, identity, tokens_in, tokens_out, cost, judge_cost, user_cost, outcomes = more
    return counted_result(
        CaseFacts(name=case, pass_threshold=share, test=test, identity=identity),
        suite=suite,
        model=model,
        axes={axis: value for axis, value in json.loads(axes).items() if value is not None},
        trial=repeat,
        repeats=repeats,
        status=status,
        leaks=trial_id in leaking,
        outcomes=outcomes and json.loads(outcomes),
        usage=Usage(input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost),
        judge_usage=Usage(cost_usd=judge_cost),
        user_usage=Usage(cost_usd=user_cost),
    )


@dataclass(frozen=True, slots=True)
class _IndexedResults:
    """The results that the log has, in the index."""

    db: sqlite3.Connection

    def __len__(self) -> int:
        # A trial beyond the plan has 0 repeats, and stands for none that is missing.
        (number,) = self.db.execute('SELECT count(*) FROM "trials" WHERE repeats > 0').fetchone()
        return int(number)

    def list_cases(self) -> Collection[tuple[str, str, str]]:
        return set(self.db.execute(f'SELECT DISTINCT suite, "case", {ENTRANT} FROM "trials"'))  # noqa: S608

    def list_statuses(self) -> AbstractSet[Status]:
        return {status for (status,) in self.db.execute('SELECT DISTINCT status FROM "trials"')}

    def has_repeats(self) -> bool:
        found = self.db.execute('SELECT 1 FROM "trials" WHERE repeats > 1 LIMIT 1')
        return found.fetchone() is not None

    def first_suite_and_model(self) -> tuple[str, str] | None:
        found: tuple[str, str] | None = self.db.execute(
            f'SELECT suite, {ENTRANT} FROM "_places" JOIN "trials" USING (trial_id)'  # noqa: S608
            " ORDER BY suite_at, case_at, model_at, repeat, first_at LIMIT 1"
        ).fetchone()
        return found


_COLUMNS = (
    'suite TEXT, "case" TEXT, entrant TEXT, endings TEXT, offered TEXT, tokens_in INTEGER,'
    " tokens_out INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, costs BLOB,"
    " latencies BLOB, trials BLOB"
)
COMPARED = (
    f'CREATE TABLE "_compared" ({_COLUMNS})',
    'CREATE INDEX "_compared by case" ON "_compared" ("case", suite, entrant)',
)
"""In the order of a report. The blobs have a number for each trial: floats, and its trial_id.

Costs are null if one is unknown.
"""

_TRIALS = f"""
SELECT suite_at, case_at, model_at, suite, "case", {ENTRANT}, status, error_kind,
    skip_reason,
    EXISTS (
        SELECT 1 FROM checks WHERE checks.trial_id = trials.trial_id AND kind = '{WRITTEN_CALL}'
    ),
    stop, latency_s, tokens_in, tokens_out, cache_read_tokens, cache_write_tokens, cost_usd,
    tools_digest, test, trial_id
FROM "_places" JOIN "trials" USING (trial_id) WHERE trial_id >= 0
ORDER BY suite_at, case_at, model_at, repeat, first_at
"""  # noqa: S608 - our own names


def write_compared(db: sqlite3.Connection) -> None:
    """Write the rows of all cases, from the trials in ``db``."""
    trials = db.cursor()
    trials.row_factory = sqlite3.Row
    db.execute('DELETE FROM "_compared"')
    db.executemany(
        f'INSERT INTO "_compared" VALUES ({", ".join("?" * 12)})',  # noqa: S608 - our own words
        map(_build_row, _group_by_case(trials.execute(_TRIALS))),
    )


def _group_by_case(trials: Iterable[sqlite3.Row]) -> Iterator[Sequence[sqlite3.Row]]:
    """Yield the trials of each case and model; those that no header names share a place."""
    # The rows come sorted by place, so only the trials of one place are held at a time.
    for _, together in groupby(trials, key=lambda one: one[:3]):
        found: dict[tuple[str, str, str], list[sqlite3.Row]] = {}
        for one in together:
            found.setdefault(one[3:6], []).append(one)
        yield from found.values()


def _build_row(trials: Sequence[sqlite3.Row]) -> tuple[Any, ...]:
    endings = CaseEndings.from_trials(
        (TrialEnding.from_parts(*trial[6:10]) for trial in trials), trials[0]["test"]
    )
    spent = CaseUsage.from_trials(
        (_build_usage(one), None if one["stop"] is None else one["latency_s"]) for one in trials
    )
    offered = [one["tools_digest"] for one in trials if one["tools_digest"]]
    return (
        *trials[0][3:6],
        json.dumps([asdict(endings.counts), endings.tally.unjudged, endings.test]),
        json.dumps([*dict.fromkeys(offered)]),
        *(None if one is None else to_number(one) for one in spent[:4]),
        None if spent.costs is None else _pack_floats(spent.costs),
        _pack_floats(spent.latencies),
        pack(f"<{len(trials)}q", *(trial["trial_id"] for trial in trials)),
    )


def _build_usage(trial: sqlite3.Row) -> Usage:
    return Usage(
        input_tokens=trial["tokens_in"],
        output_tokens=trial["tokens_out"],
        cache_read_tokens=trial["cache_read_tokens"],
        cache_write_tokens=trial["cache_write_tokens"],
        cost_usd=trial["cost_usd"],
    )


def read_endings(told: str) -> CaseEndings:
    """Return what the column ``endings`` says."""
    counts, unjudged, test = json.loads(told)
    return CaseEndings.from_counts(Counts(**counts), tuple(unjudged), test)


SPENT = "tokens_in, tokens_out, cache_read_tokens, cache_write_tokens, costs, latencies"
"""The columns that `read_spent` takes."""


def read_spent(row: Sequence[Any]) -> CaseUsage:
    """Return what the columns `SPENT` say."""
    tokens_in, tokens_out, read, written, costs, latencies = row
    known = None if costs is None else _unpack_floats(costs)
    return CaseUsage(tokens_in, tokens_out, read, written, known, _unpack_floats(latencies))


def read_trials(data: bytes) -> Sequence[int]:
    """Return what the column ``trials`` says."""
    return unpack(f"<{len(data) // 8}q", data)


def _pack_floats(values: Sequence[float]) -> bytes:
    # Little-endian on every machine: a folder of runs may be copied to another one.
    return pack(f"<{len(values)}d", *values)


def _unpack_floats(data: bytes) -> Sequence[float]:
    return unpack(f"<{len(data) // 8}d", data)
