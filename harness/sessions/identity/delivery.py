"""How a ``user_context`` is sent to a server; it never reaches the model.

The delivery for each ``via``:

- ``meta``: it is sent in ``_meta`` of every ``tools/list`` and ``tools/call``
- ``env``: the user's process has it in named variables, in one JSON variable, or in both
- ``header``: every HTTP request has it in named headers
- ``bearer``: every HTTP request has a token with it as claims (see
  `harness.sessions.identity.bearer`)

A case without a ``user_context`` is anonymous: no ``_meta``, no variable, no header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.base import UsageError, canonical_json, header_problem
from harness.sessions.transports import TRANSPORTS
from harness.types import Credential, IdentitySpec, JsonObject, ServerSpec

NO_ISOLATION = (
    "Only 'meta' names the user in each request. Over HTTP one process serves all "
    "users anyway: leave it out."
)
"""Advice where users cannot share a connection."""

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: the user, and the credential that they send."""

    user_context: JsonObject | None
    """The user's attributes; ``None`` is anonymous."""
    credential: Credential = "valid"
    """The kind of token, for servers with identity ``bearer``."""
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


def check_identity(server: ServerSpec, user_context: JsonObject | None) -> None:
    """Accept only a ``user_context`` that can be sent to ``server``.

    Raises:
        UsageError: with what to do instead.
    """
    via = server.identity.via
    if TRANSPORTS.get(server.transport.kind).over != "http" and via not in ("meta", "env"):
        raise UsageError(
            f"identity {via!r} comes with HTTP servers, and server {server.name!r} is reached over "
            f"{server.transport.kind}",
            meant="For a server over stdio use 'meta' or 'env'.",
        )
    if via == "env" and server.transport.command is None:
        raise UsageError(
            f"identity 'env' needs a server that harness starts, and server {server.name!r} has no "
            "command",
            meant="Use 'meta' or 'header', or give the server's command.",
        )
    if server.isolation == "none" and via != "meta":
        raise UsageError(
            f"isolation 'none' needs identity 'meta', and server {server.name!r} has {via!r}",
            meant=NO_ISOLATION,
        )
    check_headers(server.transport.headers, f"server {server.name!r}")
    build_user_headers(server.identity, user_context)


def check_headers(headers: Mapping[str, str], of: str) -> None:
    """Accept only headers that HTTP allows; ``of`` names their owner, for the message.

    Raises:
        UsageError: with the header's name, never its value.
    """
    for name, value in headers.items():
        problem = header_problem(name, value)
        if problem is not None:
            raise UsageError(f"the header {name!r} of {of} cannot be sent: {problem}")


def build_user_headers(identity: IdentitySpec, user_context: JsonObject | None) -> dict[str, str]:
    """Return the headers for a caller's identity; templates as in `build_process_env`.

    Raises:
        UsageError: an attribute's value is not allowed in a header.
    """
    if identity.via != "header" or user_context is None:
        return {}
    values = {
        name: fill_template(str(template), user_context)
        for name, template in identity.headers.items()
    }
    headers = {name: value for name, value in values.items() if value is not None}
    check_headers(headers, "this user_context")
    return headers


async def build_request_headers(
    server: ServerSpec, user_context: JsonObject | None
) -> dict[str, str]:
    """Return the identity headers of the next request to ``server``.

    For bearer tokens see `harness.sessions.identity.bearer`.

    Called for every request, because a token may have to be renewed.

    Raises:
        UsageError: ``user_context`` cannot be sent in this way.
    """
    return build_user_headers(server.identity, user_context)


def build_request_meta(identity: IdentitySpec, user_context: JsonObject | None) -> dict[str, Any]:
    """Return ``_meta`` for every request of this user."""
    if identity.via != "meta" or user_context is None:
        return {}
    return {identity.meta_key: dict(user_context)}


def build_process_env(identity: IdentitySpec, user_context: JsonObject | None) -> dict[str, str]:
    """Return the environment variables for a process of this user.

    A template is text with attributes in braces: ``{role}``. A string is inserted unchanged, any
    other value as JSON. A variable whose template names an attribute that is missing or null is not
    set.
    """
    if identity.via != "env" or user_context is None:
        return {}
    values = {
        name: fill_template(str(template), user_context)
        for name, template in identity.variables.items()
    }
    if identity.json_variable is not None:
        values[identity.json_variable] = json.dumps(dict(user_context), ensure_ascii=False)
    return {name: value for name, value in values.items() if value is not None}


def identity_key(user_context: JsonObject | None) -> str:
    """Return equal text for equal users.

    Raises:
        UsageError: the ``user_context`` is not JSON, so it cannot be sent to a server.
    """
    try:
        return canonical_json(user_context)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the user_context cannot be written as JSON: {error}") from error


def fill_template(template: str, user_context: JsonObject) -> str | None:
    """Return ``template`` with its attributes filled in; ``None`` if one is missing or null."""
    if any(user_context.get(name) is None for name in _PLACEHOLDER.findall(template)):
        return None
    return _PLACEHOLDER.sub(lambda match: _format_value(user_context[match[1]]), template)


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
