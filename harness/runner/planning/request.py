"""What a user asks of a run, before anything is looked up: its cases, its budget, its engine.

Its numbers were checked where they were given: see `harness.runner.planning.options`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import field, replace
from importlib.util import find_spec
from typing import Any

from harness.base import MARK, UsageError, did_you_mean
from harness.runner.planning.option_types import MOST_IN_A_PROCESS
from harness.suites import MAX_CASES
from harness.types import JsonObject, Protocol, Usage, dataclass

CONCURRENCY = 4
"""Trials at the same time by default."""
ONE_PROCESS = "process"
"""The engine that is used unless another one is named."""
_RAY = "ray"
_ADDRESS = re.compile(r"auto|[^/\s]+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The user's request; every field narrows or overrides suites and configuration."""

    suites: Sequence[str] = ()
    """Suite names or paths; none means all of the project."""
    categories: str | None = None
    """Parts of a leaderboard, joined by commas; ``None`` means all."""
    attack: str | None = None
    """Attacks of a leaderboard, joined by commas; ``None`` runs none."""
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
    start_timeout_s: float | None = None
    """Seconds that every server may take to start; ``None`` means what its entry says."""
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
    faults: str | None = None
    """``standard``, ``none``, or a file of faults, in place of those in the suites."""
    fault: Sequence[str] = ()
    """Faults as ``search_orders#1: timeout``, in place of those in the suites."""
    attacks: str | None = None
    """``standard``, ``standard:WORD``, ``none``, or a file of attacks."""
    judge_model: str | None = None
    """The model that judges, instead of every suite's own; ``none`` for no judge."""
    user_model: str | None = None
    """The model that plays simulated users, instead of every case's and suite's own."""
    max_cases: int = MAX_CASES
    """Most tests that are taken from one CSV dataset."""
    lenient: bool = False
    """Leave out what suites of other tools have and ours cannot have."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBudget:
    """What a whole run may use, including judging.

    Trials that are running when it is reached are finished, so their usage can exceed it.
    """

    max_cost_usd: float | None = None
    """Dollars; a trial of unknown cost ends the run, since the budget could not be enforced."""
    max_tokens: int | None = None
    """Input plus output tokens; an unknown number ends the run, as for cost."""
    max_errors: int | None = None
    """Trials that end in ``error``, after which no further trial is started."""
    fail_fast: bool = False
    """Stop at the first case that can no longer pass: too many of its trials failed or could not be
    judged."""

    def fill_unset(self, settings: JsonObject) -> RunBudget:
        """Return this budget with money and tokens taken from an earlier part's log, where unset.

        The limits that stopped that part early are not carried over.
        """
        recorded = settings.get("budget") or {}
        names = ("max_cost_usd", "max_tokens")
        unset: dict[str, Any] = {
            one: recorded.get(one) for one in names if getattr(self, one) is None
        }
        return replace(self, **unset)

    def left_after(self, used: Usage) -> RunBudget | None:
        """Return what is left for further runs; ``None`` if a limit is reached or not known to be.

        An unknown cost or number of tokens ends a limited run, so it also ends the runs after it.
        """
        cost, tokens = self.max_cost_usd, self.max_tokens
        if cost is not None:
            cost = 0.0 if used.cost_usd is None else cost - used.cost_usd
        if tokens is not None:
            tokens = 0 if used.tokens is None else tokens - used.tokens
        reached = any(left is not None and left <= 0 for left in (cost, tokens))
        return None if reached else replace(self, max_cost_usd=cost, max_tokens=tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a plan is carried out; the options do not change the question to the model."""

    concurrency: int = 4
    """Trials at the same time."""
    budget: RunBudget = field(default_factory=RunBudget)
    """What the run as a whole may use."""
    grace_s: float = 10.0
    """Seconds that running trials get after the first interrupt."""
    traced: bool = False
    """Whether each tool call carries trace context, so that the server's spans join the trial's."""
    catch_signals: bool = True
    """Whether to listen for Ctrl-C and SIGTERM; needs the main thread."""
    engine: str = ONE_PROCESS
    """What carries out the trials: ``process``, ``ray`` or ``ray:ADDRESS``."""

    def __post_init__(self) -> None:
        """Refuse what the engine cannot do: raises `UsageError`."""
        if self.engine == ONE_PROCESS and self.concurrency > MOST_IN_A_PROCESS:
            raise UsageError(
                f"concurrency: one process runs at most {MOST_IN_A_PROCESS} trials at the "
                f"same time, found {self.concurrency}",
                meant="The engine ray spreads more over the workers of a cluster.",
            )
        kind, colon, address = self.engine.partition(":")
        if self.engine == ONE_PROCESS:
            return
        if kind != _RAY or (colon and not _ADDRESS.fullmatch(address)):
            raise UsageError(
                f"there is no engine {self.engine!r}",
                meant="Write ray, which starts Ray on this machine, ray:auto or ray:HOST:PORT."
                if kind in (ONE_PROCESS, _RAY)
                else did_you_mean(kind, (ONE_PROCESS, _RAY)),
            )
        # Found and not imported: only an engine that is opened loads Ray.
        if find_spec("ray") is None:
            raise UsageError(
                f"the engine {self.engine} needs Ray, which is not installed",
                meant='In the checkout: pip install ".[ray]"',
            )
