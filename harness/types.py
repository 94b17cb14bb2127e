"""The nouns: every value that travels between the rooms of the house.

Data goes one way::

    Suite → Trial → (Session × Model) → Transcript → CheckResult → Run → Report

This module is the ground floor. It imports nothing of ours, and everything in it is an immutable
value: a frozen dataclass, a ``Literal`` or an alias. Times named ``*_s`` are seconds, times named
``*_at`` are UTC in ISO 8601, money is US dollars, and ``None`` always means *unknown* or *absent*,
never zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from typing import Protocol as _Interface

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object: string keys, JSON values. Treated as read-only everywhere."""


# ── Where something was written ──────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a file that a person can open."""

    file: str
    """Path as the user would type it, relative to the working directory where possible."""
    line: int | None = None
    """1-based line; ``None`` when the whole file is meant."""
    column: int | None = None
    """1-based column."""

    def __str__(self) -> str:
        """``evals/shop.yml:12:5``, the form that terminals and editors turn into a link."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTool:
    """A tool whose name somebody wrote down: in a check, a scripted call, or a list of blocked tools."""

    tool: str
    """The name."""
    at: Location | None = None
    """Where it was written."""
    allow_absent: bool = False
    """Whether it is meant that no server lists such a tool; otherwise that is a mistake."""


# ── What is asked: suites, cases, checks ─────────────────────────────────────────────────────

Severity: TypeAlias = Literal["fail", "warn"]
"""``fail``: a failed check fails the trial. ``warn``: it is shown, and changes no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a case asks for, as plain data; `harness.checks` knows how to judge it."""

    kind: str
    """The registered name, for example ``must_call``."""
    params: JsonObject
    """What the kind needs, normalised: ``{"tool": "get_orders", "args": {…}}``."""
    severity: Severity = "fail"
    """Whether a failure decides the verdict."""
    at: Location | None = None
    """Where the suite says it."""
    code: Any = field(default=None, repr=False, compare=False)
    """The live object that judges, where the check is code; never written anywhere."""


DEFAULT_TIMEOUT_S = 60.0
"""Wall time of a trial where nobody says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a conversation is ended honestly. ``None`` means no limit of that sort."""

    max_turns: int = 20
    """Model replies in one trial."""
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
class Turn:
    """One thing that the user says in a conversation of several."""

    prompt: str
    """Their words."""
    checks: tuple[Check, ...] = ()
    """What must hold of everything up to the answer to it."""
    routing: JsonObject | None = None
    """What the server is told from here on, over what `Case.routing` says: it may list other tools then."""
    fresh: bool = False
    """Whether a new conversation begins with it: the model remembers nothing of what was said before, the
    server is the same."""
    ingest: bool = False
    """Whether it only tells the model what it will be asked about: what is asked are the turns after it."""


GREETING = "Hi! How can I help you today?"
"""What a simulated user hears first where nobody says otherwise; the model under test never sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUser:
    """Somebody who talks with the model under test: a model of its own, a script, or a program."""

    scenario: str = ""
    """Who they are and what they want, told to the model that plays them."""
    model: str | None = None
    """Name of that model; ``None`` is the one that the suite or the command line names."""
    script: tuple[str, ...] = ()
    """What they say one after the other, in place of a model; at its end they stop."""
    code: Any = field(default=None, repr=False, compare=False)
    """In place of a model: ``(messages of the user's side of the conversation) → what they say``, ``None`` to stop;
    never written anywhere."""
    first_message: str | None = None
    """What they say first; ``None`` leaves that to who plays them."""
    greeting: str = GREETING
    """What they hear before they say anything; the model under test never sees it."""
    guidelines: str | None = None
    """How to play a user, in place of `harness.users.guidelines`."""
    max_turns: int = 20
    """Messages of the user in one trial; what would be one more ends it as ``user_limit``."""
    stop_when: tuple[str, ...] = ("###STOP###", "###OUT-OF-SCOPE###")
    """Texts in a message of theirs after which the conversation is over (``user_stop``)."""
    transfer_when: tuple[str, ...] = ("###TRANSFER###",)
    """Texts in a message of theirs, or names of tools of which a call went well, after which they are with
    somebody else (``transfer``)."""
    agent_stop_when: tuple[str, ...] = ()
    """Texts in an answer of the model under test after which the conversation is over (``agent_stop``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call that a case makes itself, before or after the conversation."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject = field(default_factory=dict)
    """What is sent, as it stands."""
    at: Location | None = None
    """Where the suite says it."""
    allow_absent: bool = False
    """Whether it is no mistake that nobody's list has the tool when a run begins: some are listed only later."""


RECALLED = "{recalled}"
"""Where a system prompt takes what `Case.recall` returned."""

Credential: TypeAlias = Literal["valid", "none", "expired", "wrong_audience", "bad_signature"]
"""The token that a caller shows where identity goes by bearer: a good one, none at all, or one that a
verifier has to refuse because of its time, its audience or its signature."""


