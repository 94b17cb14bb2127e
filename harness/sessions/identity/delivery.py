"""How a ``user_context`` reaches a server; it never reaches the model.

Each ``via`` is an `IdentityDelivery` with a file of its own in `deliveries`. A package adds one
under the entry-point group ``harness.identity``. Everything that the rest of the program asks about
a delivery is an attribute of it.

A case without a ``user_context`` is anonymous: nothing is sent for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Any, ClassVar

from harness.base import Field, Registry, UsageError, canonical_json, find_members, header_problem
from harness.sessions.transports import TRANSPORTS
from harness.types import (
    USER_CONTEXT_META_KEY,
    Credential,
    IdentitySpec,
    JsonObject,
    ServerSpec,
    dataclass,
)


@dataclass(slots=True)
class RequestAdditions:
    """Additional headers and query parameters; none by default."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers; they may contain a token."""
    query: str = field(default="", repr=False)
    """Additional query parameters, encoded; they may contain a token."""

    def __bool__(self) -> bool:
        """Whether there is anything to add."""
        return bool(self.headers or self.query)

    @contextmanager
    def apply(self, other: RequestAdditions) -> Iterator[None]:
        """Take the values of ``other`` within the block, and be empty after it."""
        self.headers, self.query = other.headers, other.query
        try:
            yield
        finally:
            self.headers, self.query = {}, ""


NO_ISOLATION = (
    "Only 'meta' names the user in each request. Over HTTP one process serves all "
    "users anyway: leave it out."
)
"""Advice where users cannot share a connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityDelivery:
    """One way in which a user reaches a server; the fields of a subclass are its settings."""

    fields: ClassVar[Mapping[str, Field]] = {}
    """Its keys under ``identity:``, each a field of the class, with parser and JSON Schema."""
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Keys that are often written there by mistake → what to do instead."""
    plain: ClassVar[frozenset[str]] = frozenset()
    """Settings of ordinary words; the texts of all others may be secrets."""
    hidden: ClassVar[frozenset[str]] = frozenset()
    """Settings that a log only says to be there."""
    needs_http: ClassVar[bool] = False
    """Whether it needs HTTP requests to the server."""
    has_process_per_user: ClassVar[bool] = False
    """Whether each user needs a process of their own, which harness starts."""
    is_in_each_message: ClassVar[bool] = False
    """Whether each MCP message says who asks, so that users may share a connection."""
    logs_in: ClassVar[bool] = False
    """Whether its tokens come from a server's own authorization server, by OAuth."""
    takes_tokens: ClassVar[bool] = False
    """Whether it sends tokens, so that a test may ask for a flawed ``credential``."""

    @property
    def is_signed(self) -> bool:
        """Whether its tokens are signed by harness itself."""
        return False

    @property
    def commands(self) -> tuple[str, ...]:
        """The user's programs that it runs."""
        return ()

    @property
    def command_variables(self) -> tuple[str, ...]:
        """Names of environment variables that `commands` get beside the usual ones."""
        return ()

    @property
    def meta_keys(self) -> frozenset[str]:
        """The keys of ``_meta`` that say who asks."""
        return frozenset()

    @property
    def http_names(self) -> frozenset[str]:
        """The headers and the parameters of the URL that say who asks, but for a token's."""
        return frozenset()

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield each wrong combination of settings: the key if one is to blame, message, advice.

        ``keys`` are those that are written.
        """
        yield from ()

    def check_user(self, user_context: JsonObject) -> None:
        """Accept only a user that can be sent.

        Raises:
            UsageError: with the reason.
        """

    def build_meta(self, user_context: JsonObject) -> JsonObject:
        """Return ``_meta`` for every request of this user."""
        return {}

    def build_environment(self, user_context: JsonObject) -> dict[str, str]:
        """Return the environment variables for a process of this user."""
        return {}

    async def build_additions(self, user_context: JsonObject) -> RequestAdditions:
        """Return headers and query of the user's next HTTP request; called for each of them."""
        return RequestAdditions()


_FOLDER = Path(__file__).with_name("deliveries")
DELIVERIES: Registry[type[IdentityDelivery]] = Registry(
    "harness.identity",
    "way to send an identity",
    find_members(_FOLDER, "harness.sessions.identity.deliveries", "DELIVERY"),
)
"""Every delivery by its ``via``."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: the user, and the credential that they send."""

    user_context: JsonObject | None
    """The user's attributes; ``None`` is anonymous."""
    credential: Credential = "valid"
    """The kind of token, for servers that take tokens."""
    expired_s: float | None = None
    """Seconds since the expiry of an ``expired`` token; ``None`` is an hour."""

    @property
    def key(self) -> str:
        """Equal text for equal identities.

        Raises:
            UsageError: the ``user_context`` is not JSON, so it cannot be sent to a server.
        """
        age = "" if self.expired_s is None else f" {self.expired_s:g} s ago"
        return f"{self.credential}{age} {identity_key(self.user_context)}"


