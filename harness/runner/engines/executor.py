"""Carries out trials in this process: what they share, and one trial after another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from harness.judging import Judge, JudgeModel
from harness.models import Model
from harness.runner.agents.agent_servers import AgentServers
from harness.runner.engines import Told
from harness.runner.model_pool import open_models
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.user_models import Player, open_players
from harness.runner.preflight.preflight import Preflight
from harness.runner.server_state.end_state import EndStates
from harness.runner.trial import TrialContext, TrialOutcome, run_trial
from harness.runner.variants.views import VariantViews
from harness.sessions import Pool, SessionPool, open_sessions
from harness.types import ModelSpec, ServerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParticipants:
    """Everybody that the trials of a plan meet, besides their own servers."""

    models: tuple[ModelSpec, ...]
    """Those that answer."""
    judges: tuple[ModelSpec, ...]
    """Those that judge."""
    players: tuple[ModelSpec, ...]
    """Those that play users."""
    decoys_from: tuple[ServerSpec, ...]
    """Servers whose tools are only shown."""

    @classmethod
    def from_plan(cls, plan: RunPlan) -> RunParticipants:
        """Return those of ``plan``."""
        return cls(
            models=plan.models,
            judges=plan.judges,
            players=plan.user_models,
            decoys_from=plan.decoys_from,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """What the trials of one process share."""

    pool: Pool
    """Their sessions."""
    models: Mapping[str, Model]
    """The models that answer, by name."""
    judges: Mapping[str, JudgeModel]
    """The models that judge, by name."""
    players: Mapping[str, Player]
    """What plays users, by name."""
    traced_as: str | None = None
    """The name of the run, if its calls carry trace context."""
    views: VariantViews = field(default_factory=VariantViews)
    """The tool lists that models see under variants."""
    end_states: EndStates = field(default_factory=EndStates)
    """The states after reference calls, each read once."""
    asking: AgentServers = field(default_factory=AgentServers)
    """The servers that may ask the agents that answer."""

    async def execute_trial(
        self, job: Job, preflight: Preflight, scope: anyio.CancelScope, tell: Told | None = None
    ) -> TrialOutcome:
        """Run one trial under ``scope``; see `harness.runner.trial.run_trial`."""
        support = TrialContext(
            judge=Judge(self.judges, job.judge),
            preflight=preflight,
            player=None if job.player is None else self.players[job.player.name],
            end_states=self.end_states,
            views=self.views,
            asking=self.asking,
            traced_as=self.traced_as,
            tell=tell,
        )
        return await run_trial(job, self.models[job.model.name], self.pool, scope, support)


@asynccontextmanager
async def open_executor(
    parties: RunParticipants,
    learn: Callable[[str], None],
    traced_as: str | None = None,
    opened: Callable[[Pool], None] = lambda _: None,
) -> AsyncIterator[Executor]:
    """Open sessions and models; ``opened`` is called with the sessions, before models are opened.

    Raises:
        UsageError: a model cannot be opened.
    """
    async with open_sessions(learn) as pool:
        # Servers boot while the SDKs of the models are imported.
        opened(pool)
        async with (
            open_models(parties.models) as models,
            open_models(parties.judges) as judges,
            open_players(parties.players) as players,
        ):
            executor = Executor(
                pool=pool,
                models=models,
                judges={name: JudgeModel(name, model) for name, model in judges.items()},
                players=players,
                traced_as=traced_as,
            )
            # Before any trial: a view is made of the tools that are known by then.
            await _learn_decoys(executor.views, parties.decoys_from, pool)
            yield executor


async def _learn_decoys(
    views: VariantViews, servers: tuple[ServerSpec, ...], pool: SessionPool
) -> None:
    for server in servers:
        async with pool.lend_session(server, None) as session:
            views.record_tools(server.name, session.tools)