LeakRule: TypeAlias = Literal["fail", "ignore"]
"""What it comes to when an identity of a test is shown what is kept from it elsewhere: it fails the case, or
nobody looks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to the model, or a conversation of several, and what must come of it."""

    name: str
    """Unique in the suite."""
    prompt: str
    """What the user says; where there are `turns`, what they say first."""
    checks: tuple[Check, ...]
    """What must hold in the end. Unless a turn checks something there is at least one: a case that
    checks nothing is an invalid suite."""
    turns: tuple[Turn, ...] = ()
    """Everything that the user says, one after the other; empty where `prompt` is all of it."""
    user: SimulatedUser | None = None
    """Who says it, where that is not written down; `prompt` then only tells readers what it is about."""
    setup: tuple[ScriptedCall, ...] = ()
    """Calls made before the conversation; if one fails, the trial is an error."""
    teardown: tuple[ScriptedCall, ...] = ()
    """Calls made after it, whatever came of it; one that fails is a warning."""
    trials: int | None = None
    """How often the case is run where nobody says otherwise; ``None`` is once."""
    pass_threshold: float = 1.0
    """Share of the trials (above 0, at most 1) that must pass for the case to pass."""
    description: str | None = None
    """Why the case exists, in a sentence."""
    user_context: JsonObject | None = None
    """Who asks; reaches the server as its ``identity`` says, and never the model."""
    credential: Credential = "valid"
    """What the caller shows for it; anything but ``valid`` needs a server whose identity goes by bearer."""
    limits: Limits = field(default_factory=Limits)
    """Where the conversation ends."""
    tags: tuple[str, ...] = ()
    """Free labels to pick cases by."""
    metadata: JsonObject = field(default_factory=dict)
    """Carried through to the log, JSON and JSONL, never interpreted."""
    group: str | None = None
    """The test that is asked as several identities, of which this case is one; ``None`` for all other cases."""
    identity: str | None = None
    """Name of that identity; its attributes are the `user_context`."""
    leaks: LeakRule = "fail"
    """What a leak between the identities of the group comes to."""
    server: ServerSpec | None = None
    """Who executes its tools, where that is not the suite's server."""
    system_prompt: str | None = None
    """Sent to the model ahead of the conversation, in place of the suite's."""
    recall: ScriptedCall | None = None
    """A call made ahead of each of its conversations; what comes of it stands for `RECALLED` in the system prompt."""
    routing: JsonObject | None = None
    """What the server is told of the case, beside who asks: for one that serves many cases, each its own tools."""
    typical_tokens: tuple[int, int] | None = None
    """Input and output that a trial may take, as far as the case's own texts tell; ``None`` where nobody worked
    it out."""
    unavailable: str | None = None
    """Why it cannot be run here, so that only recorded outputs of it are judged."""
    one_reply: bool = False
    """Whether the conversation is over with the first reply, once its calls were made: what is asked is which
    calls those are, and nobody goes on."""
    silence: bool = False
    """Whether an empty reply is one like any other, as a benchmark's own rules may have it; elsewhere it fails."""
    steering: str | None = None
    """What the user says while the run is under way: right after the model's first reply."""
    abort: bool = False
    """Whether the run is aborted while the first tool calls are under way; then that is judged."""
    allow_no_tools: bool = False
    """Whether it is judged even if the server offers this user no tool at all, which is an error otherwise."""
    at: Location | None = None
    """Where the suite defines it."""

    @property
    def prompts(self) -> tuple[str, ...]:
        """Everything that the user says, in order."""
        return tuple(turn.prompt for turn in self.turns) or (self.prompt,)

    @property
    def conversations(self) -> int:
        """How many conversations it takes: one, and one more for each turn that begins another."""
        return 1 + sum(turn.fresh for turn in self.turns[1:])

    @property
    def every_check(self) -> tuple[Check, ...]:
        """The checks of all turns, in order, and those of the whole conversation."""
        return (*(check for turn in self.turns for check in turn.checks), *self.checks)


RESERVED_CLAIMS = ("iss", "aud", "exp", "nbf", "iat", "jti")
"""Claims of a token that its issuer sets; no user_context and no configuration has a say in them."""

IdentityVia: TypeAlias = Literal["meta", "env", "header", "bearer"]
"""How a server is told who asks: ``_meta`` of every request, environment of its process, HTTP
headers, or a signed bearer token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySpec:
    """How a ``user_context`` reaches one server."""

    via: IdentityVia = "meta"
    """The way it travels."""
    variables: JsonObject = field(default_factory=dict)
    """``env``: variable name → template such as ``{role}``; empty means `json_variable` alone."""
    json_variable: str | None = None
    """``env``: the variable that holds the whole user_context as JSON."""
    headers: JsonObject = field(default_factory=dict)
    """``header``: header name → template."""
    claims: JsonObject = field(default_factory=dict)
    """``bearer``: path of a claim → template, or JSON with templates in it; empty means that each attribute
    is a claim of its own name."""
    scope: str | None = None
    """``bearer``: template of the claim ``scope``; a list is joined by spaces."""
    audience: str | None = None
    """``bearer``: the claim ``aud``; ``None`` is the server's URL."""
    issuer_port: int | None = None
    """``bearer``: the port of the issuer on 127.0.0.1, for servers that run already; ``None`` is a free one."""
    token_command: str | None = field(default=None, repr=False)
    """``bearer``: a command that reads the user_context as JSON and prints the token, in place of our issuer."""
    token_env: tuple[str, ...] = ()
    """``bearer``: names of variables of our environment that the `token_command` gets beside the usual ones."""


Protocol: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
"""``auto`` speaks both eras of MCP; ``legacy`` is the handshake; a date pins that revision."""

Transport: TypeAlias = Literal["stdio", "http", "sse"]
"""``stdio``: the pipes of a process. ``http``: streamable HTTP, of either era. ``sse``: its older form,
an event stream beside requests."""

