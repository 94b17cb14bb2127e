"""Collects suites as files, and their cases as tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base import KNOWN, HarnessError, format_path
from harness.judging import VOCABULARY, case_results
from harness.pytest_plugin.failure_text import format_failure, format_skip_reason, no_verdict
from harness.pytest_plugin.options import rename_options
from harness.pytest_plugin.session_run import JOBS, PytestRun, get_pytest_run
from harness.runner import Job
from harness.suites import make_reader, read_reference
from harness.types import CaseResult, Suite


class SuiteFile(pytest.File):
    """A suite in YAML or CSV."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its cases. An invalid suite is a collection error with file and line."""
        bench = get_pytest_run(self.config)
        read = make_reader(bench.request.max_cases)
        return _build_items(self, bench, lambda: read(Path(format_path(self.path)), VOCABULARY))


class PythonFile(pytest.File):
    """A file with suites in Python."""

    def __init__(self, *, classes: tuple[str, ...], **parts: Any) -> None:
        super().__init__(**parts)
        self.classes = classes

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield its suites."""
        return (PythonSuiteCollector.from_parent(self, name=name) for name in self.classes)


class PythonSuiteCollector(pytest.Collector):
    """A suite in Python."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its cases."""
        reference = f"{format_path(self.path)}:{self.name}"
        return _build_items(
            self, get_pytest_run(self.config), lambda: read_reference(reference, VOCABULARY)
        )


def _build_items(parent: pytest.Collector, bench: PytestRun, read: Any) -> Iterator[pytest.Item]:
    try:
        suite: Suite = read()
        jobs = bench.plan_suite(suite)
    except HarnessError as error:
        raise parent.CollectError(rename_options(str(error))) from None
    tests: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        tests.setdefault((job.trial.case.name, job.trial.entrant), []).append(job)
    several = len({model for _, model in tests}) > 1
    for (case, model), trials in tests.items():
        yield CaseItem.from_parent(
            parent, name=f"{case}[{model}]" if several else case, jobs=tuple(trials)
        )


class CaseItem(pytest.Item):
    """One case with one model, with all its trials.

    The trials run in the test's setup, and the verdict is the test itself: so pytest reports a case
    that could not be judged as an error, and one that was judged and did not pass as a failure.
    """

    def __init__(self, *, jobs: tuple[Job, ...], **parts: Any) -> None:
        super().__init__(**parts)
        self.stash[JOBS] = jobs
        self.result: CaseResult | None = None
        trial = jobs[0].trial
        # So that -k selects by suite and tag, too.
        self.extra_keyword_matches |= {trial.suite, *trial.case.tags}

    def setup(self) -> None:
        """Run the trials, unless ``--setup-only`` or ``--setup-plan`` was given."""
        if self.config.getoption("setuponly", default=False):
            return
        bench, earlier = get_pytest_run(self.config), self.result
        (result,) = case_results(bench.run_case(self))
        if result.status == "skipped" and earlier is not None and earlier.status != "passed":
            result = earlier  # a test that is repeated without being asked stays as it was
        self.result = result
        # Noted before the verdict is raised: what fails only by the whole run is told at the end.
        if result.status == "failed":
            bench.told_failed.add((result.suite, result.case, result.entrant))
        if result.status == "skipped":
            # Otherwise pytest would say that the test was skipped in this file.
            raise pytest.skip.Exception(format_skip_reason(result), _use_item_location=True)
        if result.status not in {"passed", "failed"}:
            pytest.fail(KNOWN.redact_text(no_verdict(result)), pytrace=False)

    def runtest(self) -> None:
        """Raise the verdict, unless the case passed."""
        assert self.result is not None
        if self.result.status != "passed":
            pytest.fail(KNOWN.redact_text(format_failure(self.result)), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the case's file and line."""
        at = self.stash[JOBS][0].trial.case.at
        # pytest counts lines from 0.
        return self.path, (at.line or 1) - 1 if at else None, self.name
