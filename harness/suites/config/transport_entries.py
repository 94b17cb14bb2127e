"""The transport of a server in a file: stdio or HTTP, started or already running.

| written                | means                                                                 |
|------------------------|-----------------------------------------------------------------------|
| ``command``            | started, MCP over its stdin and stdout                                |
| ``url``                | already running; streamable HTTP, or SSE if its path ends in ``/sse`` |
| ``command`` and `type` | started, and reached over HTTP on a port that harness chooses         |
| ``command`` and `url`  | started, and reached at that URL                                      |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.base import (
    TEXT,
    DocumentReader,
    InvalidValue,
    Steps,
    Values,
    arguments_field,
    build_field,
    did_you_mean,
    find_dropped_keys,
    header_problem,
    integer_field,
    line_field,
    texts_by_name_field,
)
from harness.sessions import TRANSPORTS
from harness.types import JsonObject, Transport, TransportSpec


def _map_type_names(*, built_in: bool = False) -> Mapping[str, str]:
    """Return each valid ``type`` of a server → its transport; transports' own names come first."""
    names = TRANSPORTS.built_in_names if built_in else TRANSPORTS.list_names()
    others = {word: name for name in names for word in TRANSPORTS.get(name).words}
    return {name: name for name in names} | others


def _list_schemes() -> tuple[str, ...]:
    """Return the schemes of the URLs that some transport reaches."""
    transports = [TRANSPORTS.get(name) for name in TRANSPORTS.list_names()]
    return tuple(dict.fromkeys(scheme for each in transports for scheme in each.schemes))


def choose_transport(url: str) -> Transport:
    """Return the default transport of a server at ``url``."""
    parts = urlsplit(url)
    # The older transport, whose servers by custom have this path.
    if parts.path.rstrip("/").endswith("/sse"):
        return "sse"
    names = [
        name for name in TRANSPORTS.list_names() if parts.scheme in TRANSPORTS.get(name).schemes
    ]
    return "http" if "http" in names or not names else names[0]


def check_url(value: Any) -> str:
    """Return ``value`` if it is a URL of a known transport.

    It may contain a secret, so messages must not show it.

    Raises:
        InvalidValue: it is not such a URL.
    """
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        raise InvalidValue("expected a URL", meant="Write, for example, http://127.0.0.1:8000/mcp.")
    # Examined again when the variable is replaced.
    if value.startswith("${"):
        return value
    if value.partition("://")[0].lower() not in _list_schemes():
        told = " or ".join(f"{scheme}://" for scheme in _list_schemes())
        raise InvalidValue(f"expected a URL that begins with {told}")
    try:
        # The placeholder stands where only digits are valid.
        parts = urlsplit(value.replace("{port}", "1"))
        known = "${" in value or (parts.hostname and parts.port != 0)
    # The library's message quotes the URL: a password with a slash looks like a port.
    except ValueError:
        escapes = "In a user name or a password, write /, # and ? as %2F, %23 and %3F."
        raise InvalidValue("the host or port of this URL cannot be read", meant=escapes) from None
    if not known:
        raise InvalidValue("this URL names no host")
    return value


def _parse_transport(value: Any) -> Transport:
    words = _map_type_names()
    if isinstance(value, str) and value in words:
        return words[value]
    near = did_you_mean(value, words) if isinstance(value, str) else None
    raise InvalidValue(f"expected one of {', '.join(TRANSPORTS.list_names())}", meant=near)


_TYPE = build_field(
    "The transport: stdio, http (streamable HTTP) or sse.",
    {"enum": list(_map_type_names(built_in=True))},
    _parse_transport,
)

HOW_TO_REACH = {
    "command": line_field(
        "The program to start. Without 'type' or 'url', it speaks MCP on stdin and stdout."
    ),
    "args": arguments_field("Its arguments; over HTTP, {port} is a port that harness chooses."),
    "env": texts_by_name_field(
        "Environment variables added to the few that a server inherits; ${NAME} is one of yours."
    ),
    "cwd": line_field("The folder it is started in; without it, the current one."),
    "type": _TYPE,
    "transport": build_field("The same as 'type'.", _TYPE.schema, _parse_transport),
    "url": build_field(
        "The server's URL; with a command, {port} is a port that harness chooses.", TEXT, check_url
    ),
    "headers": texts_by_name_field(
        "HTTP headers of every request; ${NAME} is one of your environment variables."
    ),
    "concurrency": integer_field(
        "Most requests at the same time, of all callers together; by default no limit of its own.",
        least=1,
    ),
}
"""Layout of the keys of a server that describe its transport."""


def read_transport(
    reading: DocumentReader, path: Steps, given: JsonObject, values: Values, called: str
) -> TransportSpec:
    """Return the transport that ``values`` describe, and report keys that do not fit it."""
    kinds = {values[key] for key in ("type", "transport") if key in values}
    url = values.get("url")
    # Of two that differ any will do, as long as it is always the same: they are told below.
    kind = min(kinds, default="stdio" if url is None else choose_transport(url))
    spec = TransportSpec(kind=kind, **{key: values[key] for key in _KEPT if key in values})
    for name in values.get("headers", {}):
        if wrong := header_problem(name):
            message = f"the header {name!r} cannot be sent: {wrong}."
            reading.add_key_problem((*path, "headers", name), message)
    if given.get("command") is None and given.get("url") is None:
        meant = "Add 'command: …' to start it, or 'url: …' if it is already running."
        reading.add_problem(path, f"{called} has neither 'command' nor 'url'.", meant)
    # What a broken key would have meant is unknown: further findings could be wrong.
    elif find_dropped_keys(given, {**values, "type": None, "transport": None}):
        return spec
    elif len(kinds) > 1:
        message = "'type' and 'transport' mean the same, but differ here."
        reading.add_key_problem((*path, "transport"), message, "Remove one of them.")
    else:
        for key, message, meant in _without_effect(values, kind):
            reading.add_key_problem((*path, key), message, meant)
    return spec


_KEPT = ("command", "args", "env", "cwd", "url", "headers", "protocol", "concurrency")
"""Keys of a server that are fields of `TransportSpec`."""


def _without_effect(values: Values, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield ``(key, problem, advice)`` for each key without effect beside the others."""
    transport = TRANSPORTS.get(name)
    for key in transport.ignored_keys:
        if key in values:
            meant = "Write 'type: http', or remove it."
            yield key, f"{key!r} has no effect on a server over {name}.", meant
    if transport.over == "pipes":
        return
    scheme = values["url"].partition("://")[0].lower() if "url" in values else ""
    if scheme in _list_schemes() and scheme not in transport.schemes:
        yield "url", f"{name!r} does not reach a URL that begins with {scheme}://.", "Change one."
    if "command" not in values:
        for key in ("args", "env", "cwd"):
            if key in values:
                message = f"{key!r} has no effect on a server that is already running."
                yield key, message, "Add 'command', or remove it."
        if "{port}" in values["url"]:
            message = "only a server that harness starts has a {port}."
            yield "url", message, "Add 'command', or write the port."
