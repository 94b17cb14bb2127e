"""How a server is reached, as people write it: over stdio, over HTTP, started or running already.

| written                | means                                                                    |
|------------------------|--------------------------------------------------------------------------|
| ``command``            | started, MCP over its stdin and stdout                                   |
| ``url``                | running already, streamable HTTP; the older form if its path is ``/sse`` |
| ``command`` and `type` | started, and reached over HTTP on a port that harness chooses            |
| ``command`` and `url`  | started, and reached at that URL                                         |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.documents.document import Steps
from harness.documents.fields import Field, arguments, line, texts_by_name
from harness.documents.headers import header_problem
from harness.documents.reading import Reading, dropped
from harness.errors import InvalidValue, did_you_mean
from harness.sessions.transports import TRANSPORTS
from harness.types import Transport


def _words(*, built_in: bool = False) -> Mapping[str, str]:
    """Return each word that a server's ``type`` may be → the transport that it means, these themselves first."""
    names = TRANSPORTS.built_in if built_in else TRANSPORTS.names()
    others = {word: name for name in names for word in TRANSPORTS.get(name).words}
    return {name: name for name in names} | others


def _schemes() -> tuple[str, ...]:
    """Return the schemes of the URLs that some transport reaches."""
    transports = [TRANSPORTS.get(name) for name in TRANSPORTS.names()]
    return tuple(dict.fromkeys(scheme for each in transports for scheme in each.schemes))


def transport_of(url: str) -> Transport:
    """Return how a server at ``url`` is reached where nobody says it."""
    parts = urlsplit(url)
    if parts.path.rstrip("/").endswith("/sse"):
        return "sse"
    names = [name for name in TRANSPORTS.names() if parts.scheme in TRANSPORTS.get(name).schemes]
    return "http" if "http" in names or not names else names[0]


def checked_url(value: Any) -> str:
    """Return ``value`` if it is a URL that some transport reaches. It may hold a secret, so no message shows it.

    Raises:
        InvalidValue: it is not.
    """
    if not isinstance(value, str) or any(
        each.isspace() or not each.isprintable() for each in value
    ):
        raise InvalidValue("expected a URL", meant="Write, for example, http://127.0.0.1:8000/mcp.")
    if value.startswith("${"):
        return value
    if value.partition("://")[0].lower() not in _schemes():
        told = " or ".join(f"{scheme}://" for scheme in _schemes())
        raise InvalidValue(f"expected a URL that begins with {told}")
    try:
        parts = urlsplit(value.replace("{port}", "1"))
        known = "${" in value or (parts.hostname and parts.port != 0)
    except (
        ValueError
    ):  # its words quote the URL, and what a slash cuts off a password is taken for a port
        escapes = "In a name or a password, write /, # and ? as %2F, %23 and %3F."
        raise InvalidValue("the host or port of this URL cannot be read", meant=escapes) from None
    if not known:
        raise InvalidValue("this URL names no host")
    return value


def _transport(value: Any) -> Transport:
    words = _words()
    if isinstance(value, str) and value in words:
        return words[value]
    near = did_you_mean(value, words) if isinstance(value, str) else None
    raise InvalidValue(f"expected one of {', '.join(TRANSPORTS.names())}", meant=near)


_TYPE = Field(
    schema={
        "enum": list(_words(built_in=True)),
        "description": "How the server is reached: stdio, http (streamable HTTP) or sse.",
    },
    parse=_transport,
)

HOW_TO_REACH = {
    "command": line(
        "The program to start. Without 'type' or 'url' it speaks MCP on its stdin and stdout."
    ),
    "args": arguments("Its arguments; over HTTP, {port} is the port that harness chose."),
    "env": texts_by_name(
        "Variables added to the few that a server inherits; ${NAME} takes one of yours."
    ),
    "cwd": line("The folder it is started in; without it, the current one."),
    "type": _TYPE,
    "transport": Field(
        schema={**_TYPE.schema, "description": "The same as 'type'."}, parse=_transport
    ),
    "url": Field(
        schema={
            "type": "string",
            "pattern": r"\S",
            "description": (
                "Where the server is, or will be if there is a command; {port} is one "
                "that harness chooses."
            ),
        },
        parse=checked_url,
    ),
    "headers": texts_by_name("HTTP headers of every request; ${NAME} takes one of your variables."),
}
"""The keys of a server that say how it is reached."""


def settle_transport(
    reading: Reading, path: Steps, given: Mapping[str, Any], values: dict[str, Any], called: str
) -> None:
    """Replace ``type`` in the ``values`` read at ``path`` by the transport; keys that do not fit are problems."""
    kinds = {values.pop(key) for key in ("type", "transport") if key in values}
    url = values.get("url")
    values["transport"] = min(kinds, default="stdio" if url is None else transport_of(url))
    for name in values.get("headers", {}):
        if wrong := header_problem(name):
            at = reading.document.at_key((*path, "headers", name))
            reading.problem(at, f"the header {name!r} cannot be sent: {wrong}.")
    if given.get("command") is None and given.get("url") is None:
        meant = "Add 'command: …' to have it started, or 'url: …' if it runs already."
        reading.problem(
            reading.document.at(path), f"{called} has neither 'command' nor 'url'.", meant
        )
    elif dropped(given, {**values, "type": None, "transport": None}):
        return
    elif len(kinds) > 1:
        at = reading.document.at_key((*path, "transport"))
        reading.problem(
            at, "'type' and 'transport' mean the same, and differ.", "Remove one of them."
        )
    else:
        for key, message, meant in _without_effect(values):
            reading.problem(reading.document.at_key((*path, key)), message, meant)


def _without_effect(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield ``(key, what is wrong, what to do)`` for each key that means nothing beside the others."""
    name = values["transport"]
    transport = TRANSPORTS.get(name)
    for key in transport.without_effect:
        if key in values:
            meant = "Write 'type: http', or remove it."
            yield key, f"{key!r} has no effect on a server over {name}.", meant
    if transport.over == "pipes":
        return
    scheme = values["url"].partition("://")[0].lower() if "url" in values else ""
    if scheme in _schemes() and scheme not in transport.schemes:
        yield "url", f"{name!r} does not reach a URL that begins with {scheme}://.", "Change one."
    if "command" not in values:
        for key in ("args", "env", "cwd"):
            if key in values:
                yield (
                    key,
                    f"{key!r} has no effect on a server that runs already.",
                    "Add 'command', or remove it.",
                )
        if "{port}" in values["url"]:
            yield (
                "url",
                "only a server that harness starts has a {port}.",
                "Add 'command', or write the port.",
            )
