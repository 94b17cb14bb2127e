"""The server and the identities of a command that takes them from suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.config import Config
from harness.errors import NothingToRun, UsageError, did_you_mean
from harness.probing.callers import ProbeCaller, named_callers
from harness.runner.planning.prepare import RunRequest, guarded
from harness.types import Credential, ServerSpec, Suite


def server_of(suites: Sequence[Suite], servers: Sequence[str], config: Config) -> ServerSpec:
    """Return the server that ``suites`` use, or ``servers`` in its place, with all guard rails.

    Raises:
        NothingToRun: there is no suite.
        UsageError: the suites use several servers, or one that is not known.
    """
    _check_one_server(suites)
    first = suites[0]
    spec = config.server_options(servers) if servers else config.server(first.server, first.name)
    for suite in suites:
        spec = guarded(spec, suite, RunRequest())
    return spec


def caller_named(
    name: str, suites: Sequence[Suite], credential: Credential = "valid"
) -> ProbeCaller:
    """Return the identity of ``suites`` with that name, showing ``credential``.

    Raises:
        UsageError: there is none.
    """
    callers = {one.name: one for one in named_callers(c for suite in suites for c in suite.cases)}
    if name not in callers:
        raise UsageError(
            f"no identity of the suites is called {name!r}",
            meant=did_you_mean(name, callers) or f"They are: {', '.join(callers)}.",
        )
    return replace(callers[name], credential=credential)


def _check_one_server(suites: Sequence[Suite]) -> None:
    if not suites:
        raise NothingToRun("there is no suite to take identities and calls from")
    servers = {
        suite.server if isinstance(suite.server, str | tuple) else suite.name for suite in suites
    }
    if len(servers) > 1:
        names = ", ".join(suite.name for suite in suites)
        raise UsageError("these suites use different servers", meant=f"Name one of them: {names}.")
