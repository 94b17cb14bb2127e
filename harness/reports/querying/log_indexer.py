"""Reads a log into an index: the lines that are new, then what follows from all of them.

Nothing of the log is held in memory but tool lists, reviews and what several identities saw.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any

from harness.judging import (
    Order,
    RunJudge,
    access_report,
    case_results,
    judge_log,
    order_by_header,
)
from harness.reports.findings import FINDINGS_OF, ProbeFinding, build_leak_findings
from harness.reports.querying.columns import replace_surrogates
from harness.reports.querying.fault_rows import write_faults
from harness.reports.querying.page_writer import CLEARED
from harness.reports.querying.tables import (
    CHECKS,
    FINDINGS,
    OF_TRIALS,
    TOOLS,
    TRIALS,
    build_trial_row,
    iterate_check_rows,
    iterate_conversation_rows,
)
from harness.reports.querying.texts import Packer, extract_text
from harness.reports.querying.totals import write_compared, write_totals
from harness.reports.sections.sentences import list_server_names
from harness.reports.trial_record import TrialRecord
from harness.runlog import (
    CallLine,
    DamagedLine,
    Header,
    Line,
    LogContent,
    ReviewLine,
    RunLog,
    StoredContent,
    ToolsLine,
    TrialLine,
    being_written,
    dump_line,
    parse_line,
    read_header,
    read_lines,
    read_log,
)
from harness.types import Transcript, TrialResult, Usage

PLACES = (
    'CREATE TABLE "_places" (trial_id INTEGER PRIMARY KEY, suite_at INTEGER, case_at INTEGER,'
    " model_at INTEGER, repeat INTEGER, first_at INTEGER, waits INTEGER, pass_threshold REAL)"
)
"""Where each trial stands in a report, and whether the results of others may change its status."""
STATE = 'CREATE TABLE "_state" (run TEXT, lines INTEGER, size INTEGER, open INTEGER, content TEXT)'
"""How far the log was read, and what more of it is to be understood by."""
IS_SETTLED = 'SELECT 1 FROM "runs"'
"""Has a row if what follows from the whole log has been written."""

_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_PAID = (
    "SELECT started_at, tokens_in, tokens_out, cache_read_tokens, cache_write_tokens, cost_usd,"
    ' judge_cost_usd, user_cost_usd FROM "trials" WHERE key = ?'
)
_JUDGED = [column.judged for column in TRIALS.columns]
_REWRITTEN = 'UPDATE "trials" SET {} WHERE trial_id = ?'.format(  # noqa: S608 - our own names
    ", ".join(f'"{column.name}" = ?' for column in TRIALS.columns if column.judged)
)

_REVIEWED = 'UPDATE "trials" SET "review" = ?, "reviewed_by" = ?, "review_note" = ? WHERE "key" = ?'


def read_into(
    db: sqlite3.Connection,
    log: Path,
    read_to: Callable[[int], None],
    *,
    keep_results: bool = False,
) -> RunLog | None:
    """Bring the index in ``db`` up to date with ``log``; ``read_to`` is told how far it is.

    Return the log with its results, if they are to be kept and all of it was read.

    Raises:
        InvalidInput: the file is no run log, or its header is damaged.
    """
    reading = _resume_reading(db, log)
    if keep_results and reading.lines == 1:
        reading.whole = StoredContent(path=log, header=reading.header, lines=1)
    reading.read_to_end(read_to)
    lost: tuple[DamagedLine, ...] = ()
    if reading.calls and not being_written(log):
        # of a session that was killed: whoever reads the log first completes it
        lost = tuple(one for one in read_log(log).damaged if one.line is None)
        reading.read_to_end(read_to)
    reading.finish(lost)
    return None if reading.whole is None or lost else reading.whole.build_log()


@contextmanager
def read_further(
    db: sqlite3.Connection, log: Path
) -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Give what reads new lines of ``log`` into ``db``; what follows from all is for `read_into`.

    Raises:
        InvalidInput: the file is no run log, or its header is damaged.
    """
    reading = _resume_reading(db, log)
    yield reading.read_to_end
    reading.unsettle()


def _resume_reading(db: sqlite3.Connection, log: Path) -> _LogIndexer:
    header = read_header(log)
    reading = _LogIndexer(header=header, db=db, path=log, order=order_by_header(header))
    reading.resume()
    return reading


