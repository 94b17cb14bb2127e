"""Calls with another identity's attributes in their arguments or in ``_meta``.

A server that takes the identity from the arguments of the model, or lets them override the
identity of the transport, gives the caller withheld data. Keys that a tool declares are tried, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.base import canonical_json
from harness.probing.callers import ProbeCaller
from harness.probing.credentials.forged_calls import ForgedCall
from harness.probing.planned_calls import ProbeCall
from harness.sessions import IdentityDelivery, find_meta_key
from harness.types import JsonObject

KEYS = ("_meta", "user_context", "role", "as_role", "user", "identity", "is_admin")
"""Keys that are added to the arguments besides the other identity's own attributes."""
_MOST_ATTRIBUTES = 5
_MOST_LEVELS = 4
_ROLES = ("role", "roles", "group", "groups", "scope")
_DEPUTIES = (
    "impersonate",
    "acting_as",
    "act_as",
    "run_as",
    "sudo",
    "on_behalf_of",
    "effective_user",
)
_LISTS = ("roles", "groups", "scopes", "permissions")
_PERSONS = ("principal", "claims", "auth", "session", "caller", "actor")
_NAMES = ("username", "user", "name", "sub", "user_id", "id", "email")


def smuggle_identity(
    caller: ProbeCaller,
    call: ProbeCall,
    other: ProbeCaller,
    schema: JsonObject,
    delivery: IdentityDelivery,
) -> Iterator[ForgedCall]:
    """Yield ``call`` of ``caller`` with the identity of ``other``, in one place at a time.

    Args:
        caller: The caller.
        call: The regular call.
        other: An identity with more access, whose attributes are added.
        schema: The input schema of the tool.
        delivery: How the server learns the caller's own identity; a key of ``_meta`` may be taken.
    """
    context = other.user_context or {}
    # A declared argument may have another meaning and request other data.
    declared = frozenset(schema.get("properties") or {})
    sent: set[str] = {canonical_json(call.arguments)}
    key_of_meta = find_meta_key(delivery)
    for place, arguments in _propose_arguments(
        call.arguments, schema, context, other.name, key_of_meta
    ):
        key = canonical_json(arguments)
        if key not in sent:
            sent.add(key)
            yield ForgedCall(
                caller=caller,
                base=call,
                kind="identity",
                words=f"with {place} of {other.name} in the arguments",
                arguments=arguments,
                same=declared.isdisjoint(arguments.keys() - call.arguments.keys()),
            )
    meta = {**_build_all_keys(context, key_of_meta), **_other_names(context, other.name)}
    # What carries the caller's own identity stays: else it would be the call of another caller.
    meta = {key: value for key, value in meta.items() if key not in delivery.meta_keys}
    yield ForgedCall(
        caller=caller,
        base=call,
        kind="identity",
        words=f"with the identity of {other.name} in _meta of the request",
        arguments=call.arguments,
        meta=meta,
    )


def _propose_arguments(
    arguments: JsonObject, schema: JsonObject, context: JsonObject, name: str, key_of_meta: str
) -> Iterator[tuple[str, JsonObject]]:
    """Yield a description of the added keys, and the forged arguments."""
    for key, value in _build_keys(context, name, key_of_meta).items():
        if key not in arguments:
            yield f"the key {key!r}", {**arguments, key: value}
    everything = {**_build_all_keys(context, key_of_meta), **context}
    # The call's own arguments win, so that it still asks for the same record.
    yield "every attribute", {**everything, **arguments}
    yield "other names for the identity", {**_other_names(context, name), **arguments}
    for key, value in context.items():
        if isinstance(value, str) and value:
            posing = dict.fromkeys(_DEPUTIES, value)
            yield f"{key!r} to act for", {**posing, **arguments}
    for path in _iterate_object_arguments(arguments, schema):
        yield f"every attribute under {path!r}", _add_keys(arguments, path, everything)


def _build_keys(context: JsonObject, name: str, key_of_meta: str) -> dict[str, Any]:
    """Return the keys to add, with their values."""
    role = _find_role(context, name)
    own = dict(list(context.items())[:_MOST_ATTRIBUTES])
    user = next((context[key] for key in _NAMES if context.get(key)), dict(context))
    return {
        "_meta": _build_all_keys(context, key_of_meta),
        "user_context": dict(context),
        **own,
        "role": own.get("role", role),
        "as_role": role,
        "user": own.get("user", user),
        "identity": dict(context),
        "is_admin": True,
    }


def _other_names(context: JsonObject, name: str) -> dict[str, Any]:
    """Return the identity under the usual names for impersonation and principals."""
    role = _find_role(context, name)
    return {
        **dict.fromkeys(_DEPUTIES, role),
        **{key: [role] for key in _LISTS},
        **{key: dict(context) for key in _PERSONS},
        "context": {"user": dict(context), **context},
    }


def _find_role(context: JsonObject, name: str) -> Any:
    role = next((context[key] for key in _ROLES if context.get(key)), name)
    return role[0] if isinstance(role, list) and role else role


def _build_all_keys(context: JsonObject, key_of_meta: str) -> JsonObject:
    return {
        "user_context": dict(context),
        "user": dict(context),
        **context,
        key_of_meta: dict(context),
    }


def _iterate_object_arguments(arguments: JsonObject, schema: JsonObject) -> Iterator[str]:
    """Yield the names of arguments that are objects, by the schema or by their value."""
    declared: Mapping[str, Any] = schema.get("properties") or {}
    of_schema = (
        name
        for name, part in declared.items()
        if isinstance(part, Mapping) and ("properties" in part or _is_object(part.get("type")))
    )
    sent = (name for name, value in arguments.items() if isinstance(value, Mapping))
    yield from list(dict.fromkeys((*sent, *of_schema)))[:_MOST_LEVELS]


def _is_object(declared: Any) -> bool:
    names: Sequence[Any] = declared if isinstance(declared, list) else [declared]
    return "object" in names


def _add_keys(arguments: JsonObject, name: str, added: JsonObject) -> JsonObject:
    """Return ``arguments`` with keys ``added`` to the objects inside the argument ``name``."""
    return {**arguments, name: _add_keys_deeply(arguments.get(name) or {}, added)}


def _add_keys_deeply(value: Any, added: JsonObject) -> Any:
    if isinstance(value, Mapping):
        return {**added, **{key: _add_keys_deeply(part, added) for key, part in value.items()}}
    return [_add_keys_deeply(part, added) for part in value] if isinstance(value, list) else value
