"""The trials that the page of a comparison shows, from the index of a large log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from harness.reports.comparing.page.trials import PageRun, PageTrial, judged_run, known_tools
from harness.reports.comparing.trial_counts import CaseName
from harness.reports.querying.columns import ENTRANT
from harness.reports.querying.comparison_rows import read_trials
from harness.reports.querying.index import format_read_uri
from harness.reports.querying.index_access import index_if_worth, tool_lists
from harness.runlog import TrialLine, parse_line
from harness.types import Status, ToolList, Transcript, Usage

_CASE = 'SELECT trials FROM "_compared" WHERE suite = ? AND "case" = ? AND entrant = ?'
_SHOWN = f"""
SELECT trial_id, trial, {ENTRANT}, status, problem, tokens_in, tokens_out, cost_usd, latency_s,
    events_digest
FROM json_each(?) CROSS JOIN "trials" ON trial_id = value
"""  # noqa: S608 - our own names


@contextmanager
def open_shown_run(log: Path, by_people: bool) -> Iterator[PageRun]:  # noqa: FBT001 - an `Opener`
    """Give the run in ``log`` for the page of a comparison; see `compared_run`.

    Raises:
        InvalidInput, OSError: the log cannot be read.
    """
    with ExitStack() as stack:
        index = None if by_people else stack.enter_context(index_if_worth(log))
        if index is None:
            yield stack.enter_context(judged_run(log, by_people))
            return
        yield stack.enter_context(indexed_cases(index, log))


@contextmanager
def indexed_cases(index: Path, log: Path) -> Iterator[PageRun]:
    """Give the run in ``index``, that of ``log``, a case at a time."""
    with closing(sqlite3.connect(format_read_uri(index), uri=True)) as db, log.open("rb") as file:
        yield _IndexedCases(db, file, known_tools(*tool_lists(db)))


@dataclass(frozen=True, slots=True)
class _IndexedCases:
    """A run as its index and its log have it: `PageRun`."""

    db: sqlite3.Connection
    file: BinaryIO
    tools: Mapping[str, ToolList]

    def list_trials(self, model: str, name: CaseName) -> Sequence[PageTrial]:
        found = self.db.execute(_CASE, (*name, model)).fetchone()
        places = [] if found is None else list(read_trials(found[0]))
        return [self._build_trial(*row) for row in self.db.execute(_SHOWN, (json.dumps(places),))]

    def _build_trial(  # noqa: PLR0913, PLR0917 - the columns of `_SHOWN`
        self,
        trial_id: int,
        number: int,
        model: str,
        status: Status,
        problem: str | None,
        tokens_in: int | None,
        tokens_out: int | None,
        cost_usd: float | None,
        latency_s: float,
        events_digest: str | None,
    ) -> PageTrial:
        usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost_usd)
        return PageTrial(
            number=number,
            model=model,
            status=status,
            problem=problem or "",
            usage=usage,
            latency_s=latency_s,
            events_digest=events_digest,
            transcript=partial(self._read_transcript, trial_id),
        )

    def _read_transcript(self, trial_id: int) -> Transcript | None:
        # The id of a trial is where its line begins.
        self.file.seek(trial_id)
        line = parse_line(self.file.readline())
        assert isinstance(line, TrialLine)
        return line.transcript
