"""Who answers and who executes: models, servers and the tools that they offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.types.basics import JsonObject, Location, NamedTool, ScriptedCall
from harness.types.variants import Variant

RESERVED_CLAIMS = ("iss", "aud", "exp", "nbf", "iat", "jti")
"""Claims of a token that its issuer sets; no user_context and no configuration has a say in
them."""

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
    """``bearer``: path of a claim → template, or JSON with templates in it; empty means that each
    attribute is a claim of its own name."""
    scope: str | None = None
    """``bearer``: template of the claim ``scope``; a list is joined by spaces."""
    audience: str | None = None
    """``bearer``: the claim ``aud``; ``None`` is the server's URL."""
    issuer_port: int | None = None
    """``bearer``: the port of the issuer on 127.0.0.1, for servers that run already; ``None`` is a
    free one."""
    token_command: str | None = field(default=None, repr=False)
    """``bearer``: a command that reads the user_context as JSON and prints the token, in place of
    our issuer."""
    token_env: tuple[str, ...] = ()
    """``bearer``: names of variables of our environment that the `token_command` gets beside the
    usual ones."""


Protocol: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
"""``auto`` speaks both eras of MCP; ``legacy`` is the handshake; a date pins that revision."""

Transport: TypeAlias = str
"""A name in `harness.sessions.transports.TRANSPORTS`. ``stdio``: the pipes of a process. ``http``:
streamable HTTP, of either era. ``sse``: its older form, an event stream beside requests."""

Isolation: TypeAlias = Literal["identity", "case"]
"""``identity``: one process serves all cases of one user. ``case``: every trial gets a fresh
one."""


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
class TransportSpec:
    """How a server is started or reached."""

    kind: Transport = "stdio"
    """How MCP messages are carried."""
    command: str | None = None
    """Executable to start; ``None`` is a server that already runs at `url`."""
    args: tuple[str, ...] = field(default=(), repr=False)
    """Its arguments; they may hold secrets, and over HTTP ``{port}``."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to the few that a server inherits; values may be secrets, and over HTTP hold
    ``{port}``."""
    cwd: str | None = None
    """The folder it is started in; ``None`` is the current directory."""
    url: str | None = field(default=None, repr=False)
    """``http`` and ``sse``: where the server is; with ``{port}`` in it harness chooses the port of
    a server that it starts. It may hold secrets."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """``http`` and ``sse``: headers of every request; values may be secrets."""
    protocol: Protocol = "auto"
    """Which MCP revision to speak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRails:
    """Calls that are never sent to a server, whatever the model asks for."""

    read_only: bool = False
    """Send no call to a tool that is not marked ``readOnlyHint``."""
    block: tuple[str, ...] = ()
    """Tools to which no call is sent."""
    blocked: tuple[NamedTool, ...] = field(default=(), compare=False)
    """Those of `block` of which it is known where they were written, or that they may be absent."""

    def __or__(self, other: GuardRails) -> GuardRails:
        """Return guard rails that forbid what either forbids."""
        return GuardRails(
            read_only=self.read_only or other.read_only,
            block=(*self.block, *other.block),
            blocked=(*self.blocked, *other.blocked),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """An MCP server and how to run it: what a suite's ``server:`` resolves to."""

    name: str
    """What messages and reports call it."""
    transport: TransportSpec = field(default_factory=TransportSpec)
    """How it is started or reached."""
    guard: GuardRails = field(default_factory=GuardRails)
    """Calls that it never gets."""
    identity: IdentitySpec = field(default_factory=IdentitySpec)
    """How it learns who asks."""
    isolation: Isolation = "identity"
    """When a fresh process is started."""
    start_timeout_s: float = 30.0
    """From launch to a complete tool list."""
    call_timeout_s: float = 30.0
    """One tool call."""
    reset: ScriptedCall | None = None
    """Under ``isolation: case``: the call that makes its state a fresh one, so that no new process
    is needed."""
    queries: Mapping[str, StateQuery] = field(default_factory=dict)
    """Name → how its state can be read past it, for checks of the end state."""
    members: tuple[ServerSpec, ...] = ()
    """The servers that this one joins (`harness.sessions.joined_servers`); it is none itself
    then."""
    lint_ignore: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tool, or ``*`` for all, → rules of ``harness lint`` whose findings are left out."""
    deeds: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """What its file would have run and sent, in words, references unexpanded: for
    `harness.trust`."""
    at: Location | None = None
    """Where it is configured."""


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
    """Megabytes (of 10^6 bytes) of one reply, on the wire and decompressed; a longer one is not
    read to its end."""
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
    variant: Variant | None = None
    """What it is told of the server's tools in place of the server's own words; its name says so,
    too: ``claude-4-sonnet+clearer_search``."""
    notes: tuple[str, ...] = ()
    """What a user should know of how the name was resolved: ``claude-4-sonnet is …``."""


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
    """``True`` when nothing is known to be wrong with it: harness could not find out, which is
    nobody's fault."""


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
    prefixes: tuple[str, ...] = ()
    """What is put before a name that several joined servers have, one a server: ``shop__``."""

    def is_meant(self, name: str, called: str) -> bool:
        """Return whether a call of ``called`` is one of the tool ``name`` of any joined server.

        An identity that sees ``delete`` on one server alone calls it ``delete``, one that sees it
        on several calls it ``shop__delete``: whoever forbids ``delete`` means both.
        """
        return called == name or any(called == f"{prefix}{name}" for prefix in self.prefixes)

    @property
    def cut(self) -> str | None:
        """Why these are not all the tools that the server has; ``None`` where they are."""
        return next(
            (problem.problem for problem in self.problems if problem.tool == THE_LIST), None
        )

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, if it is offered."""
        return next((tool for tool in self.tools if tool.name == name), None)
