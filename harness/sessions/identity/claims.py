"""The claims of a token: how a ``user_context`` is expressed in a bearer token.

Without ``claims:`` every attribute becomes a claim of the same name. With it, exactly those claims
are made:

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
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.base import UsageError, digest_json
from harness.sessions.identity.templates import fill_template
from harness.types import RESERVED_CLAIMS, JsonObject

if TYPE_CHECKING:
    from harness.sessions.identity.deliveries.bearer import BearerDelivery

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
    claims = (
        _map_claims(settings.claims, user_context)
        if settings.claims
        else _build_default_claims(user_context)
    )
    if settings.scope is not None:
        # OAuth separates scopes by spaces, and a template would write a list as JSON.
        lists = {
            name: " ".join(map(str, value))
            for name, value in user_context.items()
            if isinstance(value, list)
        }
        scope = fill_template(settings.scope, {**user_context, **lists})
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
        raise UsageError(
            f"the user_context has {reserved[0]!r}, a claim that only the issuer may set",
            meant=(
                "Rename the attribute, or map it to another claim under 'claims:' of the identity."
            ),
        )
    return dict(user_context)


def _map_claims(mapping: Mapping[str, Any], user_context: JsonObject) -> dict[str, Any]:
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
        return [
            value
            for item in template
            if (value := _fill_template(item, user_context)) is not _LEFT_OUT
        ]
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