Isolation: TypeAlias = Literal["identity", "case"]
"""``identity``: one process serves all cases of one user. ``case``: every trial gets a fresh one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateQuery:
    """How to read a part of a server's state past the server: with SQL, or with a program."""

    sql: str | None = None
    """A query, read-only, whose rows are the state: a list of objects."""
    database: str | None = None
    """The SQLite file for `sql`, relative to the server's folder."""
    command: str | None = field(default=None, repr=False)
    """In place of both: a command that prints the state, JSON or text. It may hold secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """An MCP server and how to run it: what a suite's ``server:`` resolves to."""

    name: str
    """What messages and reports call it."""
    command: str | None = None
    """Executable to start; ``None`` is a server that already runs at `url`."""
    args: tuple[str, ...] = field(default=(), repr=False)
    """Its arguments; they may hold secrets, and over HTTP ``{port}``."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to the few that a server inherits; values may be secrets, and over HTTP hold ``{port}``."""
    transport: Transport = "stdio"
    """How MCP travels."""
    url: str | None = field(default=None, repr=False)
    """``http`` and ``sse``: where the server is; with ``{port}`` in it harness chooses the port of a server
    that it starts. It may hold secrets."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """``http`` and ``sse``: headers of every request; values may be secrets."""
    cwd: str | None = None
    """Where it is started; ``None`` is the current directory."""
    protocol: Protocol = "auto"
    """Which MCP revision to speak."""
    identity: IdentitySpec = field(default_factory=IdentitySpec)
    """How it learns who asks."""
    isolation: Isolation = "identity"
    """When a fresh process is started."""
    start_timeout_s: float = 30.0
    """From launch to a complete tool list."""
    call_timeout_s: float = 30.0
    """One tool call."""
    read_only: bool = False
    """Refuse to send a call to any tool that is not marked ``readOnlyHint``."""
    block: tuple[str, ...] = ()
    """Tools to which no call is ever sent."""
    blocked: tuple[NamedTool, ...] = field(default=(), compare=False)
    """Those of `block` of which it is known where they were written, or that they may be absent."""
    reset: ScriptedCall | None = None
    """Under ``isolation: case``: the call that makes its state a fresh one, so that no new process is needed."""
    queries: Mapping[str, StateQuery] = field(default_factory=dict)
    """Name → how its state can be read past it, for checks of the end state."""
    members: tuple[ServerSpec, ...] = ()
    """The servers that this one joins (`harness.sessions.joined`); it is none itself then."""
    lint_ignore: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tool, or ``*`` for all, → rules of ``harness lint`` whose findings are left out."""
    deeds: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """What its file would have run and sent, in words, references unexpanded: for `harness.trust`."""
    at: Location | None = None
    """Where it is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A file of cases against one server."""

    name: str
    """Unique among the suites of a project."""
    cases: tuple[Case, ...]
    """In the order of the file."""
    description: str | None = None
    """What the suite is about."""
    model: str | None = None
    """Default model; ``--model`` overrides it."""
    server: ServerSpec | str | tuple[str, ...] | None = None
    """The server itself, or the name of a configured one, or those of several; ``None`` means the suite's own name."""
    isolation: Isolation | None = None
    """Overrides the server's; ``None`` leaves it."""
    read_only: bool = False
    """Refuse to send a call to any tool that is not marked ``readOnlyHint``, whatever the server's entry says."""
    block: tuple[str, ...] = ()
    """Tools to which no call is ever sent, beside those that the server's entry blocks."""
    blocked: tuple[NamedTool, ...] = field(default=(), compare=False)
    """Those of `block` of which it is known where they were written, or that they may be absent."""
    system_prompt: str | None = None
    """Sent to the model ahead of the conversation."""
    require_identity: bool = False
    """Whether it is a failure, and not only a warning, that no identity ever saw anything different."""
    judge_model: str | None = None
    """The model that grades answers, where a check needs one."""
    user_model: str | None = None
    """The model that plays the users of cases that have one and name no model for it."""
    digest: str = ""
    """SHA-256 of the file's content: two runs of equal digest asked the same."""
    at: Location | None = None
    """The file."""
    reference: str | None = None
    """How to name it again, where that is not its file: ``my.module:Suite``."""
    typical_tokens: tuple[int, int] | None = None
    """Input and output of one trial, for an estimate before anything like it was run; ``None`` is a rule of thumb."""
    estimate_cost: Callable[[str, int, int], float | None] | None = field(default=None, repr=False, compare=False)
    """``(model, input tokens, output tokens) → US dollars``, in place of the price table."""
    benchmark: str | None = None
    """The public benchmark that it is part of: it knows how recorded outputs are replayed."""
    scores: JsonObject | None = None
    """How cases add up to scores, as `harness.reports.scores` reads it; ``None`` where a pass rate says all."""
    notes: tuple[str, ...] = ()
    """What its reader has to say of it short of a mistake, each with its place."""
    left_out: tuple[Case, ...] = field(default=(), repr=False, compare=False)
    """Cases that are not run because nobody picked them: their users are users of the server, too."""


# ── Who answers: models ──────────────────────────────────────────────────────────────────────


