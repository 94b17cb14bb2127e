"""Finds the secrets in configurations, suites and identities.

Each function yields the secret values of one kind of source. The name of a value decides whether it
is secret (`harness.base.redaction.names`); a URL's user and password are always secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from harness.base.redaction.names import (
    looks_secret,
    may_name_secret,
    names_secret,
    of_header,
    secrets_of,
    words_of,
)
from harness.types import AgentSpec, Check, JsonObject, ModelSpec, ServerSpec, Suite

_PLAIN_HEADERS = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "http-referer",
        "openai-beta",
        "openai-organization",
        "openai-project",
        "user-agent",
        "x-title",
    }
)
# Headers with values that are not secret, and too common as text to be redacted.

_LOGIN = re.compile(r"://(?P<login>[^\s/?#\"'\\]+)@")
"""The user and password of a URL."""
_QUERY_KEYS = frozenset({"code", "key", "sig", "signature", "sv"})
"""Parameters in a URL's query with secrets of well-known services, beside names that look like a
secret's."""


def of_models(models: Iterable[ModelSpec]) -> Iterator[str]:
    """Yield the secrets of models: keys, headers, bodies, and secrets in URLs."""
    for model in models:
        if model.api_key is not None:
            yield model.api_key.reveal()
        yield from _of_headers(model.headers)
        yield from under_secret_names(model.body)
        if model.agent is not None:
            yield from _of_agent(model.agent)
        url = model.base_url or ""
        yield from _of_login(url)
        query = parse_qsl(_split(url).query)
        yield from (
            value for name, value in query if may_name_secret(name) or name.lower() in _QUERY_KEYS
        )


def _of_agent(agent: AgentSpec) -> Iterator[str]:
    yield from (value for name, value in agent.env.items() if may_name_secret(name))
    yield from secrets_of((*agent.command, *agent.args))
    yield from under_secret_names(agent.settings)
    for text in (*agent.command, *agent.args, *agent.env.values(), *texts_in(agent.settings)):
        yield from _of_login(text)
    for value in agent.env.values():
        yield from secrets_of([value])


def of_servers(servers: Iterable[ServerSpec]) -> Iterator[str]:
    """Yield the secrets of servers: variables, arguments, headers, URL, commands and reset."""
    for server in servers:
        transport, identity = server.transport, server.identity
        yield from (value for name, value in transport.env.items() if may_name_secret(name))
        yield from secrets_of((transport.command or "", *transport.args))
        for words in (
            words_of(identity.token_command),
            *(words_of(query.command) for query in server.queries.values()),
        ):
            yield from secrets_of(words)
        yield from secrets_of([query.database or "" for query in server.queries.values()])
        yield from under_secret_names(None if server.reset is None else server.reset.arguments)
        yield from _of_headers(transport.headers)
        yield from _of_templates(identity.headers, identity.variables)
        yield from under_secret_names(identity.claims)
        yield from _of_url(transport.url)
        for text in (*given_to(server), *sent_beside(server), *said_of(server)):
            yield from _of_login(text)
        for value in transport.env.values():
            yield from secrets_of([value])


def of_suites(suites: Iterable[Suite]) -> Iterator[str]:
    """Yield the secrets of suites: values under secret names in cases and their checks.

    A public leaderboard has no secrets: its data are public, including parameters called
    ``password``.
    """
    for suite in suites:
        if suite.leaderboard is not None:
            continue
        for case in suite.cases:
            calls = (*case.setup, *case.teardown)
            yield from under_secret_names([call.arguments for call in calls])
            yield from under_secret_names([_expected(check) for check in case.every_check])
            # Labels of a case are mostly words: a label "credential" is not a secret.
            yield from filter(looks_secret, under_secret_names(case.metadata))
            for call in calls:
                yield from (
                    secret for text in texts_in(call.arguments) for secret in _of_login(text)
                )


def identities(suites: Iterable[Suite]) -> Iterator[JsonObject]:
    """Yield the attributes of every identity."""
    yield from (
        case.caller.user_context
        for suite in suites
        for case in suite.cases
        if case.caller.user_context
    )


def of_identity(user_context: JsonObject) -> Iterator[str]:
    """Yield the secrets in a user's attributes: values under a name such as ``api_key``."""
    yield from under_secret_names(user_context)
    yield from (secret for text in texts_in(user_context) for secret in _of_login(text))


def under_secret_names(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value under a name such as ``api_token``, at any depth."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from texts_in(part) if _names_field(name) else under_secret_names(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from under_secret_names(part)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(part)


def _expected(check: Check) -> Any:
    return dict(check.asked())


def _names_field(name: Any) -> bool:
    return isinstance(name, str) and (names_secret(name) or name.lower() == "auth")


def _of_headers(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() not in _PLAIN_HEADERS:
            yield from of_header(value)


def _of_templates(*mappings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the secrets in an identity's templates, except those filled in by attributes."""
    for name, value in (item for mapping in mappings for item in mapping.items()):
        if (
            may_name_secret(name)
            and isinstance(value, str)
            and "{" not in value
            and looks_secret(value)
        ):
            yield from of_header(value)


def _of_url(url: str | None) -> Iterator[str]:
    if url is None:
        return
    parts = _split(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    yield from map(unquote, (password or user, *(value for _, value in parse_qsl(parts.query))))


def _of_login(text: str) -> Iterator[str]:
    """Yield the passwords of the URLs in a text, as written and decoded.

    A lone user may be a token.
    """
    for found in _LOGIN.finditer(text):
        user, _, password = found["login"].partition(":")
        if password or looks_secret(user):
            yield from (password or user, unquote(password or user))


def bare_url(url: str) -> str:
    """Return ``url`` without user, password, query and fragment, which may be secrets."""
    parts = _split(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def given_to(server: ServerSpec) -> Iterator[str]:
    """Yield every text in a server's configuration that the server receives."""
    transport, identity = server.transport, server.identity
    yield from (
        transport.command or "",
        transport.url or "",
        identity.token_command or "",
    )
    yield from (
        *transport.args,
        *transport.env.values(),
        *transport.headers.values(),
    )
    yield from (str(value) for value in (*identity.headers.values(), *identity.variables.values()))


def sent_beside(server: ServerSpec) -> Iterator[str]:
    """Yield the commands that query a server's state, and the arguments of its reset."""
    yield from (query.command or "" for query in server.queries.values())
    yield from texts_in(None if server.reset is None else server.reset.arguments)


def said_of(server: ServerSpec) -> Iterator[str]:
    """Yield the claims about a server's users, and the SQL and databases of its queries."""
    yield from texts_in(server.identity.claims)
    yield from (
        text or "" for query in server.queries.values() for text in (query.sql, query.database)
    )
