"""``via: bearer``: every HTTP request has a token with the user as claims.

The tokens themselves come from `harness.sessions.identity.bearer`.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, get_args

from harness.base import (
    Field,
    InvalidValue,
    choice_field,
    integer_field,
    line_field,
    lines_field,
    mapping_field,
    parse_mapping,
)
from harness.sessions.identity.claims import build_claims, claim_path
from harness.sessions.identity.delivery import IdentityDelivery
from harness.types import RESERVED_CLAIMS, JsonObject, TokenAlgorithm

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
        above = next(
            (
                other
                for other, steps in paths.items()
                if other != name and path[: len(steps)] == steps
            ),
            None,
        )
        if above is not None:
            raise InvalidValue(
                f"the claim {name!r} would be inside the claim {above!r}", path=(name,)
            )
    return claims


def _parse_port(value: Any) -> int:
    port: int = _PORT.parse(value)
    if port > _HIGHEST_PORT:
        raise InvalidValue(f"there are no ports above {_HIGHEST_PORT}, found {port}")
    return port


def _parse_command(value: Any) -> str:
    """Parse a command line. It may contain a secret, so messages must not show it."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue(
            "expected a command line", meant="Write it as one string: 'my-idp token --short'."
        )
    try:
        shlex.split(value)
    except ValueError as error:
        raise InvalidValue(
            f"the command cannot be read: {error}", meant="Check its quotation marks."
        ) from error
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
