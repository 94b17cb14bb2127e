"""The parts of a suite in Python: the class, its cases, and its own check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from harness.types import dataclass

CHECK = "python"
"""The kind of check that calls the suite's own code."""

PASS_AT = 0.7
"""Lowest passing score of a graded check if the suite has no ``threshold``; as for datasets."""


class PythonSuite(Protocol):
    """The required members of a suite in Python.

    ``check(case, run)`` may be missing if every case has assertions.
    """

    name: str
    """Unique among the suites of a project."""

    def cases(self) -> Iterable[Any]:
        """Return the cases: `PythonCase`, or objects with the same attributes or keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCase:
    """One case of a suite in Python."""

    id: str
    """Unique in the suite."""
    input: str | Sequence[str] = ""
    """What the user says; several texts are the turns of a conversation."""
    test: str | None = None
    """The test that it belongs to, if it asks the same as other cases with another value or in
    other words: all of them count as one in intervals and comparisons."""
    wordings: Sequence[str] = ()
    """Other ways to say ``input``, or the first of its texts, for ``harness workbench``."""
    expected: Any = None
    """The value that ``check`` compares with; never interpreted."""
    tools: Sequence[Any] = ()
    """Functions, or mappings with a ``handler``; without any, those of ``default_tools()``."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """JSON; copied to the reports."""
    timeout_ms: float | None = None
    """Wall time of the conversation."""
    description: str | None = None
    """Why the case exists."""
    user_context: Mapping[str, Any] | None = None
    """The caller, as sent to the server."""
    tags: Sequence[str] = ()
    """Labels to select cases by."""
    assertions: Mapping[str, Any] | None = None
    """Checks as in a YAML suite, in addition to ``check``."""
    user: Any = None
    """A `harness.SimulatedUser` in place of ``input``, or a function that plays one.

    The function is ``(conversation as the user sees it) → the user's next message``; ``None``
    stops."""
    elicit: Any = None
    """How questions of the server are answered: an answer or rules, as in a YAML suite.

    Or a function ``(harness.Elicitation) → accept, decline, cancel, or the content of a form``."""
    steering: str | None = None
    """A message that the user sends during the run: right after the model's first reply."""
    abort: bool = False
    """Whether the run is aborted during the first tool calls."""
    allow_no_tools: bool = False
    """Whether the case is judged even if the suite's server offers no tool, which is otherwise an
    error."""
