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
    DocumentReader,
    HarnessError,
    InvalidInput,
    InvalidValue,
    NothingToRun,
    Problem,
    UsageError,
    build_code_document,
    did_you_mean,
    digest_json,
    find_reference,
    format_error,
    import_object,
    json_value,
    locate_function,
)
from harness.judging import UserCheck, get_entry
from harness.suites.config.server_entries import read_server
from harness.suites.in_python.case import CHECK, PASS_AT
from harness.suites.in_python.tools import PythonTool, build_tool_server, default_tools, read_tools
from harness.suites.in_python.values import (
    parse_boolean,
    parse_guard_rails,
    parse_isolation,
    parse_mapping,
    parse_milliseconds,
    parse_model,
    parse_name,
    parse_prompts,
    parse_text,
    parse_texts,
    parse_user,
    read_python_alterations,
    read_python_faults,
    read_python_variants,
    share,
)
from harness.suites.readers import Vocabulary, check_consistent
from harness.suites.simulated_users import format_summary, parse_elicit
from harness.suites.wordings import find_flaws
from harness.types import (
    Caller,
    Case,
    Check,
    GuardRails,
    Interruption,
    Isolation,
    Limits,
    Location,
    Repeats,
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
    return _read_target(import_object(reference), reference, vocabulary)


def read_object(target: Any, vocabulary: Vocabulary) -> Suite:
    """Return the suite of a class or an instance; raises as `read_reference` does."""
    return _read_target(target, find_reference(target), vocabulary)


def _read_target(target: Any, reference: str | None, vocabulary: Vocabulary) -> Suite:
    title = reference or getattr(target, "__name__", None) or type(target).__name__
    if inspect.isroutine(target):
        meant = "A suite is a class with name, cases() and check()."
        raise UsageError(f"{title} is a function, not a suite", meant=meant)
    try:
        suite = target() if inspect.isclass(target) else target
        return _PythonSuiteReader(suite, title, reference, vocabulary).build_suite()
    except HarnessError:
        raise
    # Boundary to a suite's own code, which may raise anything.
    except (Exception, SystemExit) as error:
        raise UsageError(f"suite {title} cannot be read: {format_error(error)}") from error


class _PythonSuiteReader:
    """Reads one suite; problems are collected and reported at the end."""

    def __init__(
        self, suite: Any, title: str, reference: str | None, vocabulary: Vocabulary
    ) -> None:
        self.suite = suite
        self.title = title
        self.reference = reference
        self.vocabulary = vocabulary
        self.at = _locate_method(suite, "cases") or Location(file=title)
        self.problems: list[Problem] = []
        self.servers: dict[tuple[int, ...], ServerSpec] = {}
        self.check_at = _locate_method(suite, "check") or self.at
        self.toolless = False  # without a server and default tools, no tools are expected

    def build_suite(self) -> Suite:
        """Return the suite; raise an error with all problems if there are any."""
        self._require_methods()
        noun = f"suite {self.title}"
        known = {
            key: self.read_part(self.suite, key, parse_text, noun)
            for key in ("description", "system_prompt", "judge_model", "user_model")
        }
        known["model"] = self.read_part(self.suite, "model", parse_model, noun)
        # Else the first line of its class's own docstring.
        known["description"] = known["description"] or (
            inspect.cleandoc(type(self.suite).__doc__ or "").partition("\n")[0] or None
        )
        title = self.read_part(self.suite, "name", parse_name, noun)
        if title is None and not self.problems:
            self.add_problem(f"{noun} has no 'name'.", "Write name = '…' into the class.")
        self.name = title or self.title
        self.threshold = self.read_part(self.suite, "threshold", share, noun) or PASS_AT
        chosen = self.read_part(self.suite, "isolation", parse_isolation, noun)
        self.isolation: Isolation = chosen or "identity"
        cases, server = self._read_cases(), self._read_server()
        variants, wrong = read_python_variants(get_entry(self.suite, "variants"), self.at)
        altered, wrong_too = read_python_alterations(
            get_entry(self.suite, "interference"), self.at, self.vocabulary
        )
        faults, wrong_as_well = read_python_faults(get_entry(self.suite, "faults"), self.at)
        self.problems += [*wrong, *wrong_too, *wrong_as_well]
        if self.toolless:
            cases = tuple(
                case
                if case.server is not None
                else replace(case, caller=replace(case.caller, allow_no_tools=True))
                for case in cases
            )
        checked = [[check.dump_params() for check in case.checks] for case in cases]
        asked = [[case.name, case.prompts, of] for case, of in zip(cases, checked, strict=True)]
        parse_guard = partial(parse_guard_rails, at=self.at)
        suite = Suite(
            **known,
            name=self.name,
            cases=cases,
            server=server,
            variants=variants,
            alterations=altered,
            faults=faults,
            guard=self.read_part(self.suite, "allow_writes", parse_guard, noun) or GuardRails(),
            digest=digest_json(asked),
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

    def read_part(self, given: Any, key: str, parse: Callable[[Any], Any], noun: str) -> Any:
        """Return the part ``key`` of ``given``, parsed; ``None`` if it is missing or not valid."""
        value = get_entry(given, key)
        try:
            return None if value is None else parse(value)
        except InvalidValue as error:
            self.add_problem(f"{noun}: {key}: {error.message.rstrip('.')}.", error.meant)
            return None

    def add_problem(self, message: str, meant: str | None = None) -> None:
        """Add a problem."""
        self.problems.append(Problem(at=self.at, message=message, meant=meant))

    def _require_methods(self) -> None:
        """Raise at once if the object is not a suite: further problems would not help."""
        if not callable(getattr(self.suite, "cases", None)):
            meant = "A suite in Python has name, cases() and check(case, run)."
            message = f"{self.title} is not a suite: it has no cases() method."
            raise InvalidInput([Problem(at=self.at, message=message, meant=meant)])
        check = getattr(self.suite, "check", None)
        if check is not None:
            try:
                inspect.signature(check).bind(None, None)
            except TypeError:
                message = "check must take two arguments: the case and the run."
                self.problems.append(Problem(at=self.check_at, message=message))

    # ── Cases ────────────────────────────────────────────────────────────────────────────────

    def _read_cases(self) -> tuple[Case, ...]:
        given = self.suite.cases()
        if inspect.iscoroutine(given):
            # Closed, or Python would warn that it was never awaited.
            given.close()
        if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
            returned = type(given).__name__
            self.add_problem(f"cases() must return a list of cases; it returned {returned}.")
            return ()
        cases: dict[str, Case] = {}
        for number, one in enumerate(given, start=1):
            case = self._read_case(one, number)
            if case.name in cases:
                message = f"case {case.name!r} is defined twice."
                self.add_problem(message, "Give each case an id of its own.")
            cases[case.name] = case
        if not cases and not self.problems:
            raise NothingToRun(
                f"the suite {self.name} has no cases; perhaps its data was not fetched ({self.at})"
            )
        return tuple(cases.values())

    def _read_case(self, given: Any, number: int) -> Case:
        noun = f"case number {number}"
        case_id = self.read_part(given, "id", parse_name, noun)
        noun = noun if case_id is None else f"case {case_id!r}"

        def read(key: str, parse: Callable[[Any], Any]) -> Any:
            return self.read_part(given, key, parse, noun)

        person = read("user", parse_user)
        said = [format_summary(person)] if person else read("input", parse_prompts)
        for key in ("id",) if person else ("id", "input"):
            if get_entry(given, key) is None:
                self.add_problem(f"{noun} has no {key!r}.", f"It is a {type(given).__name__}.")
        said, case_id = said or ("",), case_id or noun
        case = Case(
            name=case_id,
            prompt=said[0],
            wordings=read("wordings", parse_texts) or (),
            turns=tuple(Turn(prompt=prompt) for prompt in said) if len(said) > 1 else (),
            user=person,
            checks=self._read_checks(given, case_id, noun),
            description=read("description", parse_text),
            caller=Caller(
                user_context=read("user_context", parse_mapping),
                elicit=read("elicit", parse_elicit),
                allow_no_tools=read("allow_no_tools", parse_boolean) or False,
            ),
            repeats=Repeats(test=read("test", parse_name)),
            limits=Limits(timeout_s=read("timeout_ms", parse_milliseconds)),
            tags=read("tags", parse_texts) or (),
            metadata=read("metadata", parse_mapping) or {},
            server=self._build_case_server(given, case_id, noun),
            interruption=Interruption(
                steering=read("steering", parse_text), abort=read("abort", parse_boolean) or False
            ),
            at=self.at,
        )
        for flaw in find_flaws(case):
            self.add_problem(f"{flaw.message}.", flaw.meant)
        return case

    def _read_checks(self, given: Any, case_id: str, noun: str) -> tuple[Check, ...]:
        checks = []
        for kind, value in (self.read_part(given, "assertions", parse_mapping, noun) or {}).items():
            if kind not in self.vocabulary.names():
                meant = did_you_mean(kind, self.vocabulary.names())
                self.add_problem(f"{noun}: there is no check {kind!r}.", meant)
                continue
            try:
                parsed = self.vocabulary.parse(kind, value)
                checks += [check.with_location(self.at) for _, check in parsed]
            except InvalidValue as error:
                message = f"{noun}: assertions: {kind}: {error.message.rstrip('.')}."
                self.add_problem(message, error.meant)
        function = getattr(self.suite, "check", None)
        if function is not None:
            # a changed check gives a new trial key, so that no old result is reused
            expected = json_value(get_entry(given, "expected"), strict=False)
            asks = digest_json([self.source, expected, self.threshold])
            params = {"suite": self.reference or self.title, "case": case_id, "asks": asks}
            code = UserCheck(
                suite=self.name, function=function, case=given, threshold=self.threshold
            )
            checks.append(Check(kind=CHECK, params=params, at=self.check_at, code=code))
        if not checks and get_entry(given, "assertions") is None:
            meant = "Write check(case, run) into the class, or give it assertions."
            self.add_problem(f"{noun} checks nothing.", meant)
        return tuple(checks)

    # ── Servers ──────────────────────────────────────────────────────────────────────────────

    def _read_server(self) -> ServerSpec | str:
        given = get_entry(self.suite, "server")
        tools = self._collect_tools(lambda: default_tools(self.suite), "default_tools()")
        if given is None:
            self.toolless = not tools
            served = self._require_reference() if tools else None
            return build_tool_server(self.name, self.isolation, served)
        if tools or self.servers:
            message = "a suite has either a server or tools of its own, not both."
            self.add_problem(message, "Remove 'server', or the tools.")
        if isinstance(given, ServerSpec | str):
            return given
        reading = DocumentReader(build_code_document(self.at))
        mapping = self.read_part(self.suite, "server", parse_mapping, "the suite") or {}
        spec = read_server(reading, ("server",), mapping, self.name)
        self.problems += reading.problems
        return spec

    def _build_case_server(self, given: Any, case_id: str, noun: str) -> ServerSpec | None:
        """Return the server of a case's own tools; cases with the same tools share it."""
        listed = get_entry(given, "tools") or None
        tools = self._collect_tools(lambda: read_tools(listed), f"{noun}: tools")
        if not tools:
            return None
        key = tuple(id(tool.function) for tool in tools)
        if key not in self.servers:
            self.servers[key] = build_tool_server(
                f"{self.name}::{case_id}", self.isolation, self._require_reference(), case_id
            )
        return self.servers[key]

    def _collect_tools(
        self, read: Callable[[], tuple[PythonTool, ...]], noun: str
    ) -> tuple[PythonTool, ...]:
        try:
            return read()
        except InvalidValue as error:
            self.add_problem(f"{noun}: {error.message}.", error.meant)
            return ()

    def _require_reference(self) -> str:
        if self.reference is None:
            served = f"the tools of {self.title} are served by a separate process"
            meant = "Put the suite into a module, as a class or a variable."
            self.add_problem(f"{served}, which cannot import the suite.", meant)
        return self.reference or self.title


def _locate_method(suite: Any, method: str) -> Location | None:
    function = getattr(suite, method, None)
    return locate_function(function) if callable(function) else None
