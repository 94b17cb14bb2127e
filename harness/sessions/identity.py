"""How a ``user_context`` reaches a server, and never the model.

| ``via``  | what happens                                                                            |
|----------|-----------------------------------------------------------------------------------------|
| ``meta`` | it travels in ``_meta`` of every ``tools/list`` and ``tools/call``                      |
| ``env``  | the process of this user has it in named variables, in one JSON variable, or in both    |

A case without a ``user_context`` is nobody: no ``_meta``, no variable.
"""

from __future__ import annotations

import json
import re
from typing import Any

from harness.canonical import canonical_json
from harness.errors import UsageError
from harness.types import IdentitySpec, JsonObject

USER_CONTEXT_META_KEY = "io.github.harness/user_context"
"""The key of ``_meta`` under which a server finds the ``user_context`` of a request."""

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def check_identity(identity: IdentitySpec) -> None:
    """Accept only what a process on stdio can be told.

    Raises:
        UsageError: the way needs HTTP.
    """
    if identity.via not in ("meta", "env"):
        raise UsageError(
            f"identity {identity.via!r} comes with HTTP servers",
            meant="For a server that is started as a process use 'meta' or 'env'.",
        )


def request_meta(identity: IdentitySpec, user_context: JsonObject | None) -> dict[str, Any]:
    """Return what ``_meta`` of every request of this user holds."""
    if identity.via != "meta" or user_context is None:
        return {}
    return {USER_CONTEXT_META_KEY: dict(user_context)}


def process_env(identity: IdentitySpec, user_context: JsonObject | None) -> dict[str, str]:
    """Return the variables that tell a process who its user is.

    A template is text with attributes in braces: ``{role}``. Text goes in as it is, anything else
    as JSON. A variable whose template names an attribute that is missing or null is not set.
    """
    if identity.via != "env" or user_context is None:
        return {}
    values = {name: _filled(str(template), user_context) for name, template in identity.variables.items()}
    if identity.json_variable is not None:
        values[identity.json_variable] = json.dumps(dict(user_context), ensure_ascii=False)
    return {name: value for name, value in values.items() if value is not None}


def identity_key(user_context: JsonObject | None) -> str:
    """Return equal text for equal users.

    Raises:
        UsageError: the ``user_context`` is not JSON, so that no server could be told of it.
    """
    try:
        return canonical_json(user_context)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the user_context cannot be written as JSON: {error}") from error


def _filled(template: str, user_context: JsonObject) -> str | None:
    if any(user_context.get(name) is None for name in _PLACEHOLDER.findall(template)):
        return None
    return _PLACEHOLDER.sub(lambda match: _text(user_context[match[1]]), template)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
