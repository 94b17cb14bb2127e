"""Faults: what goes wrong between a server and a model, and what became of a call under one."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias

from harness.types.basics import JsonObject, Location
from harness.types.shared_dataclass import dataclass

FaultKind: TypeAlias = Literal[
    "error",
    "protocol_error",
    "rate_limit",
    "timeout",
    "slow",
    "lost_answer",
    "empty",
    "partial",
    "truncated",
    "corrupt",
    "schema_drift",
    "stale",
    "wrong",
    "gone",
]
"""What the model sees in place of the server's answer:

- ``error``: a tool error with a text.
- ``protocol_error``: a JSON-RPC error.
- ``rate_limit``: an error that says in how many seconds to try again.
- ``timeout``: no answer within the call's limit.
- ``slow``: the answer, so many seconds late; no answer if that is beyond the call's limit.
- ``lost_answer``: an error, after the server did the work.
- ``empty``: a result with nothing in it.
- ``partial``: the first rows only.
- ``truncated``: the text up to its middle.
- ``corrupt``: a text whose JSON no longer parses, or whose characters are broken.
- ``schema_drift``: the result with one field renamed.
- ``stale``: the answer to an earlier call.
- ``wrong``: a plausible other record.
- ``gone``: the tool is no longer there, from this call on."""

UNASKED: frozenset[FaultKind] = frozenset(
    {"error", "protocol_error", "rate_limit", "timeout", "gone"}
)
"""Kinds whose calls never reach the server."""
TRUTHFUL: frozenset[str] = frozenset({"slow", "attack"})
"""Values of `Injection.fault` that leave the server's answer true and whole."""
FAILING: frozenset[FaultKind] = UNASKED | {"lost_answer"}
"""Kinds that the model sees as an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRule:
    """One thing that goes wrong with some calls of a trial."""

    do: FaultKind
    """What the model sees."""
    on: str = "*"
    """The tool whose calls it is about; ``*`` stands for any letters."""
    nth: int | None = None
    """Which of these calls it hits, from 1; ``None`` means each, or by ``rate``."""
    rate: float | None = None
    """The share of these calls that it hits, chosen by seed, case, tool and number of the call."""
    seed: int = 0
    """Chooses which calls a ``rate`` hits, and how results are altered."""
    text: str | None = None
    """The words of the error; ``None`` means the usual ones of its kind."""
    seconds: float | None = None
    """How late a ``slow`` answer comes, or when a ``rate_limit`` asks to try again; ``None`` means
    four fifths of the call's limit, and 2 seconds."""

    @property
    def words(self) -> str:
        """The fault as it is written on the command line: ``search_orders#1: timeout``."""
        place = "" if self.nth is None else f"#{self.nth}"
        share = "" if self.rate is None else f"@{self.rate:g}/{self.seed}"
        late = "" if self.seconds is None else f" {self.seconds:g}"
        said = "" if self.text is None else f" {self.text}"
        return f"{self.on}{place}{share}: {self.do}{late}{said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultSet:
    """What goes wrong in a trial: a value on the axis of faults."""

    name: str
    """Unique among those of a run."""
    faults: tuple[FaultRule, ...]
    """For each call, the first that hits it counts."""
    scope: Literal["suite", "case", "standard"] = field(default="suite", compare=False)
    """Which cases are run under it: all, those that have it, or those in which it can fire."""
    at: Location | None = field(default=None, compare=False)
    """Where it is written."""


REWORDED: Literal["reworded"] = "reworded"
"""`Injection.fault` of an error whose text a variant replaced: no fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """What the model was shown of a call in place of what the server did."""

    fault: FaultKind | Literal["reworded", "attack"]
    """What was done to it; ``attack``: a text was planted in it."""
    rule: str
    """`FaultRule.words` of the fault that did it, the variant that did, or the name of the
    attack."""
    text: str
    """What the model was told."""
    is_error: bool
    """Whether the model was told that the call failed."""
    structured: Any = None
    """``structuredContent`` as an agent got it."""
    error_code: int | None = None
    """The JSON-RPC error code that an agent got."""
    simulated_s: float = 0.0
    """Seconds that the call took, for the limits of the trial; nobody waited for them. 0: somebody
    did, or there was nothing to wait for."""

    @property
    def as_result(self) -> JsonObject:
        """The result in the form of MCP, for an agent."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}] if self.text else [],
            "isError": self.is_error,
        }
        if self.structured is not None:
            result["structuredContent"] = self.structured
        return result
