"""Another identity beside the token of an HTTP request: in further headers, or in the address.

A server behind a proxy may take the identity from headers that the proxy sets, and anybody can send
them if the proxy does not remove them. A token in an address stands in logs and histories; MCP
forbids it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from harness.base import HarnessError, canonical_json, header_problem
from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller
from harness.probing.credentials.forged_calls import ForgedCall, interleave_calls
from harness.probing.gains import WithheldData
from harness.probing.planned_calls import ProbeCall
from harness.sessions import Connection, IdentityDelivery, RequestAdditions, delivery_of
from harness.types import JsonObject

_MOST_CALLS = 3
_MOST_OTHERS = 2
_OF_AN_ATTRIBUTE = (
    "X-{}",
    "X-User-{}",
    "X-Forwarded-{}",
    "X-Auth-{}",
    "X-Auth-Request-{}",
    "X-Remote-{}",
    "X-Claim-{}",
    "Remote-{}",
)
"""Headers for each attribute of an identity; ``{}`` stands for its name."""
_OF_THE_USER = (
    "X-User",
    "X-User-Id",
    "X-Username",
    "X-Forwarded-User",
    "X-Forwarded-Preferred-Username",
    "X-Remote-User",
    "Remote-User",
    "X-Auth-User",
    "X-Authenticated-User",
    "X-Auth-Request-User",
    "X-Impersonate-User",
    "Impersonate-User",
    "X-Act-As",
    "X-On-Behalf-Of",
    "X-Original-User",
)
_OF_THE_ROLE = ("X-Role", "X-Roles", "X-Groups", "X-Forwarded-Groups", "X-User-Roles", "X-Scopes")
_FLAGS = ("X-Admin", "X-Is-Admin", "X-Internal", "X-Internal-Request", "X-Debug", "X-Sudo")
_HERE = ("X-Forwarded-For", "X-Real-IP", "X-Client-IP", "X-Originating-IP")
_TOKENS = ("token", "id_token", "jwt", "auth", "authorization", "bearer", "api_key", "access_token")
_NAMES = ("username", "user", "user_id", "name", "sub", "id", "email", "staff_id", "employee_id")
_ROLES = ("role", "roles", "group", "groups", "scope")


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
    calls = [
        (call, names)
        for call in prober.calls
        if not call.changes and (names := given.get((call.tool, canonical_json(call.arguments))))
    ]
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
    plain = ForgedCall(
        caller=caller, base=call, kind="identity", words="", arguments=call.arguments
    )
    headers = {
        name: text for name, text in _build_headers(context).items() if name.casefold() not in taken
    }
    yield replace(
        plain,
        words=f"with {other.name} in headers that a proxy sets",
        additions=RequestAdditions(headers),
        brought={"headers": headers},
    )
    asked = {
        **_format_attributes(context),
        "as_role": _find_role(context),
        "is_admin": "true",
        "debug": "true",
    }
    asked = {name: text for name, text in asked.items() if name.casefold() not in taken}
    yield replace(
        plain,
        words=f"with {other.name} in the address",
        additions=RequestAdditions(query=urlencode(asked)),
        brought={"query": asked},
    )
    for name in (None, "access_token") if token else ():
        # Servers that cut the address take what stands last.
        keys = _TOKENS if name is None else (name,)
        # Nothing is `brought`: the log must not have the token.
        yield replace(
            plain,
            words=f"with the token of {other.name} in the address{' alone' if name else ''}",
            additions=RequestAdditions(query=urlencode(dict.fromkeys(keys, token))),
        )


def _build_headers(context: JsonObject) -> dict[str, str]:
    texts = _format_attributes(context)
    found: dict[str, str] = {}
    for name, text in texts.items():
        spelled = "-".join(part.capitalize() for part in name.replace("_", "-").split("-"))
        found |= {pattern.format(spelled): text for pattern in _OF_AN_ATTRIBUTE}
    role = _find_role(context)
    found |= dict.fromkeys(_OF_THE_ROLE, role) if role else {}
    user = next((texts[name] for name in _NAMES if texts.get(name)), "")
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


def _find_role(context: JsonObject) -> str:
    return next((text for name in _ROLES if (text := _format_value(context.get(name)))), "")
