"""``replay:RUN`` as a server: how the process that answers from the log is started."""

from __future__ import annotations

import sys

from harness.base import UsageError, did_you_mean
from harness.runlog import Header, find_log, read_header
from harness.types import IdentitySpec, ServerSpec, TransportSpec

REPLAY = "replay:"
"""Begins the name of a server that is a recording."""
USER_VARIABLE = "HARNESS_RECORDED_USER"
"""The variable with the ``user_context`` of a process, as JSON."""


def resolve_recording(name: str) -> ServerSpec:
    """Return the server ``replay:RUN`` or ``replay:RUN#SERVER``.

    Raises:
        UsageError: there is no such run, or no such server in it.
        InvalidInput: the file is no run log.
    """
    run, _, server = name.removeprefix(REPLAY).partition("#")
    path = find_log(run)
    header = read_header(path)
    chosen = choose_server(header, server or None)
    return ServerSpec(
        name=chosen,
        transport=TransportSpec(
            command=sys.executable,
            args=("-m", "harness.sessions.recordings", str(path.resolve()), chosen),
            recorded={"run": header.run_id, "at": header.started_at},
        ),
        # A process for each user, so that instructions are those of the user, too.
        identity=IdentitySpec(via="env", plain={"json_variable": USER_VARIABLE}),
    )


def choose_server(header: Header, named: str | None) -> str:
    """Return the server that is meant of those in ``header``.

    Raises:
        UsageError: there is no such server, or several and none is named.
    """
    known = list_recorded_servers(header)
    if named is None and len(known) == 1:
        return known[0]
    if named in known:
        return named or ""
    listed = ", ".join(known) or "none"
    if named is not None:
        raise UsageError(
            f"run {header.run_id} has no server {named!r}",
            meant=did_you_mean(named, known) or f"It has {listed}.",
        )
    raise UsageError(
        f"run {header.run_id} has several servers or none: {listed}",
        meant=f"Name one: replay:{header.run_id}#{known[0]}." if known else None,
    )


def list_recorded_servers(header: Header) -> tuple[str, ...]:
    """Return the servers of the suites in ``header``, each once."""
    named = (name for facts in header.suites.values() for name in facts.get("servers", ()))
    return tuple(dict.fromkeys(named)) or tuple(header.servers)
