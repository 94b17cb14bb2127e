"""The tests run in forked processes: once with the code as it is, and once for each mistake.

The parent imports nothing of the project, so that a child imports the module with its mistake,
tables and all.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import signal
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.mutations import TESTS
from tests.mutations.mutants import Mutant

_PYTEST = (
    "-q",
    "-x",
    "-o",
    "timeout=0",
    "-p",
    "no:xdist",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
_CPU_S = 60
"""Processor time in which all quick tests are long done: a mistake that makes them endless is
noticed too."""
_SLOW_S = 2.0
"""Processor time of a test that is not worth it here; a busy machine takes none away."""
_HANGS_S = 900
"""Seconds after which a test waits for something that never comes."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests run which code."""

    functions: Mapping[str, Sequence[str]]
    """``path:first line`` of a function → the tests that call it."""
    seconds: Mapping[str, float]
    """Test → the processor time that it takes, its processes' included."""

    def of(self, mutant: Mutant) -> list[str]:
        """Return the tests that a mistake may reach, the quick ones of its own test file first."""
        own = f"test_{Path(mutant.path).stem.strip('_')}.py"
        tests = (
            self.functions.get(f"{mutant.path}:{mutant.starts}", ())
            if mutant.starts is not None
            else ()
        )
        if (
            not tests
        ):  # it runs at import, or its results are kept: whatever runs anything of the module
            inside = (
                names
                for place, names in self.functions.items()
                if place.startswith(f"{mutant.path}:")
            )
            reading = (
                name for name in self.seconds if own in name
            )  # a table, say, in which nothing is called
            tests = list(
                dict.fromkeys([name for names in inside for name in names] + list(reading))
            )
            tests = tests or list(self.seconds)
        tests = [name for name in tests if self.seconds[name] <= _SLOW_S] or tests
        return sorted(tests, key=lambda name: (own not in name, self.seconds[name]))


def learn_reach() -> Reach:
    """Run all tests as the code is.

    Raises:
        RuntimeError: one of them fails.
    """
    reading, writing = os.pipe()

    def run() -> int:
        os.close(reading)
        watch = _Watch()
        code = pytest.main([*_PYTEST, *TESTS], plugins=[watch])
        with os.fdopen(writing, "w") as told:
            json.dump(
                [{place: sorted(tests) for place, tests in watch.functions.items()}, watch.seconds],
                told,
            )
        return code

    child = _fork(run, quiet=False)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("the tests fail before any mistake is made")
    return Reach(*json.loads(text))


def start(mutant: Mutant, tests: Sequence[str]) -> int:
    """Start the tests on a mistake and return the id of the process, of which `noticed` reads the status."""

    def run() -> int:
        signal.alarm(_HANGS_S)
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S + 5))
        sys.meta_path.insert(0, _Mistaken(mutant))
        files = dict.fromkeys(name.split("::")[0] for name in tests)
        return pytest.main([*_PYTEST, *files], plugins=[_Chosen(tests)])

    return _fork(run, quiet=True)


def noticed(status: int) -> bool:
    """Return whether the tests noticed a mistake: a failure, an import that fails, or processor time without end.

    Raises:
        RuntimeError: nobody knows, for the run was broken off or found no test.
    """
    code = os.waitstatus_to_exitcode(status)
    if code in (
        0,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.INTERNAL_ERROR,
    ):
        return code != 0
    if code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGSEGV, pytest.ExitCode.USAGE_ERROR):
        return True
    raise RuntimeError(f"a run of the tests ended with {code}")


def _fork(run: Callable[[], int], *, quiet: bool) -> int:
    sys.stdout.flush()
    if child := os.fork():
        return child
    code = 70
    try:
        os.environ |= {
            "CI": "1",
            "HARNESS_EXAMPLES": "30",
        }  # the same few examples of hypothesis each time
        if quiet:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
        code = int(run())
    except BaseException:  # noqa: BLE001 - this process ends here, whatever comes of it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _processor_s() -> float:
    return sum(os.times()[:4])


class _Watch:
    """A plugin of pytest: which test calls which function, and how long it takes."""

    def __init__(self) -> None:
        self.functions: defaultdict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self._here = f"{Path.cwd()}/"
        self._called: set[CodeType] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._called, before = set(), _processor_s()
        sys.setprofile(self._see)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            self.seconds[item.nodeid] = _processor_s() - before
            for code in self._called:
                if code.co_filename.startswith(f"{self._here}harness/"):
                    self.functions[
                        f"{code.co_filename.removeprefix(self._here)}:{code.co_firstlineno}"
                    ].add(item.nodeid)

    def _see(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self._called.add(frame.f_code)


class _Chosen:
    """A plugin of pytest: only some tests, in their order."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._places = {name: place for place, name in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places),
            key=lambda item: self._places[item.nodeid],
        )


class _Mistaken(SourceFileLoader):
    """A finder and loader of one module: what it loads has the mistake."""

    def __init__(self, mutant: Mutant) -> None:
        name = mutant.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        super().__init__(name, str(Path(mutant.path).resolve()))
        self._source = mutant.source

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        return (
            importlib.util.spec_from_file_location(name, self.path, loader=self)
            if name == self.name
            else None
        )

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)
