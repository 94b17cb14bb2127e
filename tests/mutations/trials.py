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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    "-m",
    "not slow",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
_FEW, _MANY = 30, 300
"""Examples that Hypothesis draws for a property: at first, and where no test has noticed the
mistake then; `make test` and `make proofs` draw as many."""
_CPU_S = 60
"""Processor time beyond that of the tests, twice over, after which a mistake has made them endless:
that is noticed, too."""
_SLOW_S = 10.0
"""Processor time of a test that is not worth it here, as measured while its calls are followed,
which takes about twice as long as without; a busy machine takes none away."""
_HANGS_S = 900
"""Seconds beyond ten times the processor time after which a test waits for something that never
comes."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests run which code."""

    functions: Mapping[str, Sequence[str]]
    """``path:first line`` of a function → the tests that call it."""
    seconds: Mapping[str, float]
    """Test → the processor time that it takes with few examples, its processes' included."""
    properties: Collection[str]
    """The tests that draw examples."""

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

    def rounds(self, mutant: Mutant) -> Iterator[Round]:
        """Yield what to run, one after the other until a test notices the mistake."""
        tests = self.of(mutant)
        yield self._round(tests, _FEW)
        if properties := [name for name in tests if name in self.properties]:
            yield self._round(properties, _MANY)
        if mutant.starts is None:  # a constant, say, that other modules import
            others = [
                name
                for name in sorted(self.seconds.keys() - set(tests))
                if self.seconds[name] <= _SLOW_S
            ]
            if others:
                yield self._round(others, _FEW)

    def _round(self, tests: Sequence[str], examples: int) -> Round:
        seconds = sum(self.seconds[name] for name in tests) * examples / _FEW
        return Round(tuple(tests), examples, round(seconds))


@dataclass(frozen=True, slots=True)
class Round:
    """Tests to run together."""

    tests: tuple[str, ...]
    """In their order."""
    examples: int
    """How many Hypothesis draws for each property."""
    seconds: int
    """Processor time that they take in code without a mistake, at the most."""


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
                [
                    {place: sorted(tests) for place, tests in watch.functions.items()},
                    watch.seconds,
                    sorted(watch.properties),
                ],
                told,
            )
        return code

    child = _fork(run, examples=_FEW, quiet=False)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("the tests fail before any mistake is made")
    return Reach(*json.loads(text))


def start(mutant: Mutant, chosen: Round) -> int:
    """Start a round of tests on a mistake and return the id of the process, of which `noticed`
    reads the status.
    """

    def run() -> int:
        bound = _CPU_S + 2 * chosen.seconds
        signal.alarm(_HANGS_S + 10 * bound)
        resource.setrlimit(resource.RLIMIT_CPU, (bound, bound + 5))
        sys.meta_path.insert(0, _Mistaken(mutant))
        files = dict.fromkeys(name.split("::")[0] for name in chosen.tests)
        return pytest.main([*_PYTEST, *files], plugins=[_Chosen(chosen.tests)])

    return _fork(run, examples=chosen.examples, quiet=True)


def noticed(status: int) -> bool:
    """Return whether the tests noticed a mistake.

    A failure, an import that fails, or processor time without end.

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


def _fork(run: Callable[[], int], *, examples: int, quiet: bool) -> int:
    sys.stdout.flush()
    if child := os.fork():
        return child
    code = 70
    try:
        # With CI the examples are the same each time.
        os.environ |= {"CI": "1", "HARNESS_EXAMPLES": str(examples)}
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
        self.properties: set[str] = set()
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
            if item.get_closest_marker("hypothesis"):
                self.properties.add(item.nodeid)
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
