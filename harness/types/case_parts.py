"""The parts of a case beside what is said and checked: who asks, how often, and special conduct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.types.basics import JsonObject, ScriptedCall

DEFAULT_TIMEOUT_S = 60.0
"""Wall time of a trial where nobody says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a conversation is ended honestly. ``None`` means no limit of that sort."""

    max_replies: int = 20
    """Replies of the model in one trial."""
    max_calls: int = 100
    """Tool calls in one trial."""
    timeout_s: float | None = None
    """Wall time of one trial, from its first request to its answer; ``None`` is the configured one,
    else `DEFAULT_TIMEOUT_S`."""
    max_tokens: int | None = None
    """Input plus output tokens over all replies."""
    max_cost_usd: float | None = None
    """Money over all replies; a model with an unknown price cannot be held to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How often a case is run, and how many of its trials must pass."""

    trials: int | None = None
    """Trials where the command line does not say otherwise; ``None`` is one."""
    pass_threshold: float = 1.0
    """Share of the trials (above 0, at most 1) that must pass for the case to pass."""


Credential: TypeAlias = Literal["valid", "none", "expired", "wrong_audience", "bad_signature"]
"""The token that a caller shows where identity goes by bearer: a good one, none at all, or one that
a verifier has to refuse because of its time, its audience or its signature."""

LeakRule: TypeAlias = Literal["fail", "ignore"]
"""Whether a leak fails the case: an identity of a test is shown what is kept from it elsewhere.
``ignore``: nobody looks for leaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks the server; the model never sees it."""

    user_context: JsonObject | None = None
    """Attributes of the user, sent to the server as its ``identity`` says; ``None`` is an anonymous
    caller."""
    credential: Credential = "valid"
    """The token to show; anything but ``valid`` needs a server whose identity goes by bearer."""
    identity: str | None = None
    """Name of the identity, where a test is asked as several; its attributes are the
    `user_context`."""
    group: str | None = None
    """The test that is asked as several identities, of which this case is one; ``None`` for all
    other cases."""
    leaks: LeakRule = "fail"
    """Whether a leak between the identities of the group fails the case."""


RECALLED = "{recalled}"
"""Where a system prompt takes the result of `LeaderboardRules.recall`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRules:
    """How a public leaderboard runs and judges a case, where that differs from every other suite."""

    one_reply: bool = False
    """The conversation is over with the first reply, once its calls were made: the leaderboard
    judges which calls those are, and the model does not see their results."""
    recall: ScriptedCall | None = None
    """A call made before each conversation; its result replaces `RECALLED` in the system prompt."""
    system_prompt: str | None = None
    """Sent to the model in place of the suite's."""
    routing: JsonObject | None = None
    """Sent to the server beside the `Caller.user_context`: names the case, for a server that serves
    many cases, each its own tools."""
    later_routing: Mapping[int, JsonObject] = field(default_factory=dict)
    """Turn (from 0) → what is sent from that turn on, over `routing`: the server may list other
    tools then."""
    typical_tokens: tuple[int, int] | None = None
    """Input and output tokens that a trial may take, for an estimate; ``None`` is unknown."""
    unavailable: str | None = None
    """Why the case cannot be run here, so that only recorded outputs of it are judged."""
    silence: bool = False
    """An empty reply is judged like any other; everywhere else it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """What is done to a trial while it is under way: suites in Python ask for it."""

    steering: str | None = None
    """What the user says right after the model's first reply, while its calls are made."""
    abort: bool = False
    """The trial is aborted while the first tool calls are under way, and then judged."""
