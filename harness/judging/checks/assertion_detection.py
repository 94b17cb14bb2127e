"""Whether a check asserts anything: only then does returning nothing count as a pass.

``def check(case, run): run.answer == "Paris"`` compares, forgets to return, and would pass every
answer. So the code is inspected: an ``assert``, an ``AssertionError``, or a call of something named
``assert…`` must be in the check or in a function that it calls. Under ``python -O`` there are no
assertions, and such a check is refused instead of passing.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any


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
        yield from _find_functions(
            value.__func__, bound if isinstance(bound, type) else type(bound)
        )
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
        instruction.opname == "LOAD_ASSERTION_ERROR"
        or (
            instruction.opname == "LOAD_COMMON_CONSTANT" and "AssertionError" in instruction.argrepr
        )
        or instruction.argval is AssertionError
        for instruction in dis.get_instructions(code)
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
