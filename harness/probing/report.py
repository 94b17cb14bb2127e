"""The result of a probe: the server's decisions by call and caller, findings and coverage.

A probe without findings proves nothing about calls that it never made. A cell of the coverage is a
tool, an identity of the suite and a parameter of the tool (or none, if the tool has none). It is
covered if that identity's call with that parameter had an answer, a result or a refusal, and the
same call gave something to at least one of the identities: a call that is refused to everybody,
fails for everybody or finds nothing for anybody shows no decision between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any, Literal, Self, TypeAlias

from harness.base import canonical_json
from harness.judging import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED, CallKey, Result
from harness.probing.caller_views import NO_ANSWER, ProbedTrials, get_caller_name, get_facts
from harness.probing.callers import UNSENT, Unsent
from harness.probing.evidence import is_telling
from harness.probing.interference.comparison import Account
from harness.reports import ProbeFinding
from harness.types import FLAWS, Decision, Report, Tool, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A combination of tool, identity and parameter."""

    tool: str
    """Name of the tool."""
    identity: str
    """The caller."""
    parameter: str | None
    """Name of the parameter; ``None`` for a tool without any."""


LEAST_PERCENT = 80
"""Coverage below which nothing is said of the server as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The covered share of all cells."""

    cells: int = 0
    """All cells."""
    never_asked: tuple[Cell, ...] = ()
    """Cells without an answer that says something."""
    wanted: float | None = None
    """The required percentage, if any."""

    @property
    def covered_cells(self) -> int:
        """Number of covered cells."""
        return self.cells - len(self.never_asked)

    @property
    def percent(self) -> float:
        """Percentage of covered cells; 100 if there are none."""
        return 100 * self.covered_cells / self.cells if self.cells else 100.0

    @property
    def is_sufficient(self) -> bool:
        """Whether enough was asked for a word on the server as a whole."""
        return self.percent >= LEAST_PERCENT

    @property
    def failure(self) -> str | None:
        """Why the coverage is too low; ``None`` if it is sufficient."""
        if self.wanted is None or self.percent >= self.wanted:
            return None
        return f"Coverage is {self.percent:.1f} %, at least {self.wanted:g} % is wanted"


def measure_coverage(probed: ProbedTrials, tools: Iterable[Tool], wanted: float | None) -> Coverage:
    """Return the coverage of ``tools``."""
    identities = dict.fromkeys(map(get_caller_name, probed.own))
    runs = (*probed.own, *probed.apart["record"], *probed.apart["shared"])
    results = [(run, probed.get_result(run)) for run in runs]
    telling = _find_telling_calls([result for _, result in results if result is not None])
    asked = {
        Cell(tool=facts["tool"], identity=get_caller_name(run), parameter=parameter)
        for run, result in results
        # A refused session is an answer to each of its calls.
        if probed.is_refused(run) or (result is not None and result.call.outcome not in NO_ANSWER)
        if _get_key(facts := get_facts(run)) in telling
        for parameter in (*facts["arguments"], None)
    }
    cells = [
        Cell(tool=tool.name, identity=identity, parameter=parameter)
        # Each identity has a list of its own, and most tools are in several.
        for tool in {tool.name: tool for tool in tools}.values()
        for parameter in (tool.input_schema.get("properties") or {None: None})
        for identity in identities
    ]
    never = tuple(cell for cell in cells if cell not in asked)
    return Coverage(cells=len(cells), never_asked=never, wanted=wanted)


def _find_telling_calls(results: Iterable[Result]) -> set[CallKey]:
    """Return the calls that gave something to somebody, or are allowed to some and not to others.

    An empty folder that one may list and another may not shows a decision, too.
    """
    outcomes: dict[CallKey, set[str]] = {}
    telling: set[CallKey] = set()
    for result in results:
        outcomes.setdefault(result.key, set()).add(result.call.outcome)
        if is_telling(result):
            telling.add(result.key)
    return telling | {key for key, had in outcomes.items() if {"ok", "denied"} <= had}


def _get_key(facts: Mapping[str, Any]) -> CallKey:
    return facts["tool"], canonical_json(facts["arguments"])


UNASKED = "unasked"
"""Fact of an entry of the log that says what a budget left out."""


def read_unasked(report: Report) -> Mapping[str, int]:
    """Return each step that a budget cut off → the calls that were not made; 0: unknown."""
    told = (result.case.metadata.get(UNASKED) for result in report.results)
    return {one["step"]: one["calls"] for one in told if one is not None}


