"""Another identity's attributes, put into a call or beside the token of its request.

A server that takes the identity from the arguments of the model or from ``_meta``, or lets them
override the identity of the transport, gives the caller withheld data. Keys that a tool declares
are tried, too.

A server behind a proxy may take the identity from headers that the proxy sets, and anybody can send
them if the proxy does not remove them. A token in an address stands in logs and histories; MCP
forbids it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from harness.base import HarnessError, canonical_json, header_problem
from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller
from harness.probing.forged_calls import ForgedCall, interleave_calls
from harness.probing.gains import WithheldData
from harness.probing.planned_calls import ProbeCall
from harness.sessions import (
    Connection,
    IdentityDelivery,
    RequestAdditions,
    delivery_of,
    find_meta_key,
)
from harness.types import JsonObject

_MOST_ATTRIBUTES = 5
_MOST_LEVELS = 4
_ROLES = ("role", "roles", "group", "groups", "scope")
_ACTING = ("impersonate", "acting_as", "act_as", "run_as", "sudo", "on_behalf_of", "effective_user")
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
    proposals = _propose_arguments(call.arguments, schema, context, other.name, key_of_meta)
    for place, arguments in proposals:
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
            posing = dict.fromkeys(_ACTING, value)
            yield f"{key!r} to act for", {**posing, **arguments}
    for path in _iterate_object_arguments(arguments, schema):
        longer = _add_keys_deeply(arguments.get(path) or {}, everything)
        yield f"every attribute under {path!r}", {**arguments, path: longer}


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
        **dict.fromkeys(_ACTING, role),
        **{key: [role] for key in _LISTS},
        **{key: dict(context) for key in _PERSONS},
        "context": {"user": dict(context), **context},
    }


def _find_role(context: JsonObject, name: str) -> Any:
    role = next((context[key] for key in _ROLES if context.get(key)), name)
    return role[0] if isinstance(role, list) and role else role


def _build_all_keys(context: JsonObject, key_of_meta: str) -> JsonObject:
    whole = dict(context)
    return {"user_context": whole, "user": whole, **context, key_of_meta: whole}


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


def _add_keys_deeply(value: Any, added: JsonObject) -> Any:
    if isinstance(value, Mapping):
        return {**added, **{key: _add_keys_deeply(part, added) for key, part in value.items()}}
    return [_add_keys_deeply(part, added) for part in value] if isinstance(value, list) else value


_MOST_CALLS = 3
_MOST_OTHERS = 2
_OF_AN_ATTRIBUTE = (
    *(f"X-{of}{{}}" for of in ("", "User-", "Forwarded-", "Auth-", "Auth-Request-")),
    *("X-Remote-{}", "X-Claim-{}", "Remote-{}"),
)
"""Headers for each attribute of an identity; ``{}`` stands for its name."""
_OF_THE_USER = (
    *("X-User", "X-User-Id", "X-Username", "X-Forwarded-User", "X-Forwarded-Preferred-Username"),
    *("X-Remote-User", "Remote-User", "X-Auth-User", "X-Authenticated-User", "X-Auth-Request-User"),
    *("X-Impersonate-User", "Impersonate-User", "X-Act-As", "X-On-Behalf-Of", "X-Original-User"),
)
_OF_THE_ROLE = ("X-Role", "X-Roles", "X-Groups", "X-Forwarded-Groups", "X-User-Roles", "X-Scopes")
_FLAGS = ("X-Admin", "X-Is-Admin", "X-Internal", "X-Internal-Request", "X-Debug", "X-Sudo")
_HERE = ("X-Forwarded-For", "X-Real-IP", "X-Client-IP", "X-Originating-IP")
_TOKENS = ("token", "id_token", "jwt", "auth", "authorization", "bearer", "api_key", "access_token")
_USERS = ("username", "user", "user_id", "name", "sub", "id", "email", "staff_id", "employee_id")


async def smuggle_beside_tokens(prober: Prober, withheld: WithheldData) -> list[ForgedCall]:
    """Return calls with another's identity in headers or in the address, in turns of the callers.

    There are none unless identities travel over HTTP, to a single server.
    """
    server = prober.plan.server
    delivery = delivery_of(server.identity)
    if not delivery.needs_http or server.members:
        return []
    tokens = await _collect_tokens(prober) if delivery.takes_tokens else {}
    callers = {caller.name: caller for caller in prober.plan.callers}
    each = [
        _forge_requests(caller, call, callers[name], tokens.get(name), delivery)
        for caller in callers.values()
        for call, name in _iterate_targets(prober, withheld, caller)
    ]
    return interleave_calls(each)


def _iterate_targets(
    prober: Prober, withheld: WithheldData, caller: ProbeCaller
) -> Iterator[tuple[ProbeCall, str]]:
    """Yield calls that withhold something from a caller, each with an identity that gets more."""
    given = withheld.find_withholding_calls(caller.name)
    calls = [(call, names) for call in prober.reads if (names := given.get(call.key))]
    for call, names in calls[:_MOST_CALLS]:
        for name in names[:_MOST_OTHERS]:
            yield call, name


async def _collect_tokens(prober: Prober) -> Mapping[str, str]:
    """Return a valid token of each identity that has one."""
    found: dict[str, str] = {}
    for caller in prober.plan.callers:
        try:
            async with prober.open_session(caller) as session:
                if isinstance(session, Connection) and session.bearer is not None:
                    shown = (await session.bearer.get_headers()).get("Authorization", "")
                    found[caller.name] = shown.partition(" ")[2]
        except HarnessError:
            # Whoever is not let in has no token to lend.
            continue
    return {name: token for name, token in found.items() if token}


def _forge_requests(
    caller: ProbeCaller,
    call: ProbeCall,
    other: ProbeCaller,
    token: str | None,
    delivery: IdentityDelivery,
) -> Iterator[ForgedCall]:
    """Yield the calls; what says who asks by ``delivery`` is left to it."""
    context = other.user_context or {}
    taken = {name.casefold() for name in delivery.http_names}
    bare = ForgedCall(caller=caller, base=call, kind="identity", words="", arguments=call.arguments)
    every = _build_headers(context)
    headers = {name: text for name, text in every.items() if name.casefold() not in taken}
    yield replace(
        bare,
        words=f"with {other.name} in headers that a proxy sets",
        additions=RequestAdditions(headers),
        brought={"headers": headers},
    )
    asked = {**_format_attributes(context), "as_role": _find_role_text(context)}
    asked |= {"is_admin": "true", "debug": "true"}
    asked = {name: text for name, text in asked.items() if name.casefold() not in taken}
    yield replace(
        bare,
        words=f"with {other.name} in the address",
        additions=RequestAdditions(query=urlencode(asked)),
        brought={"query": asked},
    )
    for name in (None, "access_token") if token else ():
        # Servers that cut the address take what stands last.
        keys = _TOKENS if name is None else (name,)
        # Nothing is `brought`: the log must not have the token.
        yield replace(
            bare,
            words=f"with the token of {other.name} in the address{' alone' if name else ''}",
            additions=RequestAdditions(query=urlencode(dict.fromkeys(keys, token))),
        )


def _build_headers(context: JsonObject) -> dict[str, str]:
    texts = _format_attributes(context)
    found: dict[str, str] = {}
    for name, text in texts.items():
        spelled = "-".join(part.capitalize() for part in name.replace("_", "-").split("-"))
        found |= {pattern.format(spelled): text for pattern in _OF_AN_ATTRIBUTE}
    role = _find_role_text(context)
    found |= dict.fromkeys(_OF_THE_ROLE, role) if role else {}
    user = next((texts[name] for name in _USERS if texts.get(name)), "")
    found |= dict.fromkeys(_OF_THE_USER, user) if user else {}
    # From the same machine, which some servers trust.
    found |= {**dict.fromkeys(_FLAGS, "true"), **dict.fromkeys(_HERE, "127.0.0.1")}
    found["Forwarded"] = "for=127.0.0.1;by=127.0.0.1;proto=https"
    # A value with a line break or with other letters cannot be sent in a header.
    return {name: text for name, text in found.items() if header_problem(name, text) is None}


def _format_attributes(context: JsonObject) -> dict[str, str]:
    return {name: text for name, value in context.items() if (text := _format_value(value))}


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, str | int | float) else ""


def _find_role_text(context: JsonObject) -> str:
    return next((text for name in _ROLES if (text := _format_value(context.get(name)))), "")
