"""Cases as `harness compare` counts them: a row for each case and model that has trials."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from itertools import groupby
from struct import Struct, pack, unpack
from typing import Any, NamedTuple

from harness.reports.comparing.trial_counts import CaseEndings, CaseUsage, TrialEnding
from harness.reports.querying.columns import ENTRANT, to_number
from harness.types import WRITTEN_CALL, Counts, Status, Usage

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


class _Trial(NamedTuple):
    """A row of `_TRIALS`."""

    suite_at: int
    case_at: int
    model_at: int
    suite: str
    case: str
    entrant: str
    status: Status
    error_kind: str | None
    skip_reason: str | None
    as_text: int
    stop: str | None
    latency_s: float
    tokens_in: int | None
    tokens_out: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    tools_digest: str | None
    test: str | None
    trial_id: int


def write_compared(db: sqlite3.Connection) -> None:
    """Write the rows of all cases, from the trials in ``db``."""
    db.execute('DELETE FROM "_compared"')
    db.executemany(
        f'INSERT INTO "_compared" VALUES ({", ".join("?" * 12)})',  # noqa: S608 - our own words
        map(_build_row, _group_by_case(map(_Trial._make, db.execute(_TRIALS)))),
    )


def _group_by_case(trials: Iterator[_Trial]) -> Iterator[Sequence[_Trial]]:
    """Yield the trials of each case and model; those that no header names share a place."""
    # The rows come sorted by place, so only the trials of one place are held at a time.
    for _, together in groupby(trials, key=lambda one: one[:3]):
        found: dict[tuple[str, str, str], list[_Trial]] = {}
        for one in together:
            found.setdefault(one[3:6], []).append(one)
        yield from found.values()


def _build_row(trials: Sequence[_Trial]) -> tuple[Any, ...]:
    endings = CaseEndings.from_trials(
        (TrialEnding.from_parts(*trial[6:10]) for trial in trials), trials[0].test
    )
    spent = CaseUsage.from_trials(
        (_build_usage(trial), None if trial.stop is None else trial.latency_s) for trial in trials
    )
    offered = list(dict.fromkeys(trial.tools_digest for trial in trials if trial.tools_digest))
    return (
        *trials[0][3:6],
        json.dumps([asdict(endings.counts), endings.tally.unjudged, endings.test]),
        json.dumps(offered),
        *(None if one is None else to_number(one) for one in spent[:4]),
        None if spent.costs is None else _pack_floats(spent.costs),
        _pack_floats(spent.latencies),
        pack(f"<{len(trials)}q", *(trial.trial_id for trial in trials)),
    )


def _build_usage(trial: _Trial) -> Usage:
    return Usage(
        input_tokens=trial.tokens_in,
        output_tokens=trial.tokens_out,
        cache_read_tokens=trial.cache_read_tokens,
        cache_write_tokens=trial.cache_write_tokens,
        cost_usd=trial.cost_usd,
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
    return _build_struct(len(values)).pack(*values)


def _unpack_floats(data: bytes) -> Sequence[float]:
    return _build_struct(len(data) // 8).unpack(data)


@cache
def _build_struct(number: int) -> Struct:
    # Little-endian on every machine: a folder of runs may be copied to another one.
    return Struct(f"<{number}d")