def delivery_of(identity: IdentitySpec) -> IdentityDelivery:
    """Return the delivery with the settings of ``identity``.

    Raises:
        UsageError: there is none of that name.
    """
    # They are kept apart only because texts among `settings` may be secrets.
    return DELIVERIES.get(identity.via)(**identity.settings, **identity.plain)


def find_meta_key(delivery: IdentityDelivery) -> str:
    """Return the key of ``_meta`` for a user, or the usual one where they go another way."""
    return next(iter(delivery.meta_keys), USER_CONTEXT_META_KEY)


def describe_identity(identity: IdentitySpec) -> JsonObject:
    """Return how a server gets identities, without what is `IdentityDelivery.hidden`."""
    hidden = DELIVERIES.get(identity.via).hidden
    settings = {**identity.settings, **identity.plain}
    shown = {name: True if name in hidden else value for name, value in settings.items()}
    return {"via": identity.via, **shown}


def check_identity(server: ServerSpec, user_context: JsonObject | None) -> None:
    """Accept only a ``user_context`` that can be sent to ``server``.

    Raises:
        UsageError: with what to do instead.
    """
    via, delivery = server.identity.via, delivery_of(server.identity)
    if delivery.needs_http and TRANSPORTS.get(server.transport.kind).over != "http":
        raise UsageError(
            f"identity {via!r} comes with HTTP servers, and server {server.name!r} is reached over "
            f"{server.transport.kind}",
            meant="For a server over stdio use 'meta' or 'env'.",
        )
    if delivery.has_process_per_user and server.transport.command is None:
        raise UsageError(
            f"identity {via!r} needs a server that harness starts, and server {server.name!r} has "
            "no command",
            meant="Use 'meta' or 'header', or give the server's command.",
        )
    if server.isolation == "none" and not delivery.is_in_each_message:
        message = f"isolation 'none' needs identity 'meta', and server {server.name!r} has {via!r}"
        raise UsageError(message, meant=NO_ISOLATION)
    check_headers(server.transport.headers, f"server {server.name!r}")
    # Claims of a token are checked with the credential, before anything runs.
    if user_context is not None and not delivery.takes_tokens:
        delivery.check_user(user_context)


def check_headers(headers: Mapping[str, str], of: str) -> None:
    """Accept only headers that HTTP allows; ``of`` names their owner, for the message.

    Raises:
        UsageError: with the header's name, never its value.
    """
    for name, value in headers.items():
        problem = header_problem(name, value)
        if problem is not None:
            raise UsageError(
                f"the header {name!r} of {of} cannot be sent: {problem}",
                meant="Encode such a value, for example in base64, or send it by 'meta'.",
            )


async def request_additions(
    identity: IdentitySpec, user_context: JsonObject | None
) -> RequestAdditions:
    """Return the identity's headers and query of the next HTTP request, but for a token."""
    if user_context is None:
        return RequestAdditions()
    return await delivery_of(identity).build_additions(user_context)


def build_request_meta(identity: IdentitySpec, user_context: JsonObject | None) -> JsonObject:
    """Return ``_meta`` for every request of this user."""
    return {} if user_context is None else delivery_of(identity).build_meta(user_context)


def build_process_env(identity: IdentitySpec, user_context: JsonObject | None) -> dict[str, str]:
    """Return the environment variables for a process of this user."""
    return {} if user_context is None else delivery_of(identity).build_environment(user_context)


def identity_key(user_context: JsonObject | None) -> str:
    """Return equal text for equal users.

    Raises:
        UsageError: the ``user_context`` is not JSON, so it cannot be sent to a server.
    """
    try:
        return canonical_json(user_context)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the user_context cannot be written as JSON: {error}") from error


def with_shared_process(server: ServerSpec) -> ServerSpec:
    """Return ``server`` with one process for all identities, where requests say who asks.

    A server that starts afresh for each case stays as it is.
    """
    members = tuple(map(with_shared_process, server.members))
    # An entry that joins servers is no server itself: each of its members decides.
    may = delivery_of(server.identity).is_in_each_message and not members
    shares = may and server.isolation == "identity"
    return replace(server, isolation="none" if shares else server.isolation, members=members)


_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def fill_template(template: str, user_context: JsonObject) -> str | None:
    """Return ``template`` with its attributes filled in; ``None`` if one is missing or null.

    A string is inserted unchanged, any other value as JSON.
    """
    if any(user_context.get(name) is None for name in _PLACEHOLDER.findall(template)):
        return None
    return _PLACEHOLDER.sub(lambda match: _format_value(user_context[match[1]]), template)


def fill_templates(templates: JsonObject, user_context: JsonObject) -> dict[str, str]:
    """Return the filled templates by name, without those that lack an attribute."""
    texts = {name: fill_template(str(text), user_context) for name, text in templates.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
