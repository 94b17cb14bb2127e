"""The budget of work for one validation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

MOST_LEVELS = 150
"""Most levels of nested schemas. Python allows about 1,000 nested calls, a level takes up to five,
and the validation library crashes beyond that."""


class OutOfSteps(Exception):
    """Validation was stopped: it took more steps, or more levels, than allowed."""


class Budget:
    """Steps that are left.

    A step is the application of one keyword to a value: about five microseconds.
    """

    __slots__ = ("left", "level", "steps")

    def __init__(self, steps: int) -> None:
        """Allow ``steps``."""
        self.steps = steps
        self.left = steps
        self.level = 0

    def spend(self, steps: int) -> None:
        """Take ``steps``.

        Raises:
            OutOfSteps: fewer steps are left.
        """
        self.left -= steps
        if self.left < 0:
            raise OutOfSteps(f"more than {self.steps:,} steps")

    def end(self) -> None:
        """Use up the budget, so that a validation in another thread ends at its next step."""
        self.left = -1


_CURRENT: ContextVar[Budget] = ContextVar("budget")
_SEARCH: ContextVar[int] = ContextVar("search", default=0)
"""Steps of a search for a name in the whole schema."""
_PER_STEP = 2  # parts of a schema that one step of such a search passes
_COUNTED_PER_STEP = 64  # parts of a schema that one step counts
_CHARS_PER_STEP = 16  # of a path into a schema
_LOOK_UP = 4  # steps of any reference


@contextmanager
def apply_budget(budget: Budget) -> Iterator[None]:
    """Count all validation inside the block against ``budget``."""
    token = _CURRENT.set(budget)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def get_active_budget() -> Budget | None:
    """Return the budget in force, if there is one."""
    return _CURRENT.get(None)


def spend_steps(steps: int) -> None:
    """Take ``steps`` from the budget in force.

    Raises:
        OutOfSteps: fewer steps are left.
    """
    _CURRENT.get().spend(steps)


@contextmanager
def enter_level() -> Iterator[None]:
    """Count everything inside the block as one more level.

    Raises:
        OutOfSteps: there are too many.
    """
    budget = _CURRENT.get()
    budget.level += 1
    try:
        if budget.level > MOST_LEVELS:
            raise OutOfSteps(f"more than {MOST_LEVELS} levels")
        yield
    finally:
        budget.level -= 1


@contextmanager
def charge_searches(schema: Any) -> Iterator[None]:
    """Let a reference by name (``#name``, or an ``$id``) cost a search of the whole ``schema``."""
    size = _count_values(schema)
    # The library looks for a name by walking through the whole schema, each time.
    token = _SEARCH.set(size // _PER_STEP)
    try:
        spend_steps(size // _COUNTED_PER_STEP)
        yield
    finally:
        _SEARCH.reset(token)


def spend_on_reference(reference: Any) -> None:
    """Take the steps for looking up ``reference``: few for a path such as ``#/$defs/name``.

    Raises:
        OutOfSteps: fewer steps are left.
    """
    is_path = isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))
    spend_steps(_LOOK_UP + (len(reference) // _CHARS_PER_STEP if is_path else _SEARCH.get()))


def _count_values(schema: Any) -> int:
    """Return the number of values in ``schema``."""
    # No recursion: a schema may nest deeper than Python can call.
    waiting, size = [schema], 0
    while waiting:
        part = waiting.pop()
        size += 1
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return size
