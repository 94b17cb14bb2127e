"""Suites in Python: a class with ``name``, ``cases()`` and ``check(case, run)``.

`docs/python.md` describes its optional members. The cases and tools of the class are read once;
each case keeps its object for judging, so that a whole run uses the same instance.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from harness.base import (
    HarnessError,
    InvalidInput,
    InvalidValue,
    NothingToRun,
    Problem,
    Reading,
    UsageError,
    blame,
    did_you_mean,
    digest,
    find,
    in_code,
    json_value,
    reference_of,
    where,
)
from harness.judging import UserCheck, part
from harness.suites.config.server_entries import read_server
from harness.suites.in_python.alterations import python_alterations
from harness.suites.in_python.case import CHECK, PASS_AT
from harness.suites.in_python.tools import PythonTool, default_tools, read_tools, served
from harness.suites.in_python.values import (
    isolation,
    leave,
    mapping,
    name,
    prompts,
    seconds,
    share,
    text,
    texts,
    true,
    user,
)
from harness.suites.in_python.variants import python_variants
from harness.suites.readers import Vocabulary, check_consistent
from harness.suites.simulated_users import summary
from harness.suites.wordings import flaws
from harness.types import (
    Caller,
    Case,
    Check,
    GuardRails,
    Interruption,
    Isolation,
    Limits,
    Location,
    ServerSpec,
    Suite,
    Turn,
)


def read_reference(reference: str, vocabulary: Vocabulary) -> Suite:
    """Return the suite ``my.module:Suite``, ``my.module.Suite`` or ``bench/suite.py:Suite``.

    Raises:
        UsageError: it cannot be imported, or its code raised an error.
        InvalidInput: it is not a suite.
        NothingToRun: it has no cases.
    """
    return _read(find(reference), reference, vocabulary)


def read_object(target: Any, vocabulary: Vocabulary) -> Suite:
    """Return the suite of a class or an instance; raises as `read_reference` does."""
    return _read(target, reference_of(target), vocabulary)


def _read(target: Any, reference: str | None, vocabulary: Vocabulary) -> Suite:
    title = reference or getattr(target, "__name__", None) or type(target).__name__
    if inspect.isroutine(target):
        raise UsageError(
            f"{title} is a function, not a suite",
            meant="A suite is a class with name, cases() and check().",
        )
    try:
        suite = target() if inspect.isclass(target) else target
        return _Reading(suite, title, reference, vocabulary).result()
    except HarnessError:
        raise
    except (
        Exception,
        SystemExit,
    ) as error:  # boundary to a suite's own code, which may raise anything
        raise UsageError(f"suite {title} cannot be read: {blame(error)}") from error


class _Reading:
    """Reads one suite; problems are collected and reported at the end."""

    def __init__(
        self, suite: Any, title: str, reference: str | None, vocabulary: Vocabulary
    ) -> None:
        self.suite = suite
        self.title = title
        self.reference = reference
        self.vocabulary = vocabulary
        self.at = _place(suite, "cases") or Location(file=title)
        self.problems: list[Problem] = []
        self.servers: dict[tuple[int, ...], ServerSpec] = {}
        self.check_at = _place(suite, "check") or self.at
        self.toolless = False  # without a server and default tools, no tools are expected

    def result(self) -> Suite:
        """Return the suite; raise an error with all problems if there are any."""
        self._require_methods()
        noun = f"suite {self.title}"
        known = {
            key: self.take(self.suite, key, text, noun)
            for key in ("description", "model", "system_prompt")
        }
        known["description"] = known["description"] or _summary(type(self.suite))
        title = self.take(self.suite, "name", name, noun)
        if title is None and not self.problems:
            self.problem(f"{noun} has no 'name'.", "Write name = '…' into the class.")
        self.name = title or self.title
        self.threshold = self.take(self.suite, "threshold", share, noun) or PASS_AT
        chosen = self.take(self.suite, "isolation", isolation, noun)
        self.isolation: Isolation = chosen or "identity"
        cases, server = self._cases(), self._server()
        variants, wrong = python_variants(part(self.suite, "variants"), self.at)
        altered, wrong_too = python_alterations(
            part(self.suite, "interference"), self.at, self.vocabulary
        )
        self.problems += [*wrong, *wrong_too]
        if self.toolless:
            cases = tuple(
                replace(case, caller=replace(case.caller, allow_no_tools=True))
                if case.server is None
                else case
                for case in cases
            )
        asked = [[case.name, case.prompts, [one.asked() for one in case.checks]] for case in cases]
        suite = Suite(
            **known,
            name=self.name,
            cases=cases,
            server=server,
            variants=variants,
            alterations=altered,
            guard=self.take(self.suite, "allow_writes", partial(leave, at=self.at), noun)
            or GuardRails(),
            judge_model=self.take(self.suite, "judge_model", text, noun),
            user_model=self.take(self.suite, "user_model", text, noun),
            digest=digest(asked),
            at=self.at,
            reference=self.reference,
            estimate_cost=getattr(self.suite, "cost_estimator", None),
        )
        if self.problems:
            raise InvalidInput(dict.fromkeys(self.problems))
        return check_consistent(suite, self.vocabulary)

    @cached_property
    def source(self) -> str:
        """The source of the suite's check; empty if it was typed interactively."""
        try:
            return inspect.getsource(self.suite.check)
        except (OSError, TypeError):
            return ""

    def take(self, given: Any, key: str, parse: Callable[[Any], Any], noun: str) -> Any:
        """Return the part ``key`` of ``given``, parsed; ``None`` if it is missing or not valid."""
        value = part(given, key)
        try:
            return None if value is None else parse(value)
        except InvalidValue as error:
            self.problem(f"{noun}: {key}: {error.message.rstrip('.')}.", error.meant)
            return None

    def problem(self, message: str, meant: str | None = None) -> None:
        """Add a problem."""
        self.problems.append(Problem(at=self.at, message=message, meant=meant))

    def _require_methods(self) -> None:
        """Raise at once if the object is not a suite: further problems would not help."""
        if not callable(getattr(self.suite, "cases", None)):
            meant = "A suite in Python has name, cases() and check(case, run)."
            raise InvalidInput(
                [
                    Problem(
                        at=self.at,
                        message=f"{self.title} is not a suite: it has no cases() method.",
                        meant=meant,
                    )
                ]
            )
        check = getattr(self.suite, "check", None)
        if check is not None and not _takes_two(check):
            self.problems.append(
                Problem(
                    at=self.check_at, message="check must take two arguments: the case and the run."
                )
            )

    # ── Cases ────────────────────────────────────────────────────────────────────────────────

    def _cases(self) -> tuple[Case, ...]:
        given = self.suite.cases()
        if (
            inspect.iscoroutine(given)
            or not isinstance(given, Iterable)
            or isinstance(given, str | Mapping)
        ):
            if inspect.iscoroutine(given):
                given.close()
            self.problem(
                f"cases() must return a list of cases; it returned {type(given).__name__}."
            )
            return ()
        cases: dict[str, Case] = {}
        for number, one in enumerate(given, start=1):
            case = self._case(one, number)
            if case.name in cases:
                self.problem(
                    f"case {case.name!r} is defined twice.", "Give each case an id of its own."
                )
            cases[case.name] = case
        if not cases and not self.problems:
            raise NothingToRun(
                f"the suite {self.name} has no cases; perhaps its data was not fetched ({self.at})"
            )
        return tuple(cases.values())

    def _case(self, given: Any, number: int) -> Case:
        noun = f"case number {number}"
        case_id = self.take(given, "id", name, noun)
        noun = noun if case_id is None else f"case {case_id!r}"
        person = self.take(given, "user", user, noun)
        said = (summary(person),) if person else self.take(given, "input", prompts, noun)
        for key in ("id",) if person else ("id", "input"):
            if part(given, key) is None:
                self.problem(f"{noun} has no {key!r}.", f"It is a {type(given).__name__}.")
        said, case_id = said or ("",), case_id or noun
        case = Case(
            name=case_id,
            prompt=said[0],
            wordings=self.take(given, "wordings", texts, noun) or (),
            turns=tuple(Turn(prompt=prompt) for prompt in said) if len(said) > 1 else (),
            user=person,
            checks=self._checks(given, case_id, noun),
            description=self.take(given, "description", text, noun),
            caller=Caller(
                user_context=self.take(given, "user_context", mapping, noun),
                allow_no_tools=self.take(given, "allow_no_tools", true, noun) or False,
            ),
            limits=Limits(timeout_s=self.take(given, "timeout_ms", seconds, noun)),
            tags=self.take(given, "tags", texts, noun) or (),
            metadata=self.take(given, "metadata", mapping, noun) or {},
            server=self._own_server(given, case_id, noun),
            interruption=Interruption(
                steering=self.take(given, "steering", text, noun),
                abort=self.take(given, "abort", true, noun) or False,
            ),
            at=self.at,
        )
        for flaw in flaws(case):
            self.problem(f"{flaw.message}.", flaw.meant)
        return case

    def _checks(self, given: Any, case_id: str, noun: str) -> tuple[Check, ...]:
        checks = []
        for kind, value in (self.take(given, "assertions", mapping, noun) or {}).items():
            if kind not in self.vocabulary.names():
                self.problem(
                    f"{noun}: there is no check {kind!r}.",
                    did_you_mean(kind, self.vocabulary.names()),
                )
                continue
            try:
                parsed = self.vocabulary.parse(kind, value)
                checks += [check.placed(self.at) for _, check in parsed]
            except InvalidValue as error:
                self.problem(
                    f"{noun}: assertions: {kind}: {error.message.rstrip('.')}.", error.meant
                )
        function = getattr(self.suite, "check", None)
        if function is not None:
            # a changed check gives a new trial key, so that no old result is reused
            asks = digest(
                [self.source, json_value(part(given, "expected"), strict=False), self.threshold]
            )
            params = {"suite": self.reference or self.title, "case": case_id, "asks": asks}
            code = UserCheck(
                suite=self.name, function=function, case=given, threshold=self.threshold
            )
            checks.append(Check(kind=CHECK, params=params, at=self.check_at, code=code))
        if not checks and part(given, "assertions") is None:
            self.problem(
                f"{noun} checks nothing.",
                "Write check(case, run) into the class, or give it assertions.",
            )
        return tuple(checks)

    # ── Servers ──────────────────────────────────────────────────────────────────────────────

    def _server(self) -> ServerSpec | str:
        given = part(self.suite, "server")
        tools = self._tools(lambda: default_tools(self.suite), "default_tools()")
        if given is None:
            self.toolless = not tools
            return served(self.name, self.isolation, self._importable() if tools else None)
        if tools or self.servers:
            self.problem(
                "a suite has either a server or tools of its own, not both.",
                "Remove 'server', or the tools.",
            )
        if isinstance(given, ServerSpec | str):
            return given
        reading = Reading(in_code(self.at))
        spec = read_server(
            reading,
            ("server",),
            self.take(self.suite, "server", mapping, "the suite") or {},
            self.name,
        )
        self.problems += reading.problems
        return spec

    def _own_server(self, given: Any, case_id: str, noun: str) -> ServerSpec | None:
        """Return the server of a case's own tools; cases with the same tools share it."""
        listed = part(given, "tools") or None
        tools = self._tools(lambda: read_tools(listed), f"{noun}: tools")
        if not tools:
            return None
        key = tuple(id(tool.function) for tool in tools)
        if key not in self.servers:
            self.servers[key] = served(
                f"{self.name}::{case_id}", self.isolation, self._importable(), case_id
            )
        return self.servers[key]

    def _tools(
        self, read: Callable[[], tuple[PythonTool, ...]], noun: str
    ) -> tuple[PythonTool, ...]:
        try:
            return read()
        except InvalidValue as error:
            self.problem(f"{noun}: {error.message}.", error.meant)
            return ()

    def _importable(self) -> str:
        if self.reference is None:
            message = (
                f"the tools of {self.title} are served by a separate process, which cannot import "
                "the suite."
            )
            self.problem(message, "Put the suite into a module, as a class or a variable.")
        return self.reference or self.title


def _summary(kind: type) -> str | None:
    """Return the first line of a class's own docstring."""
    return inspect.cleandoc(kind.__doc__).partition("\n")[0] or None if kind.__doc__ else None


def _place(suite: Any, method: str) -> Location | None:
    function = getattr(suite, method, None)
    return where(function) if callable(function) else None


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True
