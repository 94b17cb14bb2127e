"""MCP's transports, found by name: stdio, streamable HTTP, HTTP with server-sent events."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.base import Registry, find_members
from harness.types import dataclass

Over: TypeAlias = Literal["pipes", "http", "url"]
"""The carrier of MCP.

``pipes``: stdin and stdout of a process that harness starts. ``http``: requests with headers, to a
URL. ``url``: any other endpoint that a URL names.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """A transport, described without loading its code."""

    connect: str | Callable[..., Any]
    """``connect(place, meta, on_closed)``, an async context manager that yields a `Link`, or
    ``module:attribute`` of it, imported at its first use. ``place`` is a `ServerProcess` over pipes
    and an `Endpoint` otherwise."""
    over: Over
    """Its carrier."""
    words: tuple[str, ...] = ()
    """Aliases in a server's ``type``."""
    schemes: tuple[str, ...] = ("http", "https")
    """Schemes of the URLs that it reaches."""
    path: str = "/"
    """The path of MCP on a server that harness starts."""

    @property
    def ignored_keys(self) -> tuple[str, ...]:
        """The keys of a server's entry that have no effect with it."""
        return {"pipes": ("url", "headers"), "url": ("headers",), "http": ()}[self.over]

    def load(self) -> Callable[..., Any]:
        """Return `connect` itself."""
        if not isinstance(self.connect, str):
            return self.connect
        module, attribute = self.connect.split(":")
        loaded: Callable[..., Any] = getattr(import_module(module), attribute)
        return loaded


_FOLDER = Path(__file__).with_name("kinds")
TRANSPORTS: Registry[Transport] = Registry(
    "harness.transports",
    "transport",
    find_members(_FOLDER, "harness.sessions.transports.kinds", "TRANSPORT"),
)
"""Every transport by the name that a server's ``type`` gives it."""