class Secret:
    """A string that never shows itself: not in ``repr``, ``str``, a log or a pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Wrap ``value``; only `reveal` gives it back."""
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        """Say that there is a secret, and nothing of it."""
        return "Secret(•••)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled or copied into anything that is written."""
        raise TypeError("a Secret is never serialised")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A configured model: everything needed to call it."""

    name: str
    """What the user typed: an alias such as ``claude-4-sonnet``, or ``provider:id``."""
    provider: str
    """The registered provider: ``anthropic``, ``openai``, ``lexical`` …"""
    model_id: str
    """What the API is asked for."""
    api_key: Secret | None = None
    """The key, where one is needed and present."""
    api_key_variable: str | None = None
    """The environment variable that holds the key, for messages."""
    base_url: str | None = None
    """A compatible endpoint; ``None`` is the provider's own."""
    api: Literal["chat", "responses"] = "chat"
    """``openai`` only: which of its two APIs."""
    timeout_s: float = 60.0
    """One HTTP exchange, from request to last byte."""
    max_retries: int = 3
    """Further attempts after the first, within the trial's deadline."""
    max_reply_mb: float = 4.0
    """Megabytes (of 10^6 bytes) of one reply, on the wire and decompressed; a longer one is not read to its end."""
    temperature: float | None = None
    """``None`` leaves the provider's default."""
    max_tokens: int | None = None
    """Upper bound of one reply; ``None`` leaves the provider's default (where it has one)."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Extra HTTP headers; values may be secrets."""
    body: JsonObject = field(default_factory=dict)
    """Extra fields of the request body."""
    input_price: float | None = None
    """Dollars per million input tokens, overriding the price table."""
    output_price: float | None = None
    """Dollars per million output tokens, overriding the price table."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Setting → where it came from, for ``harness models``."""
    notes: tuple[str, ...] = ()
    """What a user should know of how the name was resolved: ``claude-4-sonnet is …``."""


# ── What a server offers: tools ──────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as the server lists it for one user."""

    name: str
    """The server's own name, untranslated."""
    input_schema: JsonObject
    """JSON Schema of the arguments."""
    description: str = ""
    """What the model is told."""
    title: str | None = None
    """Name for people."""
    output_schema: JsonObject | None = None
    """JSON Schema of the structured result."""
    read_only: bool | None = None
    """``readOnlyHint``; ``None`` when the server does not say."""
    destructive: bool | None = None
    """``destructiveHint``; ``None`` when the server does not say."""


THE_LIST = "tools/list"
"""What a `ToolProblem` of the list as a whole names as its tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProblem:
    """A tool that the server listed and that cannot be offered, or only with a reservation."""

    tool: str
    """Its name, or its position when it has none."""
    problem: str
    """What is wrong with it, in a sentence."""
    usable: bool = False
    """``True`` when it is offered all the same."""
    unknown: bool = False
    """``True`` when nothing is known to be wrong with it: harness could not find out, which is nobody's fault."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolList:
    """Everything that one user sees of a server.

    Compared by identity, so that a translation for a provider can be kept beside it.
    """

    tools: tuple[Tool, ...]
    """The usable tools, in the server's order."""
    problems: tuple[ToolProblem, ...] = ()
    """What had to be left out or repaired."""
    digest: str = ""
    """SHA-256 of the canonical list: equal digest, equal tools."""

    @property
    def cut(self) -> str | None:
        """Why these are not all the tools that the server has; ``None`` where they are."""
        return next((problem.problem for problem in self.problems if problem.tool == THE_LIST), None)

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, if it is offered."""
        return next((tool for tool in self.tools if tool.name == name), None)


# ── What is said: the conversation ───────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and money of one reply or of many. Unknown is ``None`` and stays so in a sum."""

    input_tokens: int | None = 0
    """All input tokens, those read from or written to a cache included."""
    output_tokens: int | None = 0
    """All output tokens, reasoning included."""
    cache_read_tokens: int | None = 0
    """Input tokens that the provider took from its cache."""
    cache_write_tokens: int | None = 0
    """Input tokens that the provider put into its cache."""
    cost_usd: float | None = 0.0
    """What it cost; ``None`` when the price is unknown."""

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        return _sum(self.input_tokens, self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        """Sum field by field; an unknown part makes an unknown sum."""
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd=None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd,
        )


UNKNOWN_USAGE = Usage(
    input_tokens=None, output_tokens=None, cache_read_tokens=None, cache_write_tokens=None, cost_usd=None
)
"""Of a reply that says nothing of what it took."""


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


ReplyStop: TypeAlias = Literal["end", "tool_calls", "max_tokens", "refusal", "other"]
"""Why a reply ended: it was complete, it asks for tools, it was cut at the token limit, the model
or its provider refused, or anything else (`Reply.stop_detail` says what)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A tool call that a model asked for: its words, not yet a fact."""

    id: str
    """The provider's id, to answer it by."""
    tool: str
    """The server's name of the tool (mapped back), or whatever the model invented."""
    arguments: JsonObject = field(default_factory=dict)
    """Parsed arguments; empty when they did not parse."""
    malformed: str | None = None
    """The raw text of arguments that are not a JSON object, or nest too deeply; such a call is never sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model returned to one request."""

    text: str = ""
    """All text blocks, joined by a newline; empty when there was none."""
    tool_requests: tuple[ToolRequest, ...] = ()
    """In the model's order; all are to be answered."""
    stop: ReplyStop = "end"
    """Why it ended."""
    stop_detail: str | None = None
    """The provider's own word for it, and the refusal's text where there is one."""
    usage: Usage = field(default_factory=Usage)
    """What this reply consumed."""
    native: Any = None
    """The provider's own form of the reply (JSON), to be sent back unchanged: reasoning, signatures."""
    served_by: str | None = None
    """The exact model that the API says answered."""
    attempts: int = 1
    """HTTP requests that it took."""
    waited_s: float = 0.0
    """Time spent waiting for a rate limit or between attempts; not working time."""
    beyond: str | None = None
    """What the model says that it cannot do, whatever it is told (``write SQL``): its own limit, which no description
    changes. Only the built-in baseline says so; ``None`` in logs of earlier versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the model is told of one of its calls."""

    request_id: str
    """The `ToolRequest.id` it answers."""
    text: str
    """The result, or the error, as text."""
    is_error: bool = False
    """Whether the call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """Something the user says."""

    text: str
    """Their words."""
    said_s: float = 0.0
    """When, from the start of the trial; the first words start it."""
    injected: bool = False
    """Whether they were said while the model was at work, and begin no turn."""
    fresh: bool = False
    """Whether a new conversation begins here (`Turn.fresh`)."""
    recalled: str = ""
    """What the server said ahead of the conversation that begins here, for the system prompt (`Case.recall`)."""
    role: Literal["user"] = "user"
    """Tells the messages of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """Something the model says or asks for."""

    reply: Reply
    """The reply as it came."""
    role: Literal["assistant"] = "assistant"
    """Tells the messages of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The answers to all calls of the reply before it, in their order."""

    answers: tuple[ToolAnswer, ...]
    """One for each request."""
    role: Literal["tool"] = "tool"
    """Tells the messages of a log apart."""


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
"""One step of a conversation, in no provider's form."""


