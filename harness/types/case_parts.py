"""Parts of a case besides prompts and checks: caller, token, repeats, limits, altered data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Literal, TypeAlias

from harness.types.attacks import Attack
from harness.types.basics import JsonObject, Location, ScriptedCall
from harness.types.elicitations import ElicitRule
from harness.types.faults import FaultSet
from harness.types.resources import PromptUse
from harness.types.shared_dataclass import dataclass

Credential: TypeAlias = Literal[
    "valid",
    "none",
    "expired",
    "expired_lately",
    "not_yet_valid",
    "missing_expiry",
    "wrong_audience",
    "other_audiences",
    "longer_audience",
    "missing_audience",
    "wrong_issuer",
    "longer_issuer",
    "missing_issuer",
    "bad_signature",
    "no_signature",
    "alg_none",
    "hmac_with_public_key",
    "other_key",
    "embedded_key",
    "embedded_certificate",
    "key_url",
    "certificate_url",
    "key_path",
    "unreadable",
]
"""The token that a caller presents under ``identity: bearer``: a valid one, none at all, or one
that a verifier must refuse (`FLAWS`)."""


@dataclass(frozen=True, slots=True)
class TokenFlaw:
    """What is wrong with a token, and what lets it in."""

    words: str
    """The token, in words: ``an expired token``."""
    hint: str
    """What a verifier that accepts it has to do."""
    left_open: str | None = None
    """Why a verifier may accept it all the same; it is then told, and no finding."""


FLAWS: Mapping[Credential, TokenFlaw] = {
    "expired": TokenFlaw("an expired token", "Have the server's verifier check 'exp'."),
    "expired_lately": TokenFlaw(
        "a token that expired ten minutes ago",
        "Allow clocks to differ by a minute or two, not by ten.",
    ),
    "not_yet_valid": TokenFlaw(
        "a token that is not valid before the next hour", "Have the server's verifier check 'nbf'."
    ),
    "missing_expiry": TokenFlaw(
        "a token without an expiry",
        "Have the server's verifier require 'exp'.",
        "RFC 7519 leaves 'exp' open; RFC 9068 requires it",
    ),
    "wrong_audience": TokenFlaw(
        "a token for another service",
        "Have the server's verifier check 'aud': a token for another service is good there only.",
    ),
    "other_audiences": TokenFlaw(
        "a token for a list of other audiences",
        "Have the server's verifier look for its own name in a list of audiences.",
    ),
    "longer_audience": TokenFlaw(
        "a token for an audience that only begins like the server's",
        "Have the server's verifier compare 'aud' as a whole, not by its beginning.",
    ),
    "missing_audience": TokenFlaw(
        "a token without an audience", "Have the server's verifier require 'aud'."
    ),
    "wrong_issuer": TokenFlaw(
        "a token that names another issuer", "Have the server's verifier check 'iss'."
    ),
    "longer_issuer": TokenFlaw(
        "a token of an issuer that only begins like the right one",
        "Have the server's verifier compare 'iss' as a whole, not by its beginning.",
    ),
    "missing_issuer": TokenFlaw(
        "a token that names no issuer", "Have the server's verifier require 'iss'."
    ),
    "bad_signature": TokenFlaw(
        "a token with a wrong signature",
        "Have the server's verifier check the signature by the issuer's keys; decoding is not "
        "verifying.",
    ),
    "no_signature": TokenFlaw(
        "a token whose signature is cut off",
        "Have the server's verifier refuse a token without a signature.",
    ),
    "alg_none": TokenFlaw(
        "a token that says that it is not signed (alg: none)",
        "Give the verifier the list of accepted algorithms; never take it from the token.",
    ),
    "hmac_with_public_key": TokenFlaw(
        "a token signed by HS256 with the public key as its secret",
        "Accept only the issuer's own algorithms, none with a shared secret beside them.",
    ),
    "other_key": TokenFlaw(
        "a token signed by another key under the issuer's key id",
        "Have the server's verifier check the signature by the issuer's keys.",
    ),
    "embedded_key": TokenFlaw(
        "a token that brings its own key (jwk)", "Ignore keys in the header of a token."
    ),
    "embedded_certificate": TokenFlaw(
        "a token that brings its own certificate (x5c)",
        "Ignore certificates in the header of a token.",
    ),
    "key_url": TokenFlaw(
        "a token that says where its key is (jku)",
        "Take keys from the issuer's address alone; ignore 'jku'.",
    ),
    "certificate_url": TokenFlaw(
        "a token that says where its certificate is (x5u)",
        "Take keys from the issuer's address alone; ignore 'x5u'.",
    ),
    "key_path": TokenFlaw(
        "a token whose key id is the path of an empty file",
        "Look a key id up among the issuer's keys; never open it as a file.",
    ),
    "unreadable": TokenFlaw(
        "a text that is no token",
        "Have the server's verifier refuse whatever it cannot read; an error must not let in.",
    ),
}
"""Every flawed token."""


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
    """How often a case is run, how many of its trials must pass, and which cases repeat it."""

    trials: int | None = None
    """Number of trials unless the command line says otherwise; ``None`` means one."""
    pass_threshold: float = 1.0
    """Share of the trials (above 0, at most 1) that must pass."""
    test: str | None = None
    """Name of the test that it and other cases were made of: by identities, a matrix, parameters.
    They are one unit of evidence (`harness.base.stats.units`); ``None`` for a case of its own."""
    faults: tuple[FaultSet, ...] = ()
    """What goes wrong in further trials, beside those in which nothing does."""
    attack: Attack | None = None
    """The attack under which this trial of the case is run."""


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
    elicit: tuple[ElicitRule, ...] | None = None
    """How questions of the server are answered; what no rule fits is declined. ``None``: the client
    cannot be asked, and says so."""
    context: tuple[str, ...] = ()
    """URIs of resources that are read as this user, and given to the model with the first prompt.
    """
    use_prompt: PromptUse | None = None
    """The server's prompt that is got as this user, and begins the conversation."""
    allow_no_tools: bool = False
    """Whether the case is judged even if the server offers this user no tools, which otherwise is
    an error."""

    @property
    def brings_content(self) -> bool:
        """Whether content of the server stands in the conversation beside the user's words."""
        return bool(self.context) or self.use_prompt is not None

    @property
    def elicit_facts(self) -> JsonObject | None:
        """The rules of `elicit` as JSON; a function has no such form."""
        if self.elicit is None:
            return None
        return {"rules": [asdict(replace(rule, code=None, at=None)) for rule in self.elicit]}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """One of the two sets of data: the server as it is configured, and what is added to that."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of its process; they come over those of the configuration and may be secrets."""
    args: tuple[str, ...] = field(default=(), repr=False)
    """Arguments that come after its own; they may be secrets."""
    setup: tuple[ScriptedCall, ...] = ()
    """Calls that make the data what it is to be, before anybody asks."""

    @property
    def starts_anew(self) -> bool:
        """Whether it takes a process of its own."""
        return bool(self.env or self.args)


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentTool:
    """A tool whose answers may depend on the altered value, whoever asks."""

    tool: str
    """Its name."""
    fields: tuple[str, ...] = ()
    """The fields of its results that may; empty: all of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """A value that is withheld from somebody, and two sets of data that differ in it alone."""

    field: str
    """The field that has it in the results of those who may see it."""
    description: str | None = None
    """What it is, in words: ``what Ada earns``."""
    a: DataSet
    """The data as it is."""
    b: DataSet
    """The same data with another value."""
    setup_as: str | JsonObject | None = None
    """Who makes the calls of `DataSet.setup`: the name of an identity, or its attributes."""
    withheld_from: tuple[str, ...] = ()
    """Identities that must not see it although they get the field itself."""
    may_depend: tuple[DependentTool, ...] = ()
    """Answers that may depend on it: what a policy gives away on purpose."""
    at: Location | None = None
    """Where the suite declares it."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.description} ({self.field})" if self.description else self.field
