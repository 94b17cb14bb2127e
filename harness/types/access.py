"""Who may see what: decisions of a server, and leaks between identities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.types.basics import Status

Access: TypeAlias = Literal[
    "allowed", "filtered", "denied", "hidden", "not_attempted", "error", "mixed"
]
"""What a server lets an identity do, as it showed on the wire:

- ``allowed``: a call was carried out, and nothing was left out of its result that others get for
  the same call.
- ``filtered``: it was carried out, and fields were left out or masked.
- ``denied``: it was tried, and the server refused it.
- ``hidden``: the tool is not in the list that this identity is shown, and no call of it was carried
  out.
- ``not_attempted``: the tool was offered, and nobody called it: that says nothing of the server.
- ``error``: it was tried, and failed for another reason than a refusal.
- ``mixed``: it came out differently from tool to tool, or from trial to trial."""

RefusalShape: TypeAlias = Literal[
    "tool_error", "protocol_error", "http_status", "not_listed", "filtered_fields"
]
"""In which shape a server kept something back: an ``isError`` result, a JSON-RPC error, HTTP
401/403, a tool that is not in the list, or a good result with fields left out or masked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the server decided on one tool for one identity."""

    identity: str
    """Who asked."""
    tool: str
    """What was asked for."""
    access: Access
    """How it came out."""
    shape: RefusalShape | None = None
    """How something was kept back; ``None`` where nothing was."""
    missing: tuple[str, ...] = ()
    """Fields that others get for the same call and this identity does not: ``orders[].amount``."""
    masked: tuple[str, ...] = ()
    """Fields that hold something unreadable where others get a value."""
    calls: int = 0
    """Calls that were made."""
    compared: int = 0
    """Of those, the calls that another identity made with the same arguments and success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A value that the server keeps from an identity in one place and gives it in another."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case in which it was given."""
    key: str
    """`Trial.key` of the trial."""
    identity: str
    """Who was given it."""
    field: str
    """Where others get it: ``customers[].email``."""
    shown: str
    """The value, shortened so that a report gives nothing away."""
    tool: str
    """The tool in whose result it is kept back."""
    kept: str
    """How it is kept back there: ``left out``, ``masked``, ``refused``, ``the tool is hidden``."""
    allowed_to: tuple[str, ...]
    """The identities that may see it; empty where nobody in particular is given what somebody is
    refused."""
    place: str
    """Where it stood: ``the structured result of call 2, search_customers: customers[].email``."""
    in_answer: bool = False
    """Whether the answer has it, too, so that the user saw it."""
    values: int = 1
    """How many values of that field were given in the trial; this is the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessCell:
    """One identity in one test."""

    identity: str
    """Who asked."""
    case: str
    """Name of the case."""
    access: Access
    """What the server let happen, over all tools that the test is about."""
    status: Status
    """The case's verdict."""
    decisions: tuple[Decision, ...] = ()
    """Tool by tool."""
    leaks: tuple[Leak, ...] = ()
    """What it was given and should not have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRow:
    """One test that is asked as several identities, with one model."""

    suite: str
    """Name of the suite."""
    group: str
    """Name of the test."""
    model: str
    """Name of the model."""
    cells: tuple[AccessCell, ...]
    """One for each identity, in the order of the suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessReport:
    """Who saw what in a run."""

    rows: tuple[AccessRow, ...] = ()
    """Every test that is asked as several identities; empty where there is none."""
    unobserved: Mapping[str, str] = field(default_factory=dict)
    """Suite → why nothing in it shows that the server knows who asks."""

    @property
    def identities(self) -> tuple[str, ...]:
        """Every identity, in the order of the suites."""
        return tuple(dict.fromkeys(cell.identity for row in self.rows for cell in row.cells))

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Every leak, in the order of the suites."""
        return tuple(leak for row in self.rows for cell in row.cells for leak in cell.leaks)
