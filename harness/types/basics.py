"""Shared by the modules of this package: JSON, places in files, named tools, statuses, entrants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import partial
from operator import eq
from typing import Any, Literal, TypeAlias

from harness.types.shared_dataclass import dataclass

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object: string keys, JSON values. Read-only everywhere."""

JsonPath: TypeAlias = tuple[str | int, ...]
"""Steps from a JSON value to a part of it: ``(2, "args")``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a file that a user can open."""

    file: str
    """Path as the user would type it, relative to the working directory if possible."""
    line: int | None = None
    """1-based line; ``None`` means the whole file."""
    column: int | None = None
    """1-based column."""

    def __str__(self) -> str:
        """``evals/shop.yml:12:5``, the form that terminals and editors turn into a link."""
        return ":".join(
            str(part) for part in (self.file, self.line, self.column) if part is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTool:
    """A tool named by the user: in a check, a scripted call, or a list of blocked tools."""

    tool: str
    """The name."""
    at: Location | None = None
    """Where it was written."""
    allow_absent: bool = False
    """Whether the tool may be missing from the server's list; otherwise that is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call that a case makes itself."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject = field(default_factory=dict)
    """The arguments, sent as they are."""
    at: Location | None = None
    """Where the suite states it."""
    allow_absent: bool = False
    """Whether the tool may be missing from every list when the run begins: some tools are listed
    only later."""


Status: TypeAlias = Literal["passed", "failed", "error", "skipped", "cancelled"]
"""A trial's one final status:

- ``passed``: every deciding check passed.
- ``failed``: a check failed or a limit of the case was hit.
- ``error``: it could not be judged; `TrialResult.error` says why.
- ``skipped``: it was not started; `TrialResult.skip_reason` says why.
- ``cancelled``: it was started and interrupted."""


def left_out_if(default: Any) -> dict[str, Callable[[Any], bool]]:
    """Return the ``metadata`` of a dataclass field that is not written if it has its default."""
    return {"exclude_if": partial(eq, default)}  # pydantic looks for it, too


def written_fields(value: Any) -> dict[str, Any]:
    """Return the fields of the dataclass ``value`` that a log writes."""
    held = {field: getattr(value, field.name) for field in fields(value)}
    return {
        field.name: content
        for field, content in held.items()
        if not ((is_left_out := field.metadata.get("exclude_if")) and is_left_out(content))
    }


class HasEntrant:
    """Base of all that belongs to one entrant of a run.

    What inherits has the fields ``model`` and ``axes``: axis → name of the value, without those
    that have the default. `harness.suites.axes` declares the axes.
    """

    __slots__ = ()
    model: str
    axes: Mapping[str, str]

    @property
    def entrant(self) -> str:
        """Its name, which is unique in a run and never taken apart: ``gpt-4o+clearer_search``."""
        return name_entrant(self.model, self.axes)


NOBODY_ASKED = "no model"
"""What stands for the model of cases that only make calls."""


def name_entrant(model: str, axes: Mapping[str, str]) -> str:
    """Return the name of the entrant ``model`` with those values of ``axes``."""
    return "+".join((model, *axes.values()))