def format_cells(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the cells as lines, one for each tool and parameter."""
    # Neighbours are enough, since `measure_coverage` goes through the identities last.
    for (tool, parameter), same in groupby(cells, key=lambda cell: (cell.tool, cell.parameter)):
        given = "" if parameter is None else f" with {parameter}"
        yield f"{tool}{given}, as {', '.join(cell.identity for cell in same)}"


TokenFate: TypeAlias = Literal["accepted", "refused", "as_nobody", "unclear"]
"""What the server did with a token that a verifier must refuse. ``accepted``: it accepted the
token. ``refused``: it refused the token or each call. ``as_nobody``: it treated the caller as
anonymous. ``unclear``: the answers do not show which."""


NOT_TRIED = ("keys that the issuer has withdrawn",)
"""Attacks with tokens that a probe does not try."""
SWAPS = ("another token in the middle of a session", "the session id of another caller")
"""Attacks that a probe tries over HTTP on a single server, if some call works."""


LATELY_MIN = 10
"""Minutes since the expiry of the flawed token that expired lately."""
LONGEST_MIN = 60
"""The same of the expired one; beyond it nothing is measured."""
SENSIBLE_MIN = 5
"""Minutes for which clocks may differ: "usually no more than a few minutes" (RFC 7519, 4.1.4)."""


AFTER_NOBODY = "made by itself, the call does not show this: it takes the caller before"
"""What a single request leaves out, of a finding on who asked before."""
ONE_DATA_SET = (
    "made by itself, the call shows the data as they are: the finding is the difference to B"
)
"""The same of a finding on altered values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leeway:
    """How long after its expiry the server accepts a token."""

    minutes: int | None = None
    """In whole minutes, rounded down; ``None`` if it is not measured."""
    beyond: bool = False
    """Whether it is more than `LONGEST_MIN`, which is not measured further."""
    calls: int = 0
    """Number of calls that measured it."""
    unmeasured: str | None = None
    """Why it is not known, if so."""

    @property
    def description(self) -> str:
        """The leeway on one line."""
        if self.beyond:
            return (
                f"an expired token is accepted for more than {LONGEST_MIN} minutes after its expiry"
            )
        if self.minutes is None:
            return f"not measured: how long an expired token is accepted: {self.unmeasured}"
        if self.minutes == 0:
            return "an expired token is refused within a minute of its expiry"
        unit = "minute" if self.minutes == 1 else "minutes"
        return f"an expired token is accepted for up to {self.minutes} {unit} after its expiry"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeDecision:
    """The server's decision on one call of one caller."""

    access: str
    """``allowed``, ``filtered``, ``denied``, ``hidden``, ``error``; ``listed`` for a tool that was
    not called."""
    shape: str | None = None
    """The form of the refusal or filtering."""
    fields: tuple[str, ...] = ()
    """Withheld fields: others get them for the same call."""
    masked: tuple[str, ...] = ()
    """The withheld fields that are masked."""
    partly: tuple[str, ...] = ()
    """The masked fields whose mask leaves a part of the value readable."""

    @classmethod
    def from_decision(cls, decision: Decision) -> Self:
        """Convert a decision of `harness.judging.policy` into one of a probe's table."""
        return cls(
            access=decision.access,
            shape=decision.shape,
            fields=tuple(sorted({*decision.missing, *decision.masked})),
            masked=tuple(sorted({*decision.masked} - {*decision.missing})),
            partly=tuple(sorted({*decision.partly} - {*decision.missing})),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """The report on a probe."""

    report: Report
    """The general report, as for any run."""
    decisions: Mapping[str, Mapping[str, ProbeDecision]]
    """Call → caller → decision."""
    findings: tuple[ProbeFinding, ...]
    """The findings, worst first."""
    callers: tuple[str, ...]
    """The suite's own identities."""
    damaged: int
    """Number of damaged identities and flawed tokens that were tried."""
    untold: tuple[str, ...]
    """Damaged identities that could not be sent to the server."""
    tokens: Mapping[str, TokenFate]
    """Flawed token → what the server did with it; they are included in ``damaged``."""
    leeway: Leeway | None
    """How long an expired token is accepted; ``None`` if no flawed token was sent."""
    leeways: Mapping[str, Leeway]
    """The same for each server in `unsent`, by its name."""
    unsent: Mapping[str, Unsent]
    """Each server that takes tokens but gets none that a verifier must refuse, and why."""
    swapped: int
    """Number of calls with another token than the one that opened their session."""
    not_asked: int
    """Number of damaged identities beyond `harness.probing.callers.MAX_DAMAGED`."""
    forged: Mapping[str, int]
    """Number of forged calls by kind (`harness.probing.forged_calls`)."""
    not_forged: int
    """Number of forged calls beyond `harness.probing.forged_calls.MOST_FORGED`."""
    altered: tuple[Account, ...]
    """The scope and result of the comparison for each altered value."""
    silent: Mapping[str, str]
    """Calls that show no decision, since they failed for every caller that was not refused → the
    error message."""
    notes: tuple[str, ...]
    """Notes that do not fail the probe, one line each: withheld values in the server's stderr,
    rounded numbers, and a long leeway for expired tokens."""
    lost: tuple[str, ...]
    """Calls without an answer, each with the reason."""
    not_read: tuple[str, ...]
    """What is listed and was not read, so that no leak could be found in it, a line for each
    reason."""

    coverage: Coverage
    """The coverage of the probe."""
    gates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Each tool that asked its user → how that was answered."""
    gates_not_tried: tuple[str, ...] = ()
    """What was not tried of consent gates, a line for each."""
    unasked: Mapping[str, int] = field(default_factory=dict)
    """What the budget left out, by step; 0 if the number is not known."""
    budget: tuple[str, ...] = ()
    """The budget, as options."""
    narrowed: tuple[str, ...] = ()
    """The options that leave a part of the probe."""

    @property
    def flawed_tokens(self) -> int:
        """Number of flawed tokens that were sent."""
        return len(self.tokens)

    @property
    def token_attacks(self) -> tuple[str, ...]:
        """The attacks with tokens that the probe tried."""
        return (*(FLAWS if self.tokens else ()), *(SWAPS if self.swapped else ()))

    @property
    def not_tried(self) -> tuple[str, ...]:
        """The attacks with tokens that it did not try; none if no server takes tokens."""
        if not (self.tokens or self.unsent):
            return ()
        unsent = (UNSENT[why].format(server=server) for server, why in self.unsent.items())
        return (*unsent, *(() if self.swapped else SWAPS), *NOT_TRIED)

    @property
    def exit_code(self) -> int:
        """0: no finding. 1: a finding. 4: no finding, but the probe is incomplete."""
        if self.findings or self.coverage.failure:
            return EXIT_FAILED
        return EXIT_UNJUDGED if self.is_incomplete else EXIT_PASSED

    @property
    def is_incomplete(self) -> bool:
        """Whether a part of the probe has no result."""
        return bool(self.lost or self.unasked) or any(one.fault for one in self.altered)