@dataclass(slots=True)
class _LogIndexer(LogContent):
    """A log that is read into an index."""

    db: sqlite3.Connection = field(kw_only=True)
    path: Path = field(kw_only=True)
    order: Order = field(kw_only=True)
    lines: int = 1
    log: RunLog = field(init=False)
    """What was read so far, without trials."""
    judge: RunJudge = field(init=False)
    texts: Packer = field(init=False)
    whole: StoredContent | None = None
    """Where the results are kept, if somebody wants them."""
    is_changed: bool = False
    """Whether more than reviews has been read: then what follows from all lines is made anew."""

    def __post_init__(self) -> None:
        assert self.header is not None
        self.texts = Packer(self.db)
        self.judge = RunJudge(suites=self.header.suites, order=self.order)
        self.log = RunLog(
            self.path, self.header, (), self.tools, None, {}, (), self.shown, self.reviews
        )

    # ── Lines ────────────────────────────────────────────────────────────────────────────────

    def resume(self) -> None:
        """Go on where the index ends; a new one begins behind the header."""
        self.is_changed = self.db.execute(IS_SETTLED).fetchone() is None
        known = self.db.execute('SELECT lines, size, content FROM "_state"').fetchone()
        if known is None:
            with self.path.open("rb") as file:
                self.size = len(file.readline())
            return
        self.lines, self.size, content = known
        told = json.loads(content)
        # Damaged lines are complaints in each report, also those that are not read again.
        self.bad.update((one["line"], DamagedLine(**one)) for one in told["bad"])
        for raw in told["lines"]:
            # With its arguments: `super()` fails in a class with slots, which `dataclass` makes
            # anew.
            super(_LogIndexer, self).take_line(0, 0, parse_line(raw.encode()))

    def read_to_end(self, read_to: Callable[[int], None]) -> None:
        """Read on to the end of the log."""
        with self.path.open("rb") as raw:
            for offset, end, line in read_lines(self.path, self.size):
                self.lines += 1
                # a footer that says the same stands behind a review
                self.is_changed |= not isinstance(line, ReviewLine) and line != self.footer
                numbered = replace(line, line=self.lines) if isinstance(line, DamagedLine) else line
                self.take_line(self.lines, offset, numbered)
                if self.whole is not None:
                    self.whole.take_line(self.lines, offset, numbered)
                    self.whole.size, self.whole.lines = end, self.lines
                if isinstance(line, ToolsLine):
                    self._add_tools(line)
                elif isinstance(line, TrialLine):
                    raw.seek(offset)
                    self.texts.add_text(offset, extract_text(json.loads(raw.readline())))
                self.size = end
                read_to(end)

    def keep_result(self, line: TrialLine, offset: int) -> None:
        """Put the rows of a trial in the place of those of its earlier line."""
        first_at = self.remove_rows(line.run.key)
        self.add_rows(offset, line.run, line.transcript, offset if first_at is None else first_at)

    def get_result(self, key: str) -> tuple[TrialLine, int] | None:
        """Return the line of a trial, with what all attempts so far used."""
        found = self.db.execute(_PAID, (replace_surrogates(key),)).fetchone()
        if found is None:
            return None
        # The line has what one attempt used, the row what all of them did.
        ((place, line),) = self._iterate_lines("key = ?", replace_surrogates(key))
        started_at, *tokens, cost, judge_cost, user_cost = found
        paid = replace(
            line.run,
            started_at=started_at or "",
            usage=Usage(**dict(zip(_TOKENS, tokens, strict=True)), cost_usd=cost),
            judge_usage=replace(line.run.judge_usage, cost_usd=judge_cost),
            user_usage=replace(line.run.user_usage, cost_usd=user_cost),
        )
        return replace(line, run=paid), place

    def forget_result(self, key: str) -> None:
        """Remove the rows of a trial."""
        self.remove_rows(key)

    def remove_rows(self, key: str) -> int | None:
        """Remove the rows of a trial, and return where its first line stood, if there is any."""
        known = self.db.execute(
            'SELECT trial_id, first_at FROM "trials" JOIN "_places" USING (trial_id) WHERE key = ?',
            (replace_surrogates(key),),
        ).fetchone()
        if known is None:
            return None
        for table in ("_places", *(table.name for table in OF_TRIALS)):
            self.db.execute(f'DELETE FROM "{table}" WHERE trial_id = ?', known[:1])  # noqa: S608
        return int(known[1])

    def add_rows(
        self, trial_id: int, result: TrialResult, said: Transcript | None, first_at: int
    ) -> None:
        """Add the rows of a trial."""
        place = self.order(result)
        waits = self.judge.is_waiting(result)
        self.db.execute(
            'INSERT INTO "_places" VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
            (trial_id, *place, first_at, waits, result.case.pass_threshold),
        )
        row = self._build_trial_row(trial_id, result, said)
        self.db.execute(TRIALS.insert_statement, row)
        self._add_checks(trial_id, result)
        for table, row in iterate_conversation_rows(trial_id, said or Transcript()):
            self.db.execute(table.insert_statement, row)

    def update_result(self, trial_id: int, result: TrialResult) -> None:
        """Put a result in the place of what the log says of it: others, or a person, decided."""
        row = self._build_trial_row(trial_id, result, None)
        self.db.execute(_REWRITTEN, (*compress(row, _JUDGED), trial_id))
        self.db.execute('DELETE FROM "checks" WHERE trial_id = ?', (trial_id,))
        self._add_checks(trial_id, result)

    def _build_trial_row(
        self, trial_id: int, result: TrialResult, said: Transcript | None
    ) -> tuple[Any, ...]:
        servers = list_server_names(self.header.suites if self.header else {}, result.suite)
        record = TrialRecord(result, self.reviews.get(result.key), said, servers)
        return build_trial_row(trial_id, record)

    def _add_checks(self, trial_id: int, result: TrialResult) -> None:
        rows = iterate_check_rows(trial_id, result.checks)
        self.db.executemany(CHECKS.insert_statement, rows)

    def _add_tools(self, line: ToolsLine) -> None:
        # A resumed run writes its lists once more.
        digest = (replace_surrogates(line.tools.digest), line.variant)
        self.db.execute('DELETE FROM "tools" WHERE digest = ? AND variant IS ?', digest)
        self.db.executemany(
            TOOLS.insert_statement,
            [
                TOOLS.build_row(n=n, tool=tool, listed=line)
                for n, tool in enumerate(line.tools.tools, start=1)
            ],
        )

    # ── What follows from all of them ────────────────────────────────────────────────────────

    def finish(self, lost: tuple[DamagedLine, ...]) -> None:
        """Write what depends on the whole log, and how far it was read."""
        self.texts.close()
        if self.is_changed:
            self._settle_results(lost)
        else:
            # Reviews change no verdict and no total: a person's word need not cost a whole count.
            self.db.execute('UPDATE "runs" SET log_bytes = ?', (self.size,))
        self.db.executemany(
            _REVIEWED,
            [
                tuple(map(replace_surrogates, (one.decision, one.by, one.note, key)))
                for key, one in self.reviews.items()
            ],
        )
        self._save_state()

    def unsettle(self) -> None:
        """Remove what depends on the whole log, and write how far it was read."""
        self.texts.close()
        for sql in (*CLEARED, 'DELETE FROM "runs"'):
            self.db.execute(sql)
        self._save_state()

    def _settle_results(self, lost: tuple[DamagedLine, ...]) -> None:
        for sql in CLEARED:
            self.db.execute(sql)
        whole = replace(self.log, footer=self.footer, damaged=(*self.bad.values(), *lost))
        # Statuses first: the totals below are counted from them.
        findings = self._settle_waiting(whole)
        # Below 0 are the cases that had no result when less of the log was there.
        for table in ("trials", "checks", "_places"):
            self.db.execute(f'DELETE FROM "{table}" WHERE trial_id < 0')  # noqa: S608
        # complaints name the file and not the folder, so that they hold wherever it is put
        named = replace(whole, path=Path(self.path.name))
        write_totals(self.db, named, self.size, self._add_missing)
        write_compared(self.db)
        write_faults(self.db, whole.header)
        self.db.execute('DELETE FROM "findings"')
        rows = [FINDINGS.build_row(finding=one) for one in findings]
        self.db.executemany(FINDINGS.insert_statement, rows)

    def _settle_waiting(self, whole: RunLog) -> Iterable[ProbeFinding]:
        """Judge the trials that the results of others may change; return what was found."""
        waiting = {line.run.key: (at, line.run) for at, line in self._iterate_lines("waits")}
        if not waiting:
            return ()
        places = {key: at for key, (at, _) in waiting.items()}
        results = tuple(result for _, result in waiting.values())
        judged = judge_log(replace(whole, results=results, _offsets=places))
        for result in judged.results:
            self.update_result(places[result.key], result)
        for kind in FINDINGS_OF.list_names():
            if any(kind in result.case.metadata for result in results):
                return FINDINGS_OF.get(kind)(read_log(self.path))
        return build_leak_findings(access_report(judged.facts, case_results(judged.results)).leaks)

    def _iterate_lines(self, which: str, *values: Any) -> Iterable[tuple[int, TrialLine]]:
        """Yield the lines of the trials for which ``which`` holds, with their places."""
        found = self.db.execute(
            'SELECT trial_id FROM "_places" JOIN "trials" USING (trial_id)'  # noqa: S608
            f" WHERE trial_id >= 0 AND {which} ORDER BY first_at",
            values,
        ).fetchall()
        with self.path.open("rb") as file:
            for (trial_id,) in found:
                file.seek(trial_id)
                line = parse_line(file.readline())
                assert isinstance(line, TrialLine)
                yield trial_id, line

    def _add_missing(self, result: TrialResult, number: int) -> None:
        # Behind all that the log has, in the order in which they were found.
        self.add_rows(-number, result, None, self.size + number)

    def _save_state(self) -> None:
        assert isinstance(self.header, Header)
        lines: tuple[Line, ...] = (
            *self.log.tools_lines,
            *(ReviewLine(review=review) for review in self.reviews.values()),
            *(
                CallLine(call_of=key, call=call)
                for key, calls in self.calls.items()
                for call in calls.values()
            ),
            *([self.footer] if self.footer else []),
        )
        content = {
            "lines": [dump_line(line) for line in lines],
            "bad": [asdict(one) for one in self.bad.values()],
        }
        self.db.execute('DELETE FROM "_state"')
        self.db.execute(
            'INSERT INTO "_state" VALUES (?, ?, ?, ?, ?)',
            (
                replace_surrogates(self.header.run_id),
                self.lines,
                self.size,
                bool(self.calls),
                json.dumps(content),
            ),
        )
