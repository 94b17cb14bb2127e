"""Finds the secrets in configurations, suites and identities.

Each function yields the secret values of one kind of source. The name of a value decides whether it
is secret (`harness.base.redaction.secret_names`); a URL's user and password are always secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from harness.base.redaction.secret_names import (
    find_header_secrets,
    find_secrets,
    looks_secret,
    may_name_secret,
    names_secret,
    split_command,
)
from harness.types import AgentSpec, JsonObject, ModelSpec, ServerSpec, Suite

_PLAIN_HEADERS = frozenset(
    """accept anthropic-beta anthropic-version content-type http-referer openai-beta
    openai-organization openai-project user-agent x-title""".split()  # noqa: SIM905
)
# Headers with values that are not secret, and too common as text to be redacted.

_LOGIN = re.compile(r"://(?P<login>[^\s/?#\"'\\]+)@")
"""The user and password of a URL."""
_QUERY_KEYS = frozenset({"code", "key", "sig", "signature", "sv"})
"""Parameters in a URL's query with secrets of well-known services, beside names that look like a
secret's."""


def find_model_secrets(models: Iterable[ModelSpec]) -> Iterator[str]:
    """Yield the secrets of models: keys, headers, bodies, and secrets in URLs."""
    for model in models:
        if model.api_key is not None:
            yield model.api_key.reveal()
        yield from _iterate_header_secrets(model.headers)
        yield from under_secret_names(model.body)
        if model.agent is not None:
            yield from _find_agent_secrets(model.agent)
        url = model.base_url or ""
        yield from _find_login_secrets(url)
        for name, value in parse_qsl(_split_url(url).query):
            if may_name_secret(name) or name.lower() in _QUERY_KEYS:
                yield value


def _find_agent_secrets(agent: AgentSpec) -> Iterator[str]:
    yield from (value for name, value in agent.env.items() if may_name_secret(name))
    yield from find_secrets((*agent.command, *agent.args))
    yield from under_secret_names(agent.settings)
    for text in (*agent.command, *agent.args, *agent.env.values(), *iterate_texts(agent.settings)):
        yield from _find_login_secrets(text)
    for value in agent.env.values():
        yield from find_secrets([value])


def find_server_secrets(servers: Iterable[ServerSpec]) -> Iterator[str]:
    """Yield the secrets of servers: variables, arguments, headers, URL, commands and reset."""
    for server in servers:
        transport, identity = server.transport, server.identity
        yield from (value for name, value in transport.env.items() if may_name_secret(name))
        yield from find_secrets((transport.command or "", *transport.args))
        lines = [value for value in identity.settings.values() if isinstance(value, str)]
        for line in (*lines, *(query.command for query in server.queries.values())):
            yield from find_secrets(split_command(line))
        yield from find_secrets([query.database or "" for query in server.queries.values()])
        yield from under_secret_names(None if server.reset is None else server.reset.arguments)
        yield from _iterate_header_secrets(transport.headers)
        yield from _find_template_secrets(identity.settings, names_secret)
        yield from under_secret_names([*identity.plain.values()])
        yield from _find_url_secrets(transport.url)
        for iterate in (iterate_received_texts, iterate_query_texts, iterate_claim_texts):
            for text in iterate(server):
                yield from _find_login_secrets(text)
        # A variable with a harmless name may have `token=…` in its value.
        for value in transport.env.values():
            yield from find_secrets([value])


def find_suite_secrets(suites: Iterable[Suite]) -> Iterator[str]:
    """Yield the secrets of suites: values under secret names in cases and their checks.

    A public leaderboard has no secrets: its data are public, including parameters called
    ``password``.
    """
    for suite in suites:
        if suite.leaderboard is not None:
            continue
        for case in suite.cases:
            calls = (*case.setup, *case.calls, *case.teardown)
            yield from under_secret_names([call.arguments for call in calls])
            yield from under_secret_names([dict(one.dump_params()) for one in case.every_check])
            # Labels of a case are mostly words: a label "credential" is not a secret.
            yield from filter(looks_secret, under_secret_names(case.metadata))
            for text in iterate_texts([call.arguments for call in calls]):
                yield from _find_login_secrets(text)


def iterate_identities(suites: Iterable[Suite]) -> Iterator[JsonObject]:
    """Yield the attributes of every identity."""
    callers = (case.caller for suite in suites for case in suite.cases)
    yield from (caller.user_context for caller in callers if caller.user_context)


def find_identity_secrets(user_context: JsonObject) -> Iterator[str]:
    """Yield the secrets in a user's attributes: values under a name such as ``api_key``."""
    yield from under_secret_names(user_context)
    for text in iterate_texts(user_context):
        yield from _find_login_secrets(text)


def under_secret_names(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value under a name such as ``api_token``, at any depth."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from iterate_texts(part) if _names_field(name) else under_secret_names(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from under_secret_names(part)


def iterate_texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from iterate_texts(part)


def _names_field(name: Any) -> bool:
    return isinstance(name, str) and (names_secret(name) or name.lower() == "auth")


def _iterate_header_secrets(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() not in _PLAIN_HEADERS:
            yield from find_header_secrets(value)


def _find_template_secrets(
    settings: Mapping[str, Any], is_secret: Callable[[str], bool]
) -> Iterator[str]:
    """Yield the secrets in an identity's templates, except those filled in by attributes."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            # Whoever names a header or a variable is less careful than who names a setting.
            yield from _find_template_secrets(value, may_name_secret)
        elif (
            is_secret(name) and isinstance(value, str) and "{" not in value and looks_secret(value)
        ):
            yield from find_header_secrets(value)


def _find_url_secrets(url: str | None) -> Iterator[str]:
    if url is None:
        return
    parts = _split_url(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    yield from map(unquote, (password or user, *(value for _, value in parse_qsl(parts.query))))


def _find_login_secrets(text: str) -> Iterator[str]:
    """Yield the passwords of the URLs in a text, as written and decoded.

    A lone user may be a token.
    """
    for found in _LOGIN.finditer(text):
        user, _, password = found["login"].partition(":")
        if password or looks_secret(user):
            # In a URL it is encoded; a server that quotes it back may have decoded it.
            yield from (password or user, unquote(password or user))


def bare_url(url: str) -> str:
    """Return ``url`` without user, password, query and fragment, which may be secrets."""
    parts = _split_url(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _split_url(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def iterate_received_texts(server: ServerSpec) -> Iterator[str]:
    """Yield every text in a server's configuration that the server receives."""
    transport = server.transport
    yield from (transport.command or "", transport.url or "", *transport.args)
    yield from (*transport.env.values(), *transport.headers.values())
    yield from iterate_texts(server.identity.settings)


def iterate_query_texts(server: ServerSpec) -> Iterator[str]:
    """Yield the commands that query a server's state, and the arguments of its reset."""
    yield from (query.command or "" for query in server.queries.values())
    yield from iterate_texts(None if server.reset is None else server.reset.arguments)


def iterate_claim_texts(server: ServerSpec) -> Iterator[str]:
    """Yield the claims about a server's users, and the SQL and databases of its queries."""
    # A name, such as an audience, is no secret whatever it looks like.
    yield from iterate_texts([v for v in server.identity.plain.values() if isinstance(v, Mapping)])
    yield from (
        text or "" for query in server.queries.values() for text in (query.sql, query.database)
    )
