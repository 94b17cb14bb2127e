"""The check that is a Python suite's own code: ``check(case, run)``.

| it returns or raises                | verdict                                                   |
|-------------------------------------|-----------------------------------------------------------|
| ``True``                            | passed                                                    |
| ``None``                            | passed if the check asserts something, otherwise an error |
| ``False``                           | failed                                                    |
| a number from 0 to 1                | passed from the suite's ``threshold`` on; kept as score   |
| ``(True, "why")``, ``(0.4, "why")`` | the same, with an explanation                             |
| a `harness.types.CheckResult`       | that result                                               |
| ``AssertionError``                  | failed, with its message, or its line of code             |
| anything else                       | the trial is an error: not judged, and never a pass       |
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import anyio

from harness.base import HarnessError, call_user_code, format_error, json_value, users_frame
from harness.judging.checks.kind import (
    CheckFinding,
    Evidence,
    UnlistedKind,
    build_check_result,
    passed_if,
)
from harness.judging.checks.python_run import PythonRun, UserCheck, build_python_run, get_entry
from harness.types import Check, CheckResult, Verdict, dataclass

CHECK_TIMEOUT_S = 60.0
"""Seconds for one call of a suite's check; it has its own deadline after the conversation."""

_HINT = "This is the suite's own check: the whole conversation is in the log, and shown by --debug."


@dataclass(frozen=True, kw_only=True)
class PythonKind(UnlistedKind):
    """The kind of such checks; no suite file can use it."""

    name = "python"
    source = "suites in Python"
    timeout_s: float = CHECK_TIMEOUT_S
    """Seconds that a check may take."""

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Call the suite's own check.

        Raises:
            HarnessError: it raised an error, took too long or returned no valid verdict.
        """
        code: UserCheck = check.code
        run = build_python_run(evidence.transcript)
        try:
            with anyio.move_on_after(self.timeout_s):
                return _judge_returned(
                    check, code, run, await call_user_code(code.function, code.case, run)
                )
        except AssertionError as error:
            return _build_result(check, code, run, "failed", _describe_assertion(error))
        # It says already what is wrong with the verdict.
        except HarnessError:
            raise
        # A suite's own code may raise anything.
        except (Exception, SystemExit) as error:
            raise HarnessError(
                f"check of suite {code.suite} raised an error: {format_error(error)}"
            ) from error
        # Reached only when the time was up: everything else has returned or raised.
        raise HarnessError(
            f"check of suite {code.suite} gave no verdict within {self.timeout_s:g} s"
        )


PYTHON = PythonKind()


def _judge_returned(check: Check, code: UserCheck, run: PythonRun, returned: Any) -> CheckResult:
    """Return the result for what the suite's check returned."""
    if isinstance(returned, CheckResult):
        return replace(
            returned,
            kind=check.kind,
            # A suite may put anything here, and a log takes only JSON.
            expected=json_value(returned.expected, strict=False),
            actual=json_value(returned.actual, strict=False),
            at=returned.at or check.at,
        )
    explained = isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], str)  # noqa: PLR2004
    value, why = returned if explained else (returned, "")
    if returned is None:
        if has_assertion(code.function):
            return _build_result(check, code, run, "passed", why)
        raise HarnessError(
            f"check of suite {code.suite} returned nothing and asserts nothing, which is no "
            "verdict; return True or False, a score from 0 to 1, or assert what must hold"
        )
    # Before numbers, since to Python `True` is one.
    if isinstance(value, bool):
        return _build_result(check, code, run, passed_if(value), why)
    if isinstance(value, int | float) and 0 <= value <= 1:  # NaN is neither
        passed = value >= code.threshold
        bound = f"The score is {value:.3g}, at least {code.threshold:g} expected."
        result = _build_result(
            check, code, run, passed_if(passed), why or ("" if passed else bound)
        )
        return replace(result, score=float(value))
    raise HarnessError(
        f"check of suite {code.suite} returned {type(returned).__name__} {returned!r:.100}, which "
        "is no verdict; return True or False, a score from 0 to 1, or either with a text: (False, "
        "'why')"
    )


