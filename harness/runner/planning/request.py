"""The user's request for a run, before anything is looked up.

Its numbers were checked where they were given: see `harness.runner.planning.options`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.base import MARK, UsageError
from harness.suites import MAX_CASES
from harness.types import JsonObject, Protocol

CONCURRENCY = 4
"""Trials at the same time by default."""
MOST_IN_A_PROCESS = 1000
"""Most trials at the same time in one process; engines with several processes spread more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The user's request; every field narrows or overrides suites and configuration."""

    suites: Sequence[str] = ()
    """Suite names or paths; none means all of the project."""
    categories: str | None = None
    """Parts of a leaderboard, joined by commas; ``None`` means all."""
    models: Sequence[str] = ()
    """Models that answer; none means each suite's own, else the configured default, else
    `harness.suites.config.models.OFFLINE`."""
    agents: Sequence[str] = ()
    """Agents that answer, beside the models, each by its name or as a command; with agents alone,
    no default model answers."""
    pattern: str | None = None
    """Selects cases by name or tag."""
    cases: Sequence[str] | None = None
    """Only these, each as ``suite::case``; ``None`` means all."""
    server: str | Sequence[str] = ()
    """A command line or a configured name that replaces every suite's server; several are joined.
    """
    mcp_config: str | None = None
    """The configuration of an MCP client, whose servers take precedence over all others."""
    protocol: Protocol | None = None
    """The revision of MCP for every server; ``None`` means what each server's entry says."""
    user_context: JsonObject | None = None
    """Replaces every case's own user context."""
    timeout_s: float | None = None
    """Replaces every case's own timeout."""
    trials: int | None = None
    """Repeats of each case, instead of every case's own."""
    least_trials: int | None = None
    """Repeats after which a case is not run again once it is decided; ``None`` runs all."""
    shard: str | None = None
    """``i/n``: only that part of the plan."""
    read_only: bool = False
    """Send no call to a tool that is not marked read-only."""
    block: Sequence[str] = ()
    """Send no call to these tools."""
    variants: Sequence[str] = ()
    """Variants of the tool list, each by its name in the suite or by a file of variants; ``none``
    is the server's own list, and so is an empty request."""
    judge_model: str | None = None
    """The model that judges, instead of every suite's own; ``none`` for no judge."""
    user_model: str | None = None
    """The model that plays simulated users, instead of every case's and suite's own."""
    max_cases: int = MAX_CASES
    """Most tests that are taken from one CSV dataset."""
    concurrency: int | None = None
    """Trials at the same time; ``None`` means the configured number, else `CONCURRENCY`."""

    def fill_unset(self, settings: JsonObject) -> RunRequest:
        """Return the request in an earlier run's log settings if this request is empty.

        Raises:
            UsageError: that request is not in the log, since it contains a secret.
        """
        recorded = settings.get("request")
        # How many trials run at once changes no question.
        asks_nothing = replace(self, concurrency=None) == RunRequest()
        if not recorded or not asks_nothing:
            return self
        # Without its bracket: the mark of a second identity goes on with a number.
        if MARK[:-1] in json.dumps(recorded):
            raise UsageError(
                "this run was started with a secret on its command line, which its log does not "
                "contain",
                meant="Give the same options again together with --resume.",
            )
        return replace(RunRequest(**recorded), concurrency=self.concurrency)
