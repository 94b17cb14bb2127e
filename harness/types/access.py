"""Who may see what: decisions of a server, and leaks between identities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from harness.types.basics import HasEntrant, Status
from harness.types.shared_dataclass import dataclass

Access: TypeAlias = Literal[
    "allowed", "filtered", "denied", "hidden", "not_attempted", "error", "mixed"
]
"""What a server lets an identity do, by what was recorded:

- ``allowed``: a call was carried out, and its result has everything that others get for the same
  call.
- ``filtered``: a call was carried out, with fields left out or masked.
- ``denied``: a call was tried, and the server refused it.
- ``hidden``: the tool is not in this identity's tool list, and no call of it was carried out.
- ``not_attempted``: the tool was offered and never called, which says nothing about the server.
- ``error``: a call was tried, and failed for another reason than a refusal.
- ``mixed``: it differed from tool to tool, or from trial to trial."""

RefusalShape: TypeAlias = Literal[
    "tool_error", "protocol_error", "http_status", "not_listed", "filtered_fields"
]
"""How a server withheld something: an ``isError`` result, a JSON-RPC error, HTTP 401/403, a tool
that is not in the list, or a good result with fields left out or masked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the server decided on one tool for one identity."""

    identity: str
    """Who asked."""
    tool: str
    """The tool in question."""
    access: Access
    """The decision."""
    shape: RefusalShape | None = None
    """How something was withheld; ``None`` where nothing was."""
    missing: tuple[str, ...] = ()
    """Fields that others get for the same call and this identity does not: ``orders[].amount``."""
    masked: tuple[str, ...] = ()
    """Fields that hold something unreadable where others get a value."""
    partly: tuple[str, ...] = ()
    """Those of them whose mask leaves a part of the value readable."""
    calls: int = 0
    """Calls that were made."""
    compared: int = 0
    """Of those, the calls that another identity made successfully with the same arguments."""


NOT_SEARCHED = "not searched"
"""`Leak.kept` of a note that something is too long to be searched as a whole; its ``field`` says
what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A value that the server withholds from an identity in one place and gives it in another."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case in which it leaked."""
    key: str
    """`Trial.key` of the trial."""
    identity: str
    """Who was given it, although it is withheld from them elsewhere."""
    field: str
    """Where others get it: ``customers[].email``."""
    shown: str
    """The value, shortened so that a report does not reveal it."""
    tool: str
    """The tool whose result withholds it."""
    kept: str
    """How it is withheld there: ``left out``, ``masked``, ``refused``, ``the tool is hidden``."""
    allowed_to: tuple[str, ...]
    """The identities that may see it; empty where it is served to an anonymous caller and denied to
    named ones."""
    place: str
    """Where it leaked: ``the structured result of call 2, search_customers: customers[].email``."""
    in_answer: bool = False
    """Whether the answer repeats it, so that the user saw it, too."""
    values: int = 1
    """How many values of that field leaked in the trial; this is the first of them."""
    decoded: tuple[str, ...] = ()
    """How it had to be decoded at `place`, the outermost encoding first: ``base64``, ``reversed``;
    empty if it stands there plainly."""
    source: str = ""
    """The bytes that hold it there, shortened, if they are encoded."""
    places: tuple[str, ...] = ()
    """Every other place in which the same value reached the identity in this trial."""
    is_note: bool = False
    """Whether it is worth a look, and fails nothing: it stands in the server's stderr, which only
    its operator reads, or it is a number that is only given rounded."""
    value: str = ""
    """The same for leaks of the same value in a suite, whatever the trial; it does not tell the
    value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessCell:
    """One identity in one test."""

    identity: str
    """Who asked."""
    case: str
    """Name of the case."""
    access: Access
    """What the server decided, over all tools that the test is about."""
    status: Status
    """The case's verdict."""
    decisions: tuple[Decision, ...] = ()
    """One for each tool."""
    leaks: tuple[Leak, ...] = ()
    """Its leaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRow(HasEntrant):
    """One test that is asked as several identities, with one entrant."""

    suite: str
    """Name of the suite."""
    group: str
    """Name of the test."""
    model: str
    """Name of the model."""
    cells: tuple[AccessCell, ...]
    """One for each identity, in the order of the suite."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """`Trial.axes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessReport:
    """Who saw what in a run."""

    rows: tuple[AccessRow, ...] = ()
    """Every test that is asked as several identities; empty where there is none."""
    unobserved: Mapping[str, str] = field(default_factory=dict)
    """Suite → why nothing in it shows that the server knows who asks."""
    not_read: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Suite → what is listed for its identities and was not read, a line for each reason."""

    @property
    def identities(self) -> tuple[str, ...]:
        """Every identity, in the order of the suites."""
        return tuple(dict.fromkeys(cell.identity for row in self.rows for cell in row.cells))

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Every leak, in the order of the suites."""
        return tuple(leak for row in self.rows for cell in row.cells for leak in cell.leaks)
