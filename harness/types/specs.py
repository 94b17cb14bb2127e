"""Models, agents, servers, and the tools that servers offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal, TypeAlias

from harness.types.basics import JsonObject, Location, NamedTool, ScriptedCall, left_out_if
from harness.types.elicitations import ELICITING
from harness.types.list_changes import ListChange
from harness.types.media import MediaKind
from harness.types.shared_dataclass import dataclass

CLIENT_CAN = ("elicitation",)
"""What a client can be asked for where nothing says otherwise: Claude Code and Codex say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """How an agent is started: what makes a `ModelSpec` an agent."""

    kind: str
    """A name in `harness.agents.KINDS`: ``command``, ``claude-code`` …"""
    command: tuple[str, ...] = field(default=(), repr=False)
    """The program and its first arguments; they may hold secrets. Empty for a kind that needs none.
    """
    args: tuple[str, ...] = field(default=(), repr=False)
    """Further arguments, behind those of the driver; they may hold secrets."""
    function: str | None = None
    """``python`` only: ``module:function``."""
    model: str | None = None
    """The model that it uses; ``None`` leaves it to the agent."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to the few that it gets; values may be secrets."""
    tools: tuple[str, ...] = ()
    """Tools of its own that it may use; by default none, as far as its kind can switch them off."""
    client_can: tuple[str, ...] = CLIENT_CAN
    """What a server of the handshake is told that the agent can be asked for."""
    settings: JsonObject = field(default_factory=dict, repr=False)
    """Further settings in the agent's own words, for its configuration file; may hold secrets."""
    files: str | None = None
    """A folder that is copied into the working folder of each trial."""
    home: str | None = None
    """A folder that is copied into the home of each trial."""
    max_output_mb: float = 10.0
    """Megabytes (10^6 bytes) that it may write on stdout in one turn."""
    base: str = ""
    """The folder that relative paths of `command`, `files` and `home` start from; absolute."""
    deeds: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """What its file would run, in words, references unexpanded: for `harness.base.trust`."""
    at: Location | None = None
    """Where it is configured."""
    version: str | None = None
    """What the program says of its version; ``None`` until a run starts, or if it does not say."""
    program_digest: str | None = None
    """SHA-256 of the files that `command` and `function` name; ``None`` until a run starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """What is known of an agent's conduct in a trial besides its calls of the server."""

    own_tools: Mapping[str, int] | None = None
    """Tools of its own by name, and how often it used each, as far as it tells; ``None``: it does
    not tell. What they did is not seen."""
    refused_requests: int = 0
    """Requests to the server's address without the token of the session; they were refused."""


RESERVED_CLAIMS = ("iss", "aud", "exp", "nbf", "iat", "jti")
"""Claims of a token that its issuer sets; no user_context and no configuration can change them."""

USER_CONTEXT_META_KEY = "harness/user_context"
"""The usual key of ``_meta`` for the user_context of a request; it begins with no domain, because
such keys belong to the domain's owner."""

