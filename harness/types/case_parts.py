"""Parts of a case besides prompts and checks: caller, repeats, limits, special conduct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.types.basics import JsonObject, ScriptedCall
from harness.types.credentials import Credential

DEFAULT_TIMEOUT_S = 60.0
"""Wall time of a trial, in seconds, unless the case or the configuration says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What ends a conversation early, as a failure. ``None`` means no such limit."""

    max_replies: int = 20
    """Replies of the model in one trial."""
    max_calls: int = 100
    """Tool calls in one trial."""
    timeout_s: float | None = None
    """Wall time of one trial, from its first request to its answer; ``None`` means the configured
    one, else `DEFAULT_TIMEOUT_S`."""
    max_tokens: int | None = None
    """Input plus output tokens over all replies."""
    max_cost_usd: float | None = None
    """Dollars over all replies; it cannot be enforced for a model with an unknown price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How often a case is run, and how many of its trials must pass."""

    trials: int | None = None
    """Number of trials unless the command line says otherwise; ``None`` means one."""
    pass_threshold: float = 1.0
    """Share of the trials (above 0, at most 1) that must pass."""


LeakRule: TypeAlias = Literal["fail", "ignore"]
"""Whether a leak fails the case. A leak: an identity is shown what is withheld from it elsewhere.
``ignore``: no leak check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks the server; the model never sees it."""

    user_context: JsonObject | None = None
    """Attributes of the user, sent to the server the way its ``identity`` says; ``None`` is an
    anonymous caller."""
    credential: Credential = "valid"
    """The token to present; anything but ``valid`` needs a server with ``identity: bearer``."""
    identity: str | None = None
    """Name of the identity, in a test that is asked as several; its attributes are in
    `user_context`."""
    group: str | None = None
    """The test with several identities that this case belongs to; ``None`` for all other cases."""
    leaks: LeakRule = "fail"
    """Whether a leak between the identities of the group fails the case."""
    allow_no_tools: bool = False
    """Whether the case is judged even if the server offers this user no tools, which otherwise is
    an error."""


RECALLED = "{recalled}"
"""The place in a system prompt that the result of `LeaderboardRules.recall` replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRules:
    """How a public leaderboard runs and judges a case, where its rules differ from harness's."""

    one_reply: bool = False
    """Whether the conversation ends with the first reply, after its calls: the leaderboard judges
    which calls those are, and the model does not see their results."""
    recall: ScriptedCall | None = None
    """A call made before each conversation; its result replaces `RECALLED` in the system prompt."""
    system_prompt: str | None = None
    """Sent to the model instead of the suite's."""
    routing: JsonObject | None = None
    """Sent to the server in addition to `Caller.user_context`: names the case, for a server that
    offers each case its own tools."""
    later_routing: Mapping[int, JsonObject] = field(default_factory=dict)
    """Turn (from 0) → what is sent from that turn on, merged over `routing`: the server may list
    other tools from then on."""
    typical_tokens: tuple[int, int] | None = None
    """Input and output tokens of a typical trial, for an estimate; ``None`` is unknown."""
    unavailable: str | None = None
    """Why the case cannot be run here, so that only recorded outputs can be judged."""
    silence: bool = False
    """Whether an empty reply is judged like any other; by default it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """What is done to a trial while it runs; only suites in Python can ask for it."""

    steering: str | None = None
    """What the user says right after the model's first reply, while its calls run."""
    abort: bool = False
    """Whether the trial is aborted during its first tool calls, and then judged."""
