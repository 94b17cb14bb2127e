"""The suites and servers that come with the project: in a checkout or in an installed copy."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from harness.base.errors import UsageError, did_you_mean
from harness.types import (
    IdentitySpec,
    ServerSpec,
    TransportSpec,
)

_PACKAGE = Path(__file__).resolve().parents[1]
_OVER_HTTP = ("data_governance", "finance", "hr", "memory", "sales")
_HTTP = "_http"  # what the name of such a server ends with where it is to be reached over HTTP
_OF_FETCHED_DATA = ("airline", "retail", "telecom")
_STORES = {"memory": ("kv", "vector", "summary")}
# Servers with several stores; each has a name of its own: memory_vector.
# Where such servers find what was fetched: they inherit nothing else.
_CACHES = ("HARNESS_CACHE", "XDG_CACHE_HOME")
_NOT_SERVERS = frozenset({"common"})  # what servers share is no server itself


def builtin_root() -> Path:
    """Return the folder that holds ``evals`` and ``servers``.

    An installed copy carries its own inside the package; in a checkout they stand beside it. The
    inner one comes first, because a folder next to an installed package belongs to somebody else.
    """
    installed = _PACKAGE / "_builtin"
    return installed if installed.is_dir() else _PACKAGE.parent


def builtin_suites() -> Path:
    """Return the folder of the project's own suites."""
    return builtin_root() / "evals"


def is_builtin_suite(file: str | None) -> bool:
    """Return whether ``file`` is one of the project's own suites."""
    return file is not None and Path(file).resolve().is_relative_to(builtin_suites().resolve())


def is_builtin_server(server: ServerSpec) -> bool:
    """Return whether ``server`` comes with the project: nobody shall take it for their own."""
    # In a checkout, servers of the developers' own may run in the same folder.
    of_package = any(part.startswith("servers.") for part in server.transport.args[1:2])
    return of_package and server.transport.cwd == str(builtin_root())


def builtin_servers() -> tuple[str, ...]:
    """Return the names of the project's own servers, in alphabetical order.

    A server that can also run over HTTP has a second name for that, ``hr_http``, where users
    authenticate with bearer tokens.
    """
    mains = (builtin_root() / "servers").glob("*/__main__.py")
    # Found in the folder, so that a new server needs no entry here.
    names = {main.parent.name for main in mains} - _NOT_SERVERS
    stores = {f"{name}_{store}" for name in names.intersection(_STORES) for store in _STORES[name]}
    over_http = {f"{name}{_HTTP}" for name in names.intersection(_OVER_HTTP)}
    return tuple(sorted(names | stores | over_http))


def builtin_server(name: str) -> ServerSpec:
    """Return the project's own server of that name, run by the current Python interpreter.

    Raises:
        UsageError: there is none.
    """
    names = builtin_servers()
    if name not in names:
        raise UsageError(
            f"there is no built-in server named {name!r}",
            meant=did_you_mean(name, names) or f"Built in: {', '.join(names) or 'none'}.",
        )
    package, options = _find_package(name)
    transport = TransportSpec(
        command=sys.executable,
        args=("-m", f"servers.{package}", *options),
        cwd=str(builtin_root()),
    )
    # A server inherits almost no variables, so the cache's have to be named.
    if name in _OF_FETCHED_DATA:
        caches = {variable: os.environ[variable] for variable in _CACHES if variable in os.environ}
        transport = replace(transport, env=caches)
    if not name.endswith(_HTTP):
        return ServerSpec(name=name, transport=transport)
    # Over stdio nobody in particular is served with the least privilege, and so it is here.
    over_http = ("--transport", "http", "--port", "{port}", "--allow-anonymous")
    transport = replace(
        transport,
        args=(*transport.args, *over_http),
        kind="http",
        url="http://127.0.0.1:{port}/mcp",
    )
    return ServerSpec(name=name, transport=transport, identity=IdentitySpec(via="bearer"))


def _find_package(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the folder of that server, and the options that select it among others there."""
    for package, stores in _STORES.items():
        for store in stores:
            if name == f"{package}_{store}":
                return package, ("--store", store)
    return name.removesuffix(_HTTP), ()
