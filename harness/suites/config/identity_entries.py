"""``identity:`` of a server: its keys, their parsers, and their valid combinations."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, get_args

from harness.base import (
    DocumentReader,
    Field,
    InvalidValue,
    Layout,
    Steps,
    choice_field,
    find_dropped_keys,
    integer_field,
    line_field,
    lines_field,
    parse_mapping,
    parse_single_line,
    texts_by_name_field,
)
from harness.types import (
    RESERVED_CLAIMS,
    USER_CONTEXT_META_KEY,
    IdentitySpec,
    IdentityVia,
    TokenAlgorithm,
)

_HIGHEST_PORT = 65_535
_META_KEY = re.compile(
    r"(?:{label}(?:\.{label})*/)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?".replace(
        "{label}", r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    ),
    re.ASCII,
)
_META_KEYS_OF_MCP = frozenset({"progressToken", "traceparent", "tracestate", "baggage"})
_LABELS_OF_MCP = frozenset({"mcp", "modelcontextprotocol"})  # first or second of a prefix
_EXTERNAL = (
    "claims",
    "scope",
    "audience",
    "issuer_port",
    "algorithm",
)  # settings that a token_command replaces


def _parse_claims(value: Any) -> dict[str, Any]:
    claims = parse_mapping(value)
    paths = {name: tuple(name.split(".")) for name in claims if "://" not in name}
    for name, path in paths.items():
        if path[0] in RESERVED_CLAIMS:
            meant = f"The issuer sets these: {', '.join(RESERVED_CLAIMS)}."
            raise InvalidValue(f"the claim {path[0]!r} cannot be set", path=(name,), meant=meant)
        if "" in path:
            raise InvalidValue(f"a step has no name in the path {name!r}", path=(name,))
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
    port: int = _WHOLE.parse(value)
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


def _parse_meta_key(value: Any) -> str:
    """Parse a key of ``_meta``, by the grammar of the MCP specification."""
    key = parse_single_line(value)
    if not _META_KEY.fullmatch(key):
        raise InvalidValue(
            f"{key!r} is not a key for _meta", meant="Write it like com.example/user, or user."
        )
    labels = key.rpartition("/")[0].lower().split(".")
    if key in _META_KEYS_OF_MCP or _LABELS_OF_MCP.intersection(labels[:2]):
        raise InvalidValue(
            f"the key {key!r} belongs to MCP itself", meant="Choose one of your own domain."
        )
    return key


_WHOLE = integer_field("", least=1)

IDENTITY = Layout(
    fields={
        "via": choice_field("How the user_context is sent to the server.", get_args(IdentityVia)),
        "meta_key": Field(
            schema={
                "type": "string",
                "pattern": r"\S",
                "description": (
                    "via meta: the key of _meta for the user_context; default "
                    f"{USER_CONTEXT_META_KEY}."
                ),
            },
            parse=_parse_meta_key,
        ),
        "variables": texts_by_name_field("via env: variable → template, such as {role}."),
        "json_variable": line_field("via env: a variable for the whole user_context as JSON."),
        "headers": texts_by_name_field("via header: HTTP header → template, such as {role}."),
        "claims": Field(
            schema={
                "type": "object",
                "description": (
                    "via bearer: claim → template, such as {role}, or JSON with templates in it; "
                    "dots lead into a claim. Without it, each attribute is a claim of the same "
                    "name."
                ),
            },
            parse=_parse_claims,
        ),
        "scope": line_field("via bearer: the claim scope, a template; a list is joined by spaces."),
        "audience": line_field("via bearer: the claim aud. Without it, the server's URL."),
        "issuer_port": Field(
            schema={
                "type": "integer",
                "minimum": 1,
                "maximum": _HIGHEST_PORT,
                "description": (
                    "via bearer: the port of the issuer, where a running server expects it."
                ),
            },
            parse=_parse_port,
        ),
        "algorithm": choice_field(
            "via bearer: the algorithm that signs the tokens; default RS256.",
            get_args(TokenAlgorithm),
        ),
        "token_command": Field(
            schema={
                "type": "string",
                "pattern": r"\S",
                "description": (
                    "via bearer: a command that reads the user_context as JSON and "
                    "prints the token."
                ),
            },
            parse=_parse_command,
        ),
        "token_env": lines_field(
            "via bearer: environment variables that the token_command gets beside the usual ones."
        ),
    },
    elsewhere={
        "issuer": (
            "harness itself is the issuer: set its port by 'issuer_port'; a started server gets "
            "{issuer}."
        ),
        "credential": "Put it into a test, or under 'defaults:'.",
        "scopes": "Did you mean 'scope'?",
    },
)
"""Layout of ``identity:`` of a server, as a mapping."""

_VIA = {
    "meta_key": "meta",
    "variables": "env",
    "json_variable": "env",
    "headers": "header",
    **dict.fromkeys((*_EXTERNAL, "token_command", "token_env"), "bearer"),
}


def read_identity(
    reading: DocumentReader, path: Steps, value: str | dict[str, Any]
) -> IdentitySpec:
    """Return how identities are sent to the server at ``path``: ``value`` is a name or a mapping.

    ``reading`` collects problems.
    """
    given = value if isinstance(value, dict) else {"via": value}
    values = reading.read_mapping(path, given, IDENTITY, "identity of the server")
    identity = IdentitySpec(**values)
    if not find_dropped_keys(given, values):
        _require_effect(reading, path, given, identity)
    return identity


def _require_effect(
    reading: DocumentReader, path: Steps, given: Mapping[str, Any], identity: IdentitySpec
) -> None:
    """Refuse settings of another kind of identity, and a kind without its own settings."""
    for key, via in _VIA.items():
        if key in given and identity.via != via:
            message = f"{key!r} has no effect on identity via {identity.via}."
            reading.add_problem(
                reading.document.locate_key((*path, key)),
                message,
                f"Write 'via: {via}', or remove it.",
            )
    if identity.via == "env" and not (identity.variables or identity.json_variable):
        message = "identity via env names no variable."
        reading.add_problem(
            reading.document.locate(path), message, "Add 'json_variable: NAME', or 'variables:'."
        )
    if identity.via == "header" and not identity.headers:
        reading.add_problem(
            reading.document.locate(path), "identity via header names no header.", "Add 'headers:'."
        )
    if identity.token_env and identity.via == "bearer" and identity.token_command is None:
        message = "'token_env' has no effect without a 'token_command' that gets these variables."
        reading.add_problem(
            reading.document.locate_key((*path, "token_env")),
            message,
            "Add the command, or remove it.",
        )
    for key in _EXTERNAL:
        if key in given and identity.via == "bearer" and identity.token_command is not None:
            message = f"{key!r} has no effect beside 'token_command', which fetches the token."
            reading.add_problem(
                reading.document.locate_key((*path, key)), message, "Keep one of them."
            )