TokenAlgorithm: TypeAlias = Literal["RS256", "ES256", "EdDSA"]
"""How tokens are signed. ``RS256``: by RSA, as nearly every identity provider does and nearly every
verifier accepts. ``ES256``: by ECDSA on the curve P-256. ``EdDSA``: by Ed25519."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySpec:
    """How a ``user_context`` reaches one server: a delivery by name, and its settings."""

    via: str = "meta"
    """A name in `harness.sessions.DELIVERIES`. ``meta``: in ``_meta`` of every request. ``env``: in
    the environment of a process. ``header`` and ``query``: in headers or the URL of every HTTP
    request. ``bearer``: in a signed token."""
    settings: JsonObject = field(default_factory=dict, repr=False)
    """Settings of the delivery whose texts may be secrets, such as headers and commands."""
    plain: JsonObject = field(default_factory=dict)
    """Its settings of ordinary words (`harness.sessions.IdentityDelivery.plain`)."""


Protocol: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
"""``auto`` speaks both eras of MCP; ``legacy`` is the handshake; a date pins that revision."""

Transport: TypeAlias = str
"""A name in `harness.sessions.transports.TRANSPORTS`. ``stdio``: the pipes of a process. ``http``:
streamable HTTP, of either era. ``sse``: its older form, an event stream besides requests."""

Isolation: TypeAlias = Literal["identity", "case", "none"]
"""Who shares a process. ``identity``: all cases of one identity. ``case``: nobody, every trial gets
a fresh one. ``none``: all identities share one, and each request says who asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateQuery:
    """How to read a part of a server's state without the server: with SQL, or with a program."""

    sql: str | None = None
    """A read-only query whose rows are the state: a list of objects."""
    database: str | None = None
    """The SQLite file for `sql`, relative to the server's folder."""
    command: str | None = field(default=None, repr=False)
    """Instead of both: a command that prints the state, as JSON or text. It may hold secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportSpec:
    """How a server is started or reached."""

    kind: Transport = "stdio"
    """How MCP messages are carried."""
    command: str | None = None
    """Executable to start; ``None`` for a server that already runs at `url`."""
    args: tuple[str, ...] = field(default=(), repr=False)
    """Its arguments; they may hold secrets, and over HTTP ``{port}``."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to the few that a server inherits; values may be secrets, and over HTTP may
    contain ``{port}``."""
    cwd: str | None = None
    """The folder to start it in; ``None`` means the current directory."""
    url: str | None = field(default=None, repr=False)
    """``http`` and ``sse``: the server's address; with ``{port}`` in it, harness chooses the port
    of a server that it starts. It may hold secrets."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """``http`` and ``sse``: headers of every request; values may be secrets."""
    protocol: Protocol = "auto"
    """Which MCP revision to speak."""
    concurrency: int | None = None
    """Most requests at the same time, of all users and workers together."""
    recorded: JsonObject | None = None
    """Of a server that is a recording: its ``run``, and the time ``at`` which that began."""
    abilities: tuple[str, ...] = ()
    """What the client says that it can do: ``elicitation``, ``sampling``; the way to a capability
    (`harness.sessions.client_capabilities`). Nothing, unless somebody answers the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRails:
    """Calls that are never sent to a server, and changes that harness itself may make there."""

    read_only: bool = False
    """Send no call to a tool that is not marked ``readOnlyHint``."""
    block: tuple[str, ...] = ()
    """Tools that are never called."""
    blocked: tuple[NamedTool, ...] = field(default=(), compare=False)
    """Those of `block` with a known place in a file, or that the server need not list."""
    allow_writes: bool = False
    """Whether harness itself may choose to call any tool, not only those known to read
    (`harness.models.tool_text.permission`)."""
    allowed: tuple[NamedTool, ...] = ()
    """The only other tools for which it may."""

    def __or__(self, other: GuardRails) -> GuardRails:
        """Return guard rails that forbid what either forbids, and allow what either allows."""
        return GuardRails(
            read_only=self.read_only or other.read_only,
            block=(*self.block, *other.block),
            blocked=(*self.blocked, *other.blocked),
            allow_writes=self.allow_writes or other.allow_writes,
            allowed=(*self.allowed, *other.allowed),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """An MCP server and how to run it: what a suite's ``server:`` resolves to."""

    name: str
    """What messages and reports call it."""
    transport: TransportSpec = field(default_factory=TransportSpec)
    """How it is started or reached."""
    guard: GuardRails = field(default_factory=GuardRails)
    """Calls that are never sent to it."""
    identity: IdentitySpec = field(default_factory=IdentitySpec)
    """How it learns who asks."""
    isolation: Isolation = "identity"
    """When a new process is started."""
    start_timeout_s: float = 30.0
    """Seconds from launch to a complete tool list."""
    call_timeout_s: float = 30.0
    """One tool call."""
    reset: ScriptedCall | None = None
    """Under ``isolation: case``: the call that resets its state, so that no new process is
    needed."""
    queries: Mapping[str, StateQuery] = field(default_factory=dict)
    """Name → how to read its state without it, for checks of the end state."""
    members: tuple[ServerSpec, ...] = ()
    """The servers that this one joins (`harness.sessions.joined_servers`); it is then no server
    itself."""
    refusals: tuple[str, ...] = ()
    """Regular expressions of its own words for refusing a caller."""
    lint_ignore: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tool, or ``*`` for all → rules of ``harness lint`` whose findings are left out."""
    deeds: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """What its file would run and send, in words, references unexpanded: for `base.trust`."""
    at: Location | None = None
    """Where it is configured."""

    def with_abilities(self, abilities: tuple[str, ...] = ELICITING) -> ServerSpec:
        """Return this server, and those that it joins, for a client that can do these things.

        By default, its user answers questions.
        """
        members = tuple(member.with_abilities(abilities) for member in self.members)
        transport = replace(self.transport, abilities=abilities)
        return replace(self, transport=transport, members=members)

    def with_isolation(self, isolation: Isolation) -> ServerSpec:
        """Return this server, and those that it joins, under another isolation."""
        members = tuple(member.with_isolation(isolation) for member in self.members)
        return replace(self, isolation=isolation, members=members)


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
        """Say that there is a secret, and nothing about it."""
        return "Secret(•••)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled or copied."""
        raise TypeError("a Secret is never serialised")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A configured model: everything needed to call it."""

    name: str
    """What the user typed: an alias such as ``claude-4-sonnet``, or ``provider:id``."""
    provider: str
    """The registered provider: ``anthropic``, ``openai``, ``lexical`` …"""
    model_id: str
    """The model's id in the API."""
    api_key: Secret | None = None
    """The key, if one is needed and present."""
    api_key_variable: str | None = None
    """The environment variable of the key, for messages."""
    base_url: str | None = None
    """A compatible endpoint; ``None`` means the provider's own."""
    api: Literal["chat", "responses"] = "chat"
    """``openai`` only: which of its two APIs."""
    timeout_s: float = 60.0
    """Seconds of one HTTP exchange, from request to last byte."""
    max_retries: int = 3
    """Retries after the first attempt, within the trial's deadline."""
    max_reply_mb: float = 4.0
    """Megabytes (10^6 bytes) of one reply, on the wire and decompressed; reading a longer one is
    aborted."""
    takes: tuple[MediaKind, ...] | None = None
    """What of the content of results it is given beside text; ``None`` means what the provider's
    own API takes, and nothing at another's endpoint."""
    temperature: float | None = None
    """``None`` leaves the provider's default."""
    max_tokens: int | None = None
    """Token limit of one reply; ``None`` leaves the provider's default (if it has one)."""
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
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    """What answers, if it is a Python function and no model."""
    agent: AgentSpec | None = None
    """How it is started, if it is an agent that others wrote, and no model."""
    notes: tuple[str, ...] = ()
    """What the user should know about how the name was resolved: ``claude-4-sonnet is …``."""


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
"""The tool name in a `ToolProblem` of the list as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProblem:
    """Something wrong with a listed tool, which may make it unusable."""

    tool: str
    """Its name, or its position if it has none."""
    problem: str
    """What is wrong, in a sentence."""
    usable: bool = False
    """Whether it is offered all the same."""
    unknown: bool = False
    """Whether nothing is known to be wrong: harness could not find out, through nobody's fault."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolList:
    """Everything that one user sees of a server's tools.

    Compared by object identity, so that its translation for a provider can be cached.
    """

    tools: tuple[Tool, ...]
    """The usable tools, in the server's order."""
    problems: tuple[ToolProblem, ...] = ()
    """What was left out or repaired."""
    digest: str = ""
    """SHA-256 of the canonical list: equal digests, equal tools."""
    prefixes: tuple[str, ...] = ()
    """The prefixes of names that several joined servers use, one for each server: ``shop__``."""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """Name of a server → its instructions for the client's model, if it has any."""
    changes: tuple[ListChange, ...] = field(default=(), metadata=left_out_if(()))
    """What came and went in a trial; ``tools`` are then all of them, as each was last."""

    def is_meant(self, name: str, called: str) -> bool:
        """Return whether a call of ``called`` is one of the tool ``name`` of any joined server.

        An identity that sees ``delete`` on one server alone calls it ``delete``, one that sees it
        on several calls it ``shop__delete``: whoever forbids ``delete`` means both.
        """
        return called == name or any(called == f"{prefix}{name}" for prefix in self.prefixes)

    @property
    def cut_reason(self) -> str | None:
        """Why this is not the complete list of the server's tools; ``None`` if it is."""
        return next(
            (problem.problem for problem in self.problems if problem.tool == THE_LIST), None
        )

    def get(self, name: str) -> Tool | None:
        """Return the tool with that name if it is offered, else ``None``."""
        return next((tool for tool in self.tools if tool.name == name), None)