def _build_result(
    check: Check, code: UserCheck, run: PythonRun, verdict: Verdict, why: str
) -> CheckResult:
    failed = verdict == "failed"
    why = why or ("The suite's check returned False." if failed else "")
    finding = CheckFinding(
        label=f"check of {code.suite}",
        verdict=verdict,
        expected=json_value(get_entry(code.case, "expected"), strict=False),
        actual=run.answer if failed else None,
        why=((why,) if why else (), _HINT if failed else None),
    )
    return build_check_result(check, finding)


def _describe_assertion(error: AssertionError) -> str:
    """Return an assertion's message, or its line of code."""
    otherwise = "an assertion of the suite's check does not hold"
    if (frame := users_frame(error)) is None:
        return str(error) or otherwise
    place = format_error(error).split(" ", 1)[0].rstrip(":")
    return f"{str(error) or frame.line or otherwise} ({place})"


# ── Whether a check asserts anything: only then does returning nothing count as a pass ───────

# ``def check(case, run): run.answer == "Paris"`` compares, forgets to return, and would pass every
# answer. So the code is inspected: an ``assert``, an ``AssertionError``, or a call of something
# named ``assert…`` must be in the check or in a function that it calls. Under ``python -O`` there
# are no assertions, and such a check is refused instead of passing.


def has_assertion(check: Any) -> bool:
    """Whether ``check`` (anything callable) contains or reaches an assertion."""
    waiting, seen = list(_find_functions(check)), set()
    while waiting:
        function, owner = waiting.pop()
        # Functions may call each other in a circle.
        if function.__code__ in seen:
            continue
        seen.add(function.__code__)
        for code in _iterate_codes(function.__code__):
            if _asserts_itself(code):
                return True
            waiting += _find_called(code, function, owner)
    return False


def _find_functions(
    value: Any, owner: type | None = None
) -> Iterator[tuple[FunctionType, type | None]]:
    """Yield the function behind something callable, with the class whose method it is."""
    # So they stand in a class: a static look-up does not bind them.
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    # The function that asserts may be behind a decorator.
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, partial):
        yield from _find_functions(value.func, owner)
    elif isinstance(value, MethodType):
        bound = value.__self__
        owner = bound if isinstance(bound, type) else type(bound)
        yield from _find_functions(value.__func__, owner)
    elif isinstance(value, FunctionType):
        yield value, owner
    elif callable(value) and not isinstance(value, type):
        # Statically, since looking an attribute up may run code of the suite.
        called = inspect.getattr_static(type(value), "__call__")
        if isinstance(called, FunctionType):
            yield called, type(value)


def _iterate_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iterate_codes(constant)


def _asserts_itself(code: CodeType) -> bool:
    if any(name.lower().startswith("assert") for name in code.co_names):  # AssertionError as well
        return True
    # An assert loads its error by one instruction up to Python 3.13, and by another since.
    return any(
        step.opname == "LOAD_ASSERTION_ERROR"
        or (step.opname == "LOAD_COMMON_CONSTANT" and "AssertionError" in step.argrepr)
        or step.argval is AssertionError
        for step in dis.get_instructions(code)
    )


def _find_called(
    code: CodeType, function: FunctionType, owner: type | None
) -> Iterator[tuple[FunctionType, type | None]]:
    """Yield the functions that the code may call: globals, closed-over values, their attributes."""
    closed = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    owners: list[Any] = [] if owner is None else [owner]
    for name in (*code.co_names, *code.co_freevars):
        try:
            value = closed[name].cell_contents if name in closed else function.__globals__[name]
        except (KeyError, ValueError):  # an attribute, a builtin, or not bound yet
            continue
        yield from _find_functions(value)
        owners.append(value if isinstance(value, ModuleType | type) else type(value))
    for place in owners:
        for name in code.co_names:
            found = inspect.getattr_static(place, name, None)
            yield from _find_functions(found, place if isinstance(place, type) else None)
