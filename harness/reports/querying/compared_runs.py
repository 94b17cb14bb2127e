"""Runs as `harness compare` needs them, from the index of a large log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from dataclasses import field
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO

from harness.reports.comparing.comparison_types import CaseEndings, CaseName, CaseUsage
from harness.reports.comparing.contrasts import ComparedRun
from harness.reports.comparing.page.cases import PageRun, PageTrial, judged_run, known_tools
from harness.reports.querying.columns import ENTRANT
from harness.reports.querying.index import open_database
from harness.reports.querying.store_access import index_if_worth, read_indexed_run, tool_lists
from harness.reports.querying.totals import SPENT, read_endings, read_spent, read_trials
from harness.runlog import TrialLine, parse_line, read_header, read_log
from harness.types import ToolList, Transcript, Usage, dataclass


@contextmanager
def compared_run(
    log: Path, *, by_people: bool = False
) -> Iterator[tuple[ComparedRun, Sequence[str]]]:
    """Give the run in ``log`` for a comparison, and what is unreadable, a sentence each.

    That in a large log is read from its index, unless people's verdicts count (``by_people``).

    Raises:
        InvalidInput, OSError: the log cannot be read.
    """
    with ExitStack() as stack:
        index = None if by_people else stack.enter_context(index_if_worth(log))
        if index is not None:
            yield stack.enter_context(indexed_run(index, log))
            return
        read = read_log(log)
        run = ComparedRun.from_log(read.apply_reviews() if by_people else read)
        yield run, read.complaints


@contextmanager
def indexed_run(index: Path, log: Path) -> Iterator[tuple[ComparedRun, Sequence[str]]]:
    """Give the run in ``index``, that of ``log``; what is compared is read as it is asked for."""
    past = read_indexed_run(index, log)
    with open_database(index) as db:
        tools, _ = tool_lists(db)
        run = ComparedRun(
            header=read_header(log),
            log=str(log),
            trials=_IndexedTrials(db),
            tools=tools,
            exit_code=past.exit_code,
            ended=past.result,
        )
        yield run, past.damaged


@dataclass(frozen=True, slots=True)
class _IndexedTrials:
    """The trials that an index has: `CountedTrials`."""

    db: sqlite3.Connection
    rows: dict[str, dict[CaseName, int]] = field(default_factory=dict)
    """Entrant → case → its row."""

    def get_endings(self, entrant: str) -> Mapping[CaseName, CaseEndings]:
        rows = self.rows[entrant] = {}
        found: dict[CaseName, CaseEndings] = {}
        alike = cache(read_endings)  # most cases end like some other
        for row, suite, case, told in self.db.execute(
            'SELECT rowid, suite, "case", endings FROM "_compared" WHERE entrant = ?'
            " ORDER BY rowid",
            (entrant,),
        ):
            name = (suite, case)
            rows[name], found[name] = row, alike(told)
        return found

    def iterate_usage(self, entrant: str, names: Iterable[CaseName]) -> Iterator[CaseUsage]:
        return map(read_spent, self._select_columns(SPENT, entrant, names))

    def find_offered_tools(self, entrant: str, names: Iterable[CaseName]) -> AbstractSet[str]:
        told = {str(one) for (one,) in self._select_columns("offered", entrant, names)}
        return {digest for one in told for digest in json.loads(one)}

    def _select_columns(
        self, columns: str, entrant: str, names: Iterable[CaseName]
    ) -> Iterator[tuple[object, ...]]:
        if entrant not in self.rows:
            self.get_endings(entrant)
        rows = self.rows[entrant]
        wanted = json.dumps([rows[name] for name in names if name in rows])
        # CROSS JOIN: the cases in the order in which they are asked for
        return self.db.execute(
            f'SELECT {columns} FROM json_each(?) CROSS JOIN "_compared"'  # noqa: S608 - our own
            ' ON "_compared".rowid = value',
            (wanted,),
        )


_CASE = 'SELECT trials FROM "_compared" WHERE suite = ? AND "case" = ? AND entrant = ?'
_SHOWN = f"""
SELECT trial_id, trial, {ENTRANT}, status, problem, latency_s, events_digest, tokens_in, tokens_out,
    cost_usd
FROM json_each(?) CROSS JOIN "trials" ON trial_id = value
"""  # noqa: S608 - our own names
_USED = ("input_tokens", "output_tokens", "cost_usd")


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
    with open_database(index) as db, log.open("rb") as file:
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
        rows = self.db.execute(_SHOWN, (json.dumps(places),))
        return [
            PageTrial(
                number=number,
                model=entrant,
                status=status,
                problem=problem or "",
                usage=Usage(**dict(zip(_USED, used, strict=True))),
                latency_s=latency_s,
                events_digest=digest,
                transcript=partial(self._read_transcript, trial_id),
            )
            for trial_id, number, entrant, status, problem, latency_s, digest, *used in rows
        ]

    def _read_transcript(self, trial_id: int) -> Transcript | None:
        # The id of a trial is where its line begins.
        self.file.seek(trial_id)
        line = parse_line(self.file.readline())
        assert isinstance(line, TrialLine)
        return line.transcript
