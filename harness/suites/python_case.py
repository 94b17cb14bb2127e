"""What a suite in Python is made of: the class, its cases, and its own check of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

CHECK = "python"
"""The kind of check that calls the suite's own code."""

PASS_AT = 0.7
"""From which score on a graded check passes where its suite names no ``threshold``; as for
datasets."""


class PythonSuite(Protocol):
    """The least that a suite in Python is; ``check(case, run)`` may be missing where every case has assertions."""

    name: str
    """Unique among the suites of a project."""

    def cases(self) -> Iterable[Any]:
        """Return the cases: `PythonCase`, or anything with attributes or keys of the same names."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCase:
    """One case of a suite in Python."""

    id: str
    """Unique in the suite."""
    input: str | Sequence[str] = ""
    """What the user says; several texts are said one after the other, each once the one before is
    answered."""
    expected: Any = None
    """What ``check`` compares with; never interpreted."""
    tools: Sequence[Any] = ()
    """Functions, or mappings with a ``handler``; without any, those of ``default_tools()`` are
    offered."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """JSON; carried to every report."""
    timeout_ms: float | None = None
    """Wall time of the conversation."""
    description: str | None = None
    """Why the case exists."""
    user_context: Mapping[str, Any] | None = None
    """Who asks, as the server is told."""
    tags: Sequence[str] = ()
    """Free labels to pick cases by."""
    assertions: Mapping[str, Any] | None = None
    """Checks as a suite in YAML has them, judged beside ``check``."""
    user: Any = None
    """A `harness.SimulatedUser` who talks with the model in place of ``input``, or a function that
    plays one: ``(messages of their side of the conversation) → what they say``, ``None`` to
    stop."""
    steering: str | None = None
    """What the user says while the run is under way: right after the model's first reply."""
    abort: bool = False
    """Whether the run is aborted while the first tool calls are under way."""
    allow_no_tools: bool = False
    """Whether the case is judged even if the suite's server offers no tool at all, which is an
    error otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCheck:
    """A suite's own ``check`` and the case that it is to judge."""

    suite: str
    """Name of the suite."""
    function: Callable[[Any, Any], Any]
    """``check`` of the suite; may be a coroutine function."""
    case: Any
    """The case as the suite gave it."""
    threshold: float
    """From which score on it passes."""