# ── What happened: calls and transcripts ─────────────────────────────────────────────────────

Outcome: TypeAlias = Literal[
    "ok",
    "tool_error",
    "denied",
    "unknown_tool",
    "invalid_arguments",
    "timeout",
    "server_lost",
    "invalid_result",
    "blocked",
]
"""What came of a call:

- ``ok``: a result without error.
- ``tool_error``: the tool ran and reported an error.
- ``denied``: the server refused it to this user.
- ``unknown_tool``: the server has no such tool for this user.
- ``invalid_arguments``: the arguments are not what the tool takes.
- ``timeout``: no answer within the call's deadline.
- ``server_lost``: the server went away before it answered, or HTTP answered in its place (429, 5xx).
- ``invalid_result``: the server answered with what is no result as MCP defines it (``null``, bad JSON, ``content``
  that is no list of MCP's content, ``isError`` that is neither true nor false).
- ``blocked``: our own guard did not send it (read-only mode, blocked tool, call limit)."""

UNANSWERED: frozenset[Outcome] = frozenset({"timeout", "server_lost", "invalid_result"})
"""Outcomes that are the server's fault: they say nothing of the model, nor of what the server lets a user do, and
nobody knows what such a call has changed."""

Refusal: TypeAlias = Literal["tool_error", "protocol_error", "http_status"]
"""The shape in which a server refused a call: an ``isError`` result, a JSON-RPC error, or HTTP 401/403."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as it crossed the MCP session: recorded from the wire, never from the model's words."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject
    """What was sent."""
    outcome: Outcome
    """What came of it."""
    turn: int
    """The model reply (from 1) that asked for it; 0 for a call that the case makes itself."""
    request_id: str = ""
    """The model's id of the request, ties it to the conversation."""
    text: str = ""
    """The result's or the error's text, within the log's bound."""
    structured: Any = None
    """``structuredContent``, within the log's bound."""
    error_code: int | None = None
    """The JSON-RPC error code, where the call ended in one."""
    refusal: Refusal | None = None
    """How it was refused, when ``outcome`` is ``denied``."""
    argument_errors: tuple[str, ...] = ()
    """Where the arguments break the tool's ``inputSchema``."""
    output_errors: tuple[str, ...] = ()
    """Where the structured result breaks the tool's ``outputSchema``."""
    arguments_not_validated: str | None = None
    """Why the arguments could not be held against the ``inputSchema`` to the end, which is nobody's fault."""
    result_not_validated: str | None = None
    """Why the structured result could not be held against the ``outputSchema`` to the end: nobody's fault either."""
    started_s: float = 0.0
    """When it was sent, from the start of the trial."""
    duration_s: float = 0.0
    """From sending to answer."""
    result_bytes: int = 0
    """Size of the whole result as JSON, in UTF-8 bytes."""
    result_sha256: str | None = None
    """Digest of the whole result, when the log holds only a part of it."""
    cut: str | None = None
    """Why a part of the result is not read, in words: it nests too deeply (`harness.bounds`). What only that part
    could show is not judged."""

    @property
    def is_error(self) -> bool:
        """Whether anything but a good result came of it."""
        return self.outcome != "ok"

    @property
    def unanswered(self) -> bool:
        """Whether the server owes the answer: none came, or what came is no result of MCP."""
        return self.outcome in UNANSWERED

    @property
    def not_validated(self) -> tuple[str, ...]:
        """What could not be held against its schema to the end, a sentence each."""
        told = (("arguments", self.arguments_not_validated), ("result", self.result_not_validated))
        return tuple(f"{what} not validated: {why}" for what, why in told if why is not None)


