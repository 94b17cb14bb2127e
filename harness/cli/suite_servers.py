"""The server of a command that takes its identities from suites."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base import NothingToRun, UsageError
from harness.runner import RunRequest, add_guard_rails
from harness.suites import Config
from harness.types import ServerSpec, Suite


def find_server(suites: Sequence[Suite], servers: Sequence[str], config: Config) -> ServerSpec:
    """Return the server that ``suites`` use, or ``servers`` in its place, with all guard rails.

    Raises:
        NothingToRun: there is no suite.
        UsageError: the suites use several servers, or one that is not known.
    """
    _check_one_server(suites)
    first = suites[0]
    spec = (
        config.server_options(servers)
        if servers
        else config.resolve_server(first.server, first.name)
    )
    # One suite's guard must hold for the calls of all: they share this server.
    for suite in suites:
        spec = add_guard_rails(spec, suite, RunRequest())
    return spec


def _check_one_server(suites: Sequence[Suite]) -> None:
    if not suites:
        raise NothingToRun("there is no suite to take identities and calls from")
    servers = {
        suite.server if isinstance(suite.server, str | tuple) else suite.name for suite in suites
    }
    if len(servers) > 1:
        names = ", ".join(suite.name for suite in suites)
        raise UsageError("these suites use different servers", meant=f"Name one of them: {names}.")
