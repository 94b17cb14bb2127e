"""The options of commands that use a server as one caller: which server, and as whom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from harness.base import GATE, NothingToRun, UsageError, did_you_mean
from harness.cli.options import (
    MCP_CONFIG,
    PROTOCOL,
    START_TIMEOUT,
    TRUST,
    bundle_options,
    caller_option,
    complete_suites,
    server_option,
)
from harness.judging import VOCABULARY
from harness.probing import (
    ANONYMOUS,
    ProbeCaller,
    check_alterations,
    expand_alterations,
    name_callers,
)
from harness.runner import RunRequest, add_guard_rails, suite_roots
from harness.suites import Config, find_suites, load_config
from harness.types import Alteration, JsonObject, Protocol, ServerSpec, Suite, dataclass


def find_server(suites: Sequence[Suite], servers: Sequence[str], config: Config) -> ServerSpec:
    """Return the server that ``suites`` use, or ``servers`` in its place, with all guard rails.

    Raises:
        NothingToRun: there is no suite.
        UsageError: the suites use several servers, or one that is not known.
    """
    if not suites:
        raise NothingToRun("there is no suite to take identities and calls from")
    used = {_list_servers(one, config) for one in suites}
    if len(used) > 1:
        names = ", ".join(suite.name for suite in suites)
        raise UsageError("these suites use different servers", meant=f"Name one of them: {names}.")
    spec = (
        config.server_options(servers)
        if servers
        else config.resolve_server(suites[0].server, suites[0].name, _locate_file(suites[0]))
    )
    # One suite's guard must hold for the calls of all: they share this server. A suite whose users
    # share a process saves starts; only an entry of a server says that it can run only once.
    for suite in suites:
        own = replace(suite, isolation=None) if suite.isolation == "none" else suite
        spec = add_guard_rails(spec, own, RunRequest())
    return spec


def _list_servers(suite: Suite, config: Config) -> tuple[str, ...]:
    """Return the names of the servers that ``suite`` uses; its own if it brings its server."""
    if suite.server is None:
        return config.find_meant_servers(suite.name, _locate_file(suite)) or (suite.name,)
    if isinstance(suite.server, ServerSpec):
        return (suite.name,)
    return suite.server if isinstance(suite.server, tuple) else (suite.server,)


def _locate_file(suite: Suite) -> str | None:
    return suite.at.file if suite.at else None


@dataclass(frozen=True, slots=True)
class ChosenCaller:
    """A server, and the caller who uses it."""

    server: ServerSpec
    caller: ProbeCaller
    identity: str | None
    """The suite's name of the caller, if it was given."""
    typed: tuple[str, ...]
    """The values of ``--server``; empty if the server is the suite's."""
    suites: tuple[Suite, ...] = ()
    """The suites that were read."""

    def find_caller(self, name: str) -> ProbeCaller:
        """Return another identity of the suites.

        Raises:
            UsageError: there is none of that name.
        """
        return find_caller(name, self.suites)

    def find_alteration(self, name: str) -> tuple[Alteration, Sequence[ProbeCaller]]:
        """Return the altered value of that name, and the callers who may set it up.

        Raises:
            UsageError: there is none.
            InvalidInput: it cannot be altered.
        """
        declared = {
            alteration.name: alteration for suite in self.suites for alteration in suite.alterations
        }
        if name not in declared:
            raise UsageError(
                f"no value of the suites' 'interference' is called {name!r}",
                meant=did_you_mean(name, declared) or f"They are: {', '.join(declared)}.",
            )
        callers = name_callers(case for suite in self.suites for case in suite.cases)
        check_alterations([declared[name]], self.server, callers)
        return expand_alterations([declared[name]], os.environ)[0], callers


def _choose_caller(
    suites: tuple[str, ...],
    command_lines: tuple[str, ...],
    mcp_config: str | None,
    protocol: Protocol | None,
    start_timeout: float | None,
    name: str | None,
    user_context: JsonObject | None,
) -> ChosenCaller:
    if name is not None and user_context is not None:
        raise UsageError("--as and --user-context both say who calls", meant="Give one of them.")
    config = load_config(Path.cwd(), os.environ, mcp_config, protocol, start_timeout)
    # A server that was typed needs no suite, so that a mistake in one is not in the way.
    needs_suites = name is not None or bool(suites) or not command_lines
    found = find_suites(suites, suite_roots(Path.cwd()), VOCABULARY) if needs_suites else ()
    server = (
        find_server(found, command_lines, config) if found else config.server_options(command_lines)
    )
    who = ProbeCaller(name="a caller", user_context=user_context)
    if user_context is None:
        who = find_caller(name or ANONYMOUS, found)
    # After all that can be wrong was looked at: nobody is asked for trust in vain.
    GATE.require_plan([server])
    return ChosenCaller(server, who, name, tuple(dict.fromkeys(command_lines)), tuple(found))


ONE_CALLER = bundle_options(
    "chosen",
    _choose_caller,
    click.option(
        "--suite",
        "suites",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_suites,
        help="Suite that names the server and the identities.  [default: all of evals/]",
    ),
    server_option("Server to use instead of the suite's; several are joined."),
    MCP_CONFIG,
    PROTOCOL,
    START_TIMEOUT,
    TRUST,
    click.option(
        "--as", "name", metavar="IDENTITY", help="One of the suite's identities, by name."
    ),
    caller_option("Attributes of the caller, instead of --as."),
)
"""Passes a command its server and its caller."""


def find_caller(name: str, suites: Sequence[Suite]) -> ProbeCaller:
    """Return the identity of that name in ``suites``.

    Raises:
        UsageError: there is none.
    """
    callers = {
        caller.name: caller for caller in name_callers(c for suite in suites for c in suite.cases)
    }
    if name not in callers:
        raise UsageError(
            f"no identity of the suites is called {name!r}",
            meant=did_you_mean(name, callers) or f"They are: {', '.join(callers)}.",
        )
    return callers[name]
