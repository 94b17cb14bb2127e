"""What the trials of a run share in one process: sessions, models, judges and simulated users."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.to_thread

from harness.judging import JudgeModel
from harness.models import Model, get_traits, open_model
from harness.runner.end_state import EndStates
from harness.runner.planning.model_choice import is_replay
from harness.runner.planning.plan import Job
from harness.runner.users import RecordedUsers
from harness.runner.variants.views import VariantViews
from harness.sessions import Pool, SessionPool, open_sessions
from harness.types import ELICITING, ModelSpec, ServerSpec, dataclass

Player: TypeAlias = Model | RecordedUsers
"""The source of a user's messages: a model, or a recorded run."""

_CLOSE_S = 2.0
"""Seconds to close idle connections, so that an unresponsive peer does not delay the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """Built once from the plan, and handed to every trial; the rest is the trial's own."""

    pool: SessionPool
    """The sessions."""
    models: Mapping[str, Model]
    """The models that answer, by name."""
    judges: Mapping[str, JudgeModel] = field(default_factory=dict)
    """The models that judge, by name."""
    players: Mapping[str, Player] = field(default_factory=dict)
    """What plays users, by name."""
    traced_as: str | None = None
    """The name of the run, if its calls carry trace context; ``None``: they carry none."""
    views: VariantViews = field(default_factory=VariantViews)
    """The tool lists that models see under variants."""
    end_states: EndStates = field(default_factory=EndStates)
    """The states after reference calls, each read once."""
    _able_servers: dict[tuple[int, tuple[str, ...]], tuple[ServerSpec, ServerSpec]] = field(
        default_factory=dict
    )

    def get_server(self, job: Job) -> ServerSpec:
        """Return the server of ``job``, for a client with the abilities of its trials.

        The server may ask an agent as any client, and the user where the case has answers.

        Equal jobs get the same object, because the session pool keeps data for each.
        """
        server, agent = job.server, job.model.agent
        asks = job.trial.case.caller.elicit is not None
        own = ELICITING if asks else ()
        abilities = own if agent is None else (*own, *agent.client_can)
        if abilities == server.transport.abilities:
            return server
        made = server, server.with_abilities(abilities)
        # The server is kept alive, so that its id() is not reused.
        return self._able_servers.setdefault((id(server), abilities), made)[1]


@asynccontextmanager
async def open_context(
    models: Sequence[ModelSpec],
    judges: Sequence[ModelSpec],
    players: Sequence[ModelSpec],
    decoys_from: Sequence[ServerSpec],
    *,
    learn: Callable[[str], None],
    traced_as: str | None,
    opened: Callable[[Pool], None] = lambda _: None,
) -> AsyncIterator[RunContext]:
    """Open sessions and models; ``opened`` is called with the sessions, before models are opened.

    The tools of the servers ``decoys_from`` are only shown. ``learn`` is told of secrets that come
    up, before a line with them is written.

    Raises:
        UsageError: a model cannot be opened.
    """
    # An agent runs its own loop; a recording answers nothing new, and calls need no model.
    live = [spec for spec in models if spec.agent is None and get_traits(spec.provider).opens]
    async with open_sessions(learn) as pool:
        # Servers boot while the SDKs of the models are imported.
        opened(pool)
        async with (
            open_models(live) as answering,
            open_models(judges) as judging,
            open_models(spec for spec in players if not is_replay(spec)) as playing,
        ):
            # In a thread, because a recorded run may be a large log.
            recorded = {
                spec.name: await anyio.to_thread.run_sync(RecordedUsers, Path(spec.model_id))
                for spec in players
                if is_replay(spec)
            }
            context = RunContext(
                pool=pool,
                models=answering,
                judges={name: JudgeModel(name, model) for name, model in judging.items()},
                players={**recorded, **playing},
                traced_as=traced_as,
            )
            # Before any trial: a view is made of the tools that are known by then.
            for server in decoys_from:
                async with pool.lend_session(server, None) as session:
                    context.views.record_tools(server.name, session.tools)
            yield context


@asynccontextmanager
async def open_models(specs: Iterable[ModelSpec]) -> AsyncIterator[dict[str, Model]]:
    """Yield every model by name, opened in a thread: importing an SDK is slow."""
    models: dict[str, Model] = {}
    try:
        # Inside the block that closes: one that cannot be opened must not leave the others open.
        for spec in specs:
            models[spec.name] = await anyio.to_thread.run_sync(open_model, spec)
        yield models
    finally:
        # Shielded, because a cancelled run would leave here with its connections open.
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_S):
            for model in models.values():
                await model.aclose()
