"""The pytest plugin: every case of a suite is a test, with pytest's own selection and reports.

Pytest imports this module at every start wherever harness is installed, so it must be cheap: all
else is imported when the first suite is found. ``-p no:harness`` turns it off.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.base import REFUSAL, is_supported
from harness.pytest_plugin.options import add_options, given_options
from harness.pytest_plugin.session_end import (
    finish_session,
    hand_over,
    print_summary,
    store_worker_output,
)
from harness.pytest_plugin.suite_detection import is_suite, python_suites
from harness.runner import read_options


class RefusedFile(pytest.File):
    """A suite on a platform where harness does not run; other tests there are not affected."""

    def collect(self) -> NoReturn:
        """Raise the reason, without a traceback."""
        raise self.CollectError(REFUSAL)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse invalid options before anything is collected."""
    if given := given_options(config):
        # Most sessions give none, and need not load what a refusal takes.
        from harness.base import UsageError

        try:
            read_options("pytest", given)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a suite's cases if the file is a suite."""
    if not is_supported() and (is_suite(file_path) or python_suites(file_path, parent)):
        return RefusedFile.from_parent(parent, path=file_path)
    if is_suite(file_path):
        from harness.pytest_plugin.collectors import SuiteFile

        return SuiteFile.from_parent(parent, path=file_path)
    if names := python_suites(file_path, parent):
        from harness.pytest_plugin.collectors import PythonFile

        return PythonFile.from_parent(parent, path=file_path, classes=names)
    return None


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Close the run: stop the servers and complete the log."""
    finish_session(session, exitstatus)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a pytest-xdist worker where to write its part of the log."""
    hand_over(node)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Store the results that a pytest-xdist worker reports at its end."""
    store_worker_output(node)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the summary of the run, and where the log is."""
    print_summary(terminalreporter, config)
