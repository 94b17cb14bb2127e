"""The trials that the page of a comparison shows, a case at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from harness.judging import case_results, judge_log
from harness.reports.comparing.comparison_types import CasePair
from harness.reports.comparing.trial_counts import CaseName
from harness.reports.sections.sentences import format_problem
from harness.runlog import RunLog, ToolsLine, read_log
from harness.types import Status, ToolList, Transcript, TrialResult, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTrial:
    """A trial as far as the page shows it."""

    number: int
    """Number of the repeat, from 1."""
    model: str
    """Name of the model."""
    status: Status
    """Its status, judged."""
    problem: str
    """The first problem, on one line; empty if it passed."""
    usage: Usage
    """Its tokens and cost."""
    latency_s: float
    """Its seconds."""
    events_digest: str | None
    """`TrialResult.events_digest`."""
    transcript: Callable[[], Transcript | None]
    """Reads the conversation; ``None`` if nothing was started."""


class PageRun(Protocol):
    """A run of which the page shows trials."""

    @property
    def tools(self) -> Mapping[str, ToolList]:
        """Digest → tool list, those of servers and those that a model was shown in their place."""
        ...

    def list_trials(self, model: str, name: CaseName) -> Sequence[PageTrial]:
        """Return the trials of a case with a model, in the order of a report."""
        ...


Opener: TypeAlias = Callable[[Path, bool], AbstractContextManager[PageRun]]
"""Opens the run in a log; with people's verdicts in place of the machine's, if that is true."""


@dataclass(frozen=True, slots=True)
class PageSide:
    """The trials of one side."""

    run: PageRun
    """Its run."""
    model: str
    """Its model."""

    def list_trials(self, pair: CasePair) -> Sequence[PageTrial]:
        """Return the trials of a case."""
        return self.run.list_trials(self.model, (pair.suite, pair.case))

    def select_tools(self, names: Iterable[CaseName]) -> Mapping[str, ToolList]:
        """Return the tool lists that the model was shown in those cases."""
        known = self.run.tools
        if len(known) < 2:  # noqa: PLR2004 - no conversation needs to be read
            return known
        first = (trials[0] for name in names if (trials := self.run.list_trials(self.model, name)))
        said = (one.transcript() for one in first)
        digests = {one.shown_digest or one.tools_digest for one in said if one is not None}
        return {digest: known[digest] for digest in known if digest in digests}


def known_tools(
    tools: Mapping[str, ToolList], shown: Mapping[str, ToolsLine]
) -> Mapping[str, ToolList]:
    """Return `PageRun.tools` of a log with those lists."""
    return {**tools, **{digest: line.tools for digest, line in shown.items()}}


@contextmanager
def judged_run(path: Path, by_people: bool) -> Iterator[PageRun]:  # noqa: FBT001 - see `Opener`
    """Read the whole log at ``path`` and judge it.

    Raises:
        InvalidInput, OSError: it cannot be read.
    """
    log = read_log(path)
    log = log.apply_reviews() if by_people else log
    cases = case_results(judge_log(log).results)
    yield _JudgedRun(log, {(one.entrant, (one.suite, one.case)): one.trials for one in cases})


@dataclass(frozen=True, slots=True)
class _JudgedRun:
    log: RunLog
    results: Mapping[tuple[str, CaseName], Sequence[TrialResult]]

    @property
    def tools(self) -> Mapping[str, ToolList]:
        return known_tools(self.log.tools, self.log.shown)

    def list_trials(self, model: str, name: CaseName) -> Sequence[PageTrial]:
        return [
            PageTrial(
                number=result.trial,
                model=result.entrant,
                status=result.status,
                problem=format_problem(result),
                usage=result.usage,
                latency_s=result.latency_s,
                events_digest=result.events_digest,
                transcript=partial(self.log.read_transcript, result.key),
            )
            for result in self.results.get((model, name), ())
        ]
