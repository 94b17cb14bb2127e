"""``via: bearer``: every HTTP request has a token with the user as claims.

The tokens themselves come from `harness.sessions.identity.bearer`. Without ``claims:`` every
attribute of the user becomes a claim of the same name. With it, exactly those claims are made:

| written                                  | becomes                                               |
|------------------------------------------|-------------------------------------------------------|
| ``roles: "{roles}"``                     | the attribute as it is: a list stays a list           |
| ``email: "{name}@example.com"``          | text, its attributes filled in                        |
| ``realm_access.roles: "{roles}"``        | ``{"realm_access": {"roles": …}}``                    |
| ``groups: ["{role}", everyone]``         | a list; templates may stand anywhere in JSON          |
| ``https://example.com/roles: "{roles}"`` | one claim of that name: the dots of a URL are no path |

A claim whose template names an attribute that is missing or null is left out. There is always a
``sub``: from ``claims:`` or the attribute ``sub``, else ``user_id``, ``username`` or ``name``, else
a digest of all attributes, so that equal users have equal subjects. The issuer sets the claims of
`RESERVED_CLAIMS`: a ``user_context`` that would set one of them is an error.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, get_args

from harness.base import (
    Field,
    InvalidValue,
    UsageError,
    choice_field,
    digest_json,
    integer_field,
    line_field,
    lines_field,
    mapping_field,
    parse_mapping,
)
from harness.sessions.identity.delivery import IdentityDelivery, fill_template
from harness.types import RESERVED_CLAIMS, JsonObject, TokenAlgorithm, dataclass

SUBJECTS = ("sub", "user_id", "username", "name")
"""Attributes that identify a user, the most specific first."""

AGAIN = "\u200b"
"""Suffix of an attribute's name that adds a second claim of that name to a token.

By RFC 7519 a verifier takes the last claim or refuses the token; one that takes the first can be
deceived.
"""

IN_HEADER = "\u2060"
"""Suffix of an attribute's name that puts it into the header of a token, beside its claims.

