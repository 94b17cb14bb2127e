"""The result of a probe: the server's decisions by call and caller, and the findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED
from harness.probing.coverage import Coverage
from harness.probing.interference.comparing import Account
from harness.types import Decision, Report

Problem: TypeAlias = Literal[
    "leak",
    "unexpected",
    "hidden_callable",
    "fails_open",
    "token_accepted",
    "token_echoed",
    "token_swapped",
    "smuggled_identity",
    "opened_by_arguments",
    "foreign_cursor",
    "interference",
    "unstable",
    "unobserved",
]
"""What can be wrong with decisions:

- ``leak``: a value that is kept from an identity in one place stands in another
  (`harness.judging.policy.leaks`).
- ``unexpected``: the suite expects another decision of this very call, or that a tool is hidden
  that is listed.
- ``hidden_callable``: a tool is not in an identity's list, and works all the same.
- ``fails_open``: a damaged identity gets more than the one that it was made from, or is shown more
  tools.
- ``token_accepted``: a token that a verifier has to refuse was let in.
- ``token_echoed``: an answer has the token that the server was shown.
- ``token_swapped``: within a session of somebody, another token or none gives what its owner does
  not get otherwise.
- ``smuggled_identity``: a call with another's attributes in its arguments or its ``_meta`` gives
  what is withheld from the caller.
- ``opened_by_arguments``: a call with bent arguments, or repeated, gives what is withheld from the
  caller.
- ``interference``: an answer differs when a value is altered that its caller must not see.
- ``foreign_cursor``: with a cursor that somebody else was given, a call gives what the caller's own
  pages withhold.
- ``unstable``: the same caller gets another answer to the same call, depending on who asked before:
  with other fields or another outcome, or one that somebody else gets; asked again, it followed the
  caller before every time.
- ``unobserved``: nothing shows that the server knows who asks."""


TokenFate: TypeAlias = Literal["accepted", "refused", "as_nobody", "unclear"]
"""What became of a token that a verifier has to refuse: it was let in; it, or each call with it,
was refused; whoever showed it got what nobody in particular gets; nothing tells."""


NOT_TRIED = ("keys that the issuer has withdrawn",)
"""What an attacker with tokens may do and a probe does not."""
SWAPS = ("another token in the middle of a session", "the session id of another caller")
"""What a probe tries where sessions are of one server over HTTP and somebody's call works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFinding:
    """One thing that is wrong."""

    problem: Problem
    """What sort of thing."""
    words: str
    """What happened, on a line."""
    callers: tuple[str, ...] = ()
    """The identities that it is about."""
    call: str | None = None
    """The call that showed it."""
    shown: tuple[str, ...] = ()
    """What shows it, a line each, where the words alone do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What one caller came to with one call."""

    access: str
    """``allowed``, ``filtered``, ``denied``, ``hidden``, ``error``; ``listed`` of a tool that
    nobody called."""
    shape: str | None = None
    """How it was refused or filtered."""
    fields: tuple[str, ...] = ()
    """Fields that others get for the same call."""
    masked: tuple[str, ...] = ()
    """Those of them that are masked."""
    partly: tuple[str, ...] = ()
    """Those of these whose mask leaves a part of the value readable."""

    @classmethod
    def of(cls, decision: Decision) -> Self:
        """Return a decision of the judges as one of a probe's table."""
        return cls(
            access=decision.access,
            shape=decision.shape,
            fields=tuple(sorted({*decision.missing, *decision.masked})),
            masked=tuple(sorted({*decision.masked} - {*decision.missing})),
            partly=tuple(sorted({*decision.partly} - {*decision.missing})),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """A probe's log, read."""

    report: Report
    """As for any run."""
    decisions: Mapping[str, Mapping[str, Decided]]
    """Call → caller → decision."""
    findings: tuple[ProbeFinding, ...]
    """What is wrong, worst first."""
    callers: tuple[str, ...]
    """The suite's own identities."""
    damaged: int
    """How many damaged identities and flawed tokens asked."""
    untold: tuple[str, ...]
    """Those of them whose identity could not be told to the server, so that they got nothing."""
    tokens: Mapping[str, TokenFate]
    """What became of the tokens that a verifier has to refuse; they are among ``damaged``."""
    swapped: int
    """How many calls were made with another token than the one that opened their session."""
    not_asked: int
    """Damaged identities beyond `harness.probing.callers.MAX_DAMAGED`, which did not ask."""
    forged: Mapping[str, int]
    """How many calls were forged, by what was forged in them (`harness.probing.forged_calls`)."""
    not_forged: int
    """Forged calls beyond `harness.probing.forged_calls.MOST_FORGED`, which were not made."""
    altered: tuple[Account, ...]
    """How far the search for what depends on altered values went, for each of them."""
    silent: Mapping[str, str]
    """Calls that say nothing of the policy, for they failed for whoever was not refused; and what
    was said."""
    notes: tuple[str, ...]
    """Notes that fail nothing, one line each: withheld values in the server's stderr, and rounded
    numbers."""
    lost: tuple[str, ...]
    """What kept the suite's own identities from asking, and where a damaged one had no answer, in
    words."""

    coverage: Coverage
    """How much of the server was asked."""

    @property
    def flawed(self) -> int:
        """How many tokens were shown that a verifier has to refuse."""
        return len(self.tokens)

    @property
    def exit_code(self) -> int:
        """0: no finding. 1: a finding. 4: no finding, but the probe is incomplete."""
        if self.findings or self.coverage.fault:
            return EXIT_FAILED
        return EXIT_UNJUDGED if self.is_incomplete else EXIT_PASSED

    @property
    def is_incomplete(self) -> bool:
        """Whether a part of the probe has no result."""
        return bool(self.lost) or any(one.fault for one in self.altered)