Stop: TypeAlias = Literal[
    "answer",
    "refusal",
    "max_tokens",
    "turn_limit",
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
"""Why a conversation ended: an answer, the model's refusal, a reply cut by its token bound, one of
the case's limits, an error (`Transcript.error`), the user's interrupt, because the case has it
aborted (`Case.abort`), in a way that a simulated user makes possible (they stopped, the model did, they
were handed on, or they had said all that they may: `SimulatedUser`), or before it began, because the
server let this caller not in (`Transcript.refused_status`)."""

ErrorKind: TypeAlias = Literal["model", "server", "judge", "harness"]
"""Whose fault it is that a trial could not be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialError:
    """Why a trial could not be judged."""

    kind: ErrorKind
    """Whose fault it is."""
    message: str
    """The cause in a sentence or two, for people."""
    detail: str | None = None
    """More to look at: a server's last lines on stderr, a response body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReading:
    """What a server's state was found to be, after a conversation or after the calls that stand for a right one."""

    source: JsonObject
    """Where it was read: ``{"resource": URI}``, ``{"tool": name, "args": {…}}`` or ``{"query": name}``."""
    after: tuple[JsonObject, ...] | None = None
    """The reference calls (``{"tool", "args"}``) that a fresh copy got before it was read; ``None`` is the trial
    itself."""
    digest: str | None = None
    """SHA-256 of its canonical JSON: equal digest, equal state. ``None`` where it could not be read."""
    value: Any = None
    """The state as JSON, or as text where it is none, within the log's bound."""
    cut: bool = False
    """Whether the state was beyond that bound, and `value` is missing."""
    error: str | None = None
    """Why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that happened in one trial."""

    messages: tuple[Message, ...] = ()
    """The whole conversation, in order."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Every call, in the order in which the model asked for them."""
    setup_calls: tuple[ToolCall, ...] = ()
    """The calls that the case made itself before the conversation; their times count from the first of them."""
    teardown_calls: tuple[ToolCall, ...] = ()
    """Those that it made after it; their times count from the first of these."""
    states: tuple[StateReading, ...] = ()
    """What the checks of the end state ask about, as it was when the conversation had ended."""
    answer: str = ""
    """The text of the last reply that asked for no tool, to the last thing that the user said; empty if
    there was none."""
    stop: Stop = "answer"
    """Why it ended."""
    stop_detail: str | None = None
    """A recording's own word for why it ended; ``None`` for conversations that harness led."""
    usage: Usage = field(default_factory=Usage)
    """Sum over all replies."""
    user_usage: Usage = field(default_factory=Usage)
    """What the model took that played the user."""
    greeting: str = ""
    """What a simulated user heard before they said anything."""
    turns: int = 0
    """Model replies."""
    started_at: str = ""
    """UTC, ISO 8601."""
    latency_s: float = 0.0
    """Wall time from the first request to the end, waiting included."""
    waited_s: float = 0.0
    """Of that, waiting for rate limits and between attempts."""
    tools: tuple[str, ...] = ()
    """The tools that this user was offered."""
    tools_digest: str = ""
    """`ToolList.digest` of that offer."""
    served_by: str | None = None
    """The exact model that answered, as the API says."""
    stderr_tail: str = ""
    """The server's last words on stderr, where something went wrong."""
    refused_status: int | None = None
    """The HTTP status (401 or 403) with which the server refused this caller at the door, where the case
    asks about that; no model was asked then."""
    error: TrialError | None = None
    """Set when ``stop`` is ``error``."""


# ── What is judged: results ──────────────────────────────────────────────────────────────────

Verdict: TypeAlias = Literal["passed", "failed", "not_judged"]
"""A check's outcome; ``not_judged`` (a judge failed, say) is never a score and never a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check's verdict and its reason."""

    kind: str
    """The kind of check."""
    label: str
    """The check in a few words: ``must_call get_orders``."""
    verdict: Verdict
    """How it went."""
    severity: Severity = "fail"
    """Whether a failure decides."""
    score: float | None = None
    """0 to 1, where the check is graded."""
    expected: Any = None
    """What was asked (JSON)."""
    actual: Any = None
    """What was found instead (JSON)."""
    explanation: str = ""
    """What happened, for a person who wants to act on it; empty when passed and nothing is to be said."""
    code: str | None = None
    """The check's own word for what is wrong, for programs: a benchmark's ``error_type``."""
    hint: str | None = None
    """What usually helps."""
    at: Location | None = None
    """Where the suite asks for it."""
    turn: int | None = None
    """The `Turn` (from 1) that asks for it; ``None`` when the case as a whole does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict on one question, as a run keeps it."""

    question: str
    """SHA-256 of everything that the judge was told: equal digest, equal question."""
    model: str
    """Name of the judge."""
    prompt_version: str
    """Version of the prompt by which it was asked."""
    score: float
    """0 to 1."""
    grade: str | None = None
    """The word that it chose, where it was asked for one: ``correct``, ``partially correct``, ``wrong``."""
    explanation: str = ""
    """Its reason."""
    cached: bool = False
    """Whether an equal question had been judged before, so that this judgement took nothing."""


Status: TypeAlias = Literal["passed", "failed", "error", "skipped", "cancelled"]
"""A trial's one final status:

- ``passed``: every deciding check passed.
- ``failed``: a check failed or a limit of the case was hit.
- ``error``: it could not be judged; `Run.error` says why.
- ``skipped``: it was not started; `Run.skip_reason` says why.
- ``cancelled``: it was started and interrupted."""

DECIDED = "decided"
"""`Run.skip_reason` of a trial that could not change its case's verdict any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One planned run of a case."""

    suite: str
    """Name of the suite."""
    case: Case
    """What is asked."""
    model: str
    """Name of the model."""
    index: int
    """0-based repeat."""
    key: str
    """SHA-256 of everything that determines it: equal key, equal question."""
    repeats: int = 1
    """Trials of the same case and model in the plan."""

    @property
    def needed(self) -> int:
        """Trials of the case that must pass for it to pass."""
        return _needed(self.repeats, self.case.pass_threshold)


class Conversations(_Interface):
    """Who has the conversations of results, and shows the results as a whole: a run log does both."""

    def transcript(self, key: str) -> Transcript | None:
        """Return what happened in the trial with that key; ``None`` where nothing was started."""
        ...

    def html(self, report: Report) -> str:
        """Return the report as a table in HTML."""
        ...


class _Logged:
    """What was read from a log and can look things up there: no field, so neither compared nor written."""

    __slots__ = ("_conversations",)
    _conversations: Conversations

    def linked_to(self, conversations: Conversations) -> None:
        """Remember who has the conversations."""
        object.__setattr__(self, "_conversations", conversations)

    def _linked(self) -> Conversations:
        try:
            return self._conversations
        except AttributeError:
            raise LookupError("this result does not belong to a report, so its conversation is not known") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(_Logged):
    """A trial's result: small and complete; the conversation is read from the log when it is asked for."""

    key: str
    """`Trial.key`."""
    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    model: str
    """Name of the model."""
    index: int
    """0-based repeat."""
    status: Status
    """Exactly one."""
    checks: tuple[CheckResult, ...] = ()
    """In the suite's order, then what no suite asks for: a limit that was hit (``limit``), a turn that got no answer
    (``answered``), a call after the conversation that failed (``teardown``)."""
    error: TrialError | None = None
    """Set exactly when ``status`` is ``error``."""
    skip_reason: str | None = None
    """Set exactly when ``status`` is ``skipped``: ``budget``, ``shard``, ``fail-fast``, ``decided`` …"""
    stop: Stop | None = None
    """`Transcript.stop`; ``None`` when nothing was started."""
    usage: Usage = field(default_factory=Usage)
    """`Transcript.usage`."""
    judge_usage: Usage = field(default_factory=Usage)
    """What judging took, apart from what the model under test took."""
    user_usage: Usage = field(default_factory=Usage)
    """`Transcript.user_usage`."""
    judgements: tuple[Judgement, ...] = ()
    """Every judge's verdict on this trial."""
    turns: int = 0
    """Model replies."""
    tool_calls: int = 0
    """Calls recorded."""
    outcomes: Mapping[str, int] | None = None
    """`Outcome` → how many of those calls came to it; ``None`` in logs of earlier versions."""
    offered: int | None = None
    """Tools that it was offered; ``None`` in logs of earlier versions."""
    latency_s: float = 0.0
    """Wall time, waiting included."""
    waited_s: float = 0.0
    """Waiting for rate limits and between attempts."""
    started_at: str = ""
    """UTC, ISO 8601; empty when nothing was started."""
    finished_at: str = ""
    """UTC, ISO 8601."""
    events_digest: str | None = None
    """SHA-256 of the canonical event sequence without times: equal behaviour, equal digest."""
    description: str | None = None
    """The case's description."""
    user_context: JsonObject | None = None
    """Who asked."""
    tags: tuple[str, ...] = ()
    """The case's tags."""
    metadata: JsonObject = field(default_factory=dict)
    """The case's metadata."""
    repeats: int = 1
    """`Trial.repeats`."""
    pass_threshold: float = 1.0
    """The case's share of trials that must pass."""
    group: str | None = None
    """`Case.group`."""
    identity: str | None = None
    """`Case.identity`."""
    leaks: LeakRule = "fail"
    """`Case.leaks`."""
    at: Location | None = None
    """Where the suite defines the case."""

    @property
    def needed(self) -> int:
        """Trials of its case that must pass for the case to pass."""
        return _needed(self.repeats, self.pass_threshold)

    @property
    def transcript(self) -> Transcript | None:
        """What happened, read from the log; ``None`` where nothing was started.

        Raises:
            LookupError: the result is not one of a report's.
            OSError: the log is gone.
        """
        return self._linked().transcript(self.key)

    @property
    def answer(self) -> str:
        """`Transcript.answer`, read from the log: the model's last words; empty where nothing was started."""
        transcript = self.transcript
        return "" if transcript is None else transcript.answer

    @property
    def messages(self) -> tuple[Message, ...]:
        """`Transcript.messages`, read from the log: the whole conversation; none where nothing was started."""
        transcript = self.transcript
        return () if transcript is None else transcript.messages


def _needed(planned: int, share: float) -> int:
    # 0.07 of a hundred trials is seven of them, whatever binary fractions say.
    return max(1, math.ceil(planned * share - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many trials ended how; the five endings always add up to ``planned``."""

    planned: int = 0
    """Trials of the plan."""
    passed: int = 0
    """`Run.status` ``passed``."""
    failed: int = 0
    """`Run.status` ``failed``."""
    error: int = 0
    """`Run.status` ``error``."""
    skipped: int = 0
    """`Run.status` ``skipped``."""
    cancelled: int = 0
    """`Run.status` ``cancelled``, and those of which an interrupted log says nothing."""

    @property
    def judged(self) -> int:
        """Trials with a verdict: the denominator of the pass rate."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """What came of the tool calls of many trials; `ok`, `denied`, `errors`, `not_sent` and `unknown` make `total`."""

    outcomes: Mapping[str, int] = field(default_factory=dict)
    """`Outcome` → calls that came to it."""
    unknown: int = 0
    """Calls of which the log does not say what came of them."""

    @property
    def total(self) -> int:
        """All calls."""
        return sum(self.outcomes.values()) + self.unknown

    @property
    def ok(self) -> int:
        """Calls with a result without error."""
        return self.outcomes.get("ok", 0)

    @property
    def denied(self) -> int:
        """Calls that the server refused to this user."""
        return self.outcomes.get("denied", 0)

    @property
    def not_sent(self) -> int:
        """Calls that our own guard did not send."""
        return self.outcomes.get("blocked", 0)

    @property
    def errors(self) -> int:
        """Calls that ended in any other way."""
        return self.total - self.ok - self.denied - self.not_sent - self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What the trials of one case with one model come to."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    model: str
    """Name of the model."""
    status: Status
    """The case's verdict: ``passed`` or ``failed`` as soon as no trial without a verdict could change
    it, and otherwise the ending that stands in the way of one."""
    trials: tuple[Run, ...]
    """Every recorded trial, in order; at least one."""
    planned: int
    """Trials of the plan."""
    pass_threshold: float = 1.0
    """Share of them that must pass."""

    @property
    def needed(self) -> int:
        """Trials that must pass for the case to pass."""
        return _needed(self.planned, self.pass_threshold)

    @property
    def passed(self) -> int:
        """Trials that passed."""
        return sum(run.status == "passed" for run in self.trials)

    @property
    def spokesman(self) -> Run:
        """The trial that shows best why the case ended so: the first that ended like it."""
        return next((run for run in self.trials if run.status == self.status), self.trials[0])


# ── Who may see what: decisions and leaks ────────────────────────────────────────────────────

Access: TypeAlias = Literal["allowed", "filtered", "denied", "hidden", "not_attempted", "error", "mixed"]
"""What a server lets an identity do, as it showed on the wire:

- ``allowed``: a call was carried out, and nothing was left out of its result that others get for the same call.
- ``filtered``: it was carried out, and fields were left out or masked.
- ``denied``: it was tried, and the server refused it.
- ``hidden``: the tool is not in the list that this identity is shown, and no call of it was carried out.
- ``not_attempted``: the tool was offered, and nobody called it: that says nothing of the server.
- ``error``: it was tried, and failed for another reason than a refusal.
- ``mixed``: it came out differently from tool to tool, or from trial to trial."""

RefusalShape: TypeAlias = Literal["tool_error", "protocol_error", "http_status", "not_listed", "filtered_fields"]
"""In which shape a server kept something back: an ``isError`` result, a JSON-RPC error, HTTP 401/403, a tool
that is not in the list, or a good result with fields left out or masked."""


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
    """The identities that may see it; empty where nobody in particular is given what somebody is refused."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(_Logged):
    """The results of a run and their aggregates: always built from a run log, never from live state.

    A notebook shows it as a table.
    """

    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log that it was built from."""
    started_at: str
    """UTC, ISO 8601."""
    finished_at: str | None
    """UTC, ISO 8601; ``None`` when the log has no footer."""
    elapsed_s: float | None
    """Wall time; ``None`` when the log has no footer."""
    reason: str
    """Why the run ended: ``complete``, ``interrupted``, ``budget``, ``max-errors``, ``fail-fast``."""
    suites: JsonObject
    """Suite name → what the log's header says of it."""
    models: JsonObject
    """Model name → what the log's header says of it."""
    runs: tuple[Run, ...]
    """Every result, in the order of the suites."""
    cases: tuple[CaseResult, ...]
    """What the runs of each case and model come to, in the same order; exit codes go by these."""
    counts: Counts
    """Over all runs."""
    usage: Usage
    """Sum over all runs."""
    judge_usage: Usage = field(default_factory=Usage)
    """What judging took, over all runs."""
    user_usage: Usage = field(default_factory=Usage)
    """What the models took that played users, over all runs."""
    calls: CallCounts = field(default_factory=CallCounts)
    """What came of the tool calls, over all runs."""
    settings: JsonObject = field(default_factory=dict)
    """As in the log's header."""
    access: AccessReport = field(default_factory=AccessReport)
    """Who saw what, where cases differ in who asks."""
    damaged: tuple[str, ...] = ()
    """Lines of the log that cannot be read, a sentence each; a trial that stood there counts as cancelled."""
    report_path: str | None = None
    """The file that it was written to, where `harness.run` was asked to."""

    @property
    def suite_name(self) -> str:
        """The suite's name; several are joined by commas."""
        return ", ".join(self.suites)

    @property
    def model(self) -> str:
        """The model's name; several are joined by commas."""
        return ", ".join(self.models)

    def _repr_html_(self) -> str:
        return self._linked().html(self)

    @property
    def completed_at(self) -> str | None:
        """The same as `finished_at`."""
        return self.finished_at

    @property
    def summary(self) -> JsonObject:
        """Everything in numbers, under the names that benchmark runners use.

        ``pass`` and ``fail`` count trials with a verdict, and ``pass_rate`` is their share; ``error``,
        ``skipped`` and ``cancelled`` stand beside them. Latency is in milliseconds, of trials that ran. ``calls``
        says what came of the tool calls: ``{"total", "ok", "denied", "errors", "not_sent"}``.
        """
        counts, calls = self.counts, self.calls
        latencies = [run.latency_s * 1000 for run in self.runs if run.stop is not None]
        return {
            "total": counts.planned,
            "pass": counts.passed,
            "fail": counts.failed,
            "error": counts.error,
            "skipped": counts.skipped,
            "cancelled": counts.cancelled,
            "pass_rate": counts.passed / counts.judged if counts.judged else None,
            "calls": {name: getattr(calls, name) for name in ("total", "ok", "denied", "errors", "not_sent")},
            "total_latency_ms": round(sum(latencies), 3),
            "avg_latency_ms": round(sum(latencies) / len(latencies), 3) if latencies else None,
            "total_tokens_in": self.usage.input_tokens,
            "total_tokens_out": self.usage.output_tokens,
            "total_cost_usd": self.usage.cost_usd,
        }