A header has no claims about a user (RFC 7515): a verifier that takes them from there trusts data
that the issuer may never have checked.
"""

_ALONE = re.compile(r"\{([^{}]+)\}")
# Not `None`, since a claim may be written as null.
_LEFT_OUT = object()


def build_claims(settings: BearerDelivery, user_context: JsonObject) -> dict[str, Any]:
    """Return the claims for ``user_context`` by ``settings``, without those of the issuer.

    Raises:
        UsageError: an attribute has the name of a reserved claim.
    """
    if settings.claims:
        claims = _map_claims(settings.claims, user_context)
    else:
        claims = _build_default_claims(user_context)
    if settings.scope is not None:
        # OAuth separates scopes by spaces, and a template would write a list as JSON.
        joined = {
            name: " ".join(map(str, value)) if isinstance(value, list) else value
            for name, value in user_context.items()
        }
        scope = fill_template(settings.scope, joined)
        if scope is not None:
            claims["scope"] = scope
    if claims.get("sub") in (None, ""):
        claims["sub"] = _choose_subject(user_context)
    # RFC 7519 wants a text, and some verifiers refuse a number.
    claims["sub"] = str(claims["sub"])
    return claims


def claim_path(name: str) -> tuple[str, ...]:
    """Return the steps to a claim: ``realm_access.roles`` has two, a URL one."""
    return (name,) if "://" in name else tuple(name.split("."))


def _build_default_claims(user_context: JsonObject) -> dict[str, Any]:
    reserved = [name for name in RESERVED_CLAIMS if name in user_context]
    if reserved:
        message = f"the user_context has {reserved[0]!r}, a claim that only the issuer may set"
        where = "under 'claims:' of the identity"
        meant = f"Rename the attribute, or map it to another claim {where}."
        raise UsageError(message, meant=meant)
    return dict(user_context)


def _map_claims(mapping: JsonObject, user_context: JsonObject) -> dict[str, Any]:
    claims: dict[str, Any] = {}
    for name, template in mapping.items():
        value = _fill_template(template, user_context)
        if value is _LEFT_OUT:
            continue
        # The configuration was checked: no claim stands inside another that is a value.
        *above, last = claim_path(name)
        place = claims
        for step in above:
            place = place.setdefault(step, {})
        place[last] = value
    return claims


def _fill_template(template: Any, user_context: JsonObject) -> Any:
    if isinstance(template, str):
        alone = _ALONE.fullmatch(template)
        value = user_context.get(alone[1]) if alone else fill_template(template, user_context)
        return _LEFT_OUT if value is None else value
    if isinstance(template, list | tuple):
        items = [_fill_template(item, user_context) for item in template]
        return [value for value in items if value is not _LEFT_OUT]
    if isinstance(template, Mapping):
        values = {name: _fill_template(item, user_context) for name, item in template.items()}
        return {name: value for name, value in values.items() if value is not _LEFT_OUT}
    return template


def _choose_subject(user_context: JsonObject) -> Any:
    named = (
        user_context[name] for name in SUBJECTS if isinstance(user_context.get(name), str | int)
    )
    return next(
        (name for name in named if name != ""), f"user-{digest_json(dict(user_context))[:16]}"
    )


_HIGHEST_PORT = 65_535
_PORT = integer_field(
    "via bearer: the port of the issuer, where a running server expects it.", least=1
)
_OF_ISSUER = ("claims", "scope", "audience", "issuer_port", "algorithm")
"""Settings that a token_command replaces."""


def _parse_claims(value: Any) -> dict[str, Any]:
    claims = parse_mapping(value)
    paths = {name: claim_path(name) for name in claims if "://" not in name}
    for name, path in paths.items():
        if path[0] in RESERVED_CLAIMS:
            meant = f"The issuer sets these: {', '.join(RESERVED_CLAIMS)}."
            raise InvalidValue(f"the claim {path[0]!r} cannot be set", path=(name,), meant=meant)
        if "" in path:
            raise InvalidValue(f"a step has no name in the path {name!r}", path=(name,))
        # A claim is either a value or an object with claims in it.
        around = (of for of, steps in paths.items() if of != name and path[: len(steps)] == steps)
        if (above := next(around, None)) is not None:
            message = f"the claim {name!r} would be inside the claim {above!r}"
            raise InvalidValue(message, path=(name,))
    return claims


def _parse_port(value: Any) -> int:
    port: int = _PORT.parse(value)
    if port > _HIGHEST_PORT:
        raise InvalidValue(f"there are no ports above {_HIGHEST_PORT}, found {port}")
    return port


def _parse_command(value: Any) -> str:
    """Parse a command line. It may contain a secret, so messages must not show it."""
    if not isinstance(value, str) or not value.strip():
        meant = "Write it as one string: 'my-idp token --short'."
        raise InvalidValue("expected a command line", meant=meant)
    try:
        shlex.split(value)
    except ValueError as error:
        meant = "Check its quotation marks."
        raise InvalidValue(f"the command cannot be read: {error}", meant=meant) from error
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerDelivery(IdentityDelivery):
    """Sends a token that harness's own issuer signs, or that a command of the user prints."""

    claims: JsonObject = field(default_factory=dict)
    """Path of a claim → template, or JSON with templates in it; if empty, each attribute becomes a
    claim of its own name."""
    scope: str | None = None
    """Template of the claim ``scope``; a list is joined by spaces."""
    audience: str | None = None
    """The claim ``aud``; ``None`` means the server's URL."""
    issuer_port: int | None = None
    """The issuer's port on 127.0.0.1, for servers that run already; ``None`` means any free one."""
    algorithm: TokenAlgorithm = "RS256"
    """The algorithm by which the issuer signs."""
    token_command: str | None = field(default=None, repr=False)
    """A command that reads the user_context as JSON and prints the token, instead of the issuer."""
    token_env: tuple[str, ...] = ()
    """Names of environment variables that `token_command` gets in addition to the usual ones."""

    fields: ClassVar = {
        "claims": replace(
            mapping_field(
                "via bearer: claim → template, such as {role}, or JSON with templates in it; dots "
                "lead into a claim. Without it, each attribute is a claim of the same name."
            ),
            parse=_parse_claims,
        ),
        "scope": line_field("via bearer: the claim scope, a template; a list is joined by spaces."),
        "audience": line_field("via bearer: the claim aud. Without it, the server's URL."),
        "issuer_port": Field(schema={**_PORT.schema, "maximum": _HIGHEST_PORT}, parse=_parse_port),
        "algorithm": choice_field(
            "via bearer: the algorithm that signs the tokens; default RS256.",
            get_args(TokenAlgorithm),
        ),
        "token_command": replace(
            line_field(
                "via bearer: a command that reads the user_context as JSON and prints the token."
            ),
            parse=_parse_command,
        ),
        "token_env": lines_field(
            "via bearer: environment variables that the token_command gets beside the usual ones."
        ),
    }
    elsewhere: ClassVar = {
        "issuer": (
            "harness itself is the issuer: set its port by 'issuer_port'; a started server gets "
            "{issuer}."
        ),
        "credential": "Put it into a test, or under 'defaults:'.",
        "scopes": "Did you mean 'scope'?",
    }
    plain: ClassVar = frozenset({*_OF_ISSUER, "token_env"})
    hidden: ClassVar = frozenset({"token_command"})
    needs_http: ClassVar = True
    takes_tokens: ClassVar = True

    @property
    def is_signed(self) -> bool:
        """Whether harness's own issuer signs the tokens."""
        return self.token_command is None

    @property
    def commands(self) -> tuple[str, ...]:
        """The command that prints tokens."""
        return () if self.token_command is None else (self.token_command,)

    @property
    def command_variables(self) -> tuple[str, ...]:
        """Those of `token_env`."""
        return self.token_env

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield settings that a command lacks, or replaces."""
        if self.token_command is None:
            if self.token_env:
                message = (
                    "'token_env' has no effect without a 'token_command' that gets these variables."
                )
                yield "token_env", message, "Add the command, or remove it."
            return
        for key in filter(_OF_ISSUER.__contains__, keys):
            message = f"{key!r} has no effect beside 'token_command', which fetches the token."
            yield key, message, "Keep one of them."

    def check_user(self, user_context: JsonObject) -> None:
        """Accept only a user that the claims of a token can describe."""
        if self.is_signed:
            build_claims(self, user_context)


DELIVERY = BearerDelivery
"""``via: bearer``."""
