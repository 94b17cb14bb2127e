"""The caller: the attributes that came with a request, or an anonymous caller.

A client states the user in ``_meta`` of every request under `USER_CONTEXT_META_KEY`. A server that
is started for one user may get the attributes once, as JSON in the variable
`USER_CONTEXT_VARIABLE`. Whatever is missing, oversized or not a JSON object makes the request
anonymous, and an identity in ``_meta`` that cannot be read is never replaced by the one of the
environment.

Over HTTP anybody may write anything into ``_meta``: there only the claims of a verified token count
(see ``tokens``), and neither ``_meta`` nor the environment does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

USER_CONTEXT_META_KEY = "harness/user_context"
"""Key in ``_meta`` whose value is a JSON object such as ``{"role": "analyst"}``."""

USER_CONTEXT_VARIABLE = "HARNESS_USER_CONTEXT"
"""Environment variable that holds the same object as JSON text."""

MAX_IDENTITY_BYTES = 16_384
"""More than any real identity needs, and little enough to look at on every call."""

Identity: TypeAlias = Mapping[str, Any]
"""Attributes of the user by name; never holds a null. Empty means anonymous."""

ANONYMOUS: Identity = {}
"""Nobody in particular: the least privilege."""


def identify(meta: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Identity:
    """Return who asks: what ``meta`` says, else what ``environ`` says, else `ANONYMOUS`."""
    if meta is not None and USER_CONTEXT_META_KEY in meta:
        return _from_value(meta[USER_CONTEXT_META_KEY])
    text = environ.get(USER_CONTEXT_VARIABLE, "")
    return _from_text(text) if text else ANONYMOUS


def identify_by_claims(claims: Mapping[str, Any]) -> Identity:
    """Return who asks, by the ``claims`` of a token that was verified."""
    return _from_value(dict(claims))


def _from_text(text: str) -> Identity:
    if len(text) > MAX_IDENTITY_BYTES:
        return ANONYMOUS
    try:
        return _from_value(json.loads(text))
    except (ValueError, RecursionError):
        return ANONYMOUS


def _from_value(value: Any) -> Identity:
    if not isinstance(value, dict):
        return ANONYMOUS
    try:
        size = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return ANONYMOUS
    if size > MAX_IDENTITY_BYTES:
        return ANONYMOUS
    return {name: attribute for name, attribute in value.items() if attribute is not None}
