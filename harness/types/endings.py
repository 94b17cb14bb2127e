"""How a conversation ends, and whose fault it is where it cannot be judged."""

from __future__ import annotations

from typing import Literal, TypeAlias

from harness.types.shared_dataclass import dataclass

Stop: TypeAlias = Literal[
    "answer",
    "refusal",
    "max_tokens",
    "malformed_call",
    "context_limit",
    "reply_limit",
    "call_limit",
    "token_limit",
    "cost_limit",
    "time_limit",
    "error",
    "cancelled",
    "aborted",
    "user_stop",
    "agent_stop",
    "transfer",
    "user_limit",
    "premature",
    "not_admitted",
]
"""Why a conversation ended: with an answer, by the model's refusal, by a reply cut at its token
limit, by a call that the API could not read, by results that no longer fit the model, at one of the
case's limits, by an error (`Transcript.error`), by the user's interrupt, by the case itself
(`Interruption.abort`), through the simulated user (they stopped, the model ended it, they were
handed over, or had used up their messages: `SimulatedUser`), or before it began, because the server
refused this caller a session (`Transcript.refused_status`)."""


ErrorKind: TypeAlias = Literal[
    "model", "provider", "configuration", "agent", "server", "judge", "harness"
]
"""Whose fault it is that a trial could not be judged. ``provider`` is the model's API, and
``configuration`` what it was given: key, model, settings, prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialError:
    """Why a trial could not be judged."""

    kind: ErrorKind
    """Whose fault it is."""
    message: str
    """The cause in a sentence or two."""
    detail: str | None = None
    """More evidence: a server's last lines on stderr, a response body."""
