"""Opens models for the duration of a block."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from harness.models import Model, get_traits, open_model
from harness.runner.agents.subject import AgentModel
from harness.runner.recordings.recorded_outputs import RecordedModel
from harness.types import ModelSpec


@asynccontextmanager
async def open_models(specs: tuple[ModelSpec, ...]) -> AsyncIterator[dict[str, Model]]:
    """Yield every model by name, opened in a thread: importing an SDK is slow."""
    models: dict[str, Model] = {}
    try:
        # Inside the block that closes: one that cannot be opened must not leave the others open.
        for spec in specs:
            models[spec.name] = await anyio.to_thread.run_sync(_open_model, spec)
        yield models
    finally:
        # Shielded, because a cancelled run would leave here with its connections open.
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_S):
            for model in models.values():
                await model.aclose()


def _open_model(spec: ModelSpec) -> Model:
    if spec.agent is not None:
        return AgentModel()
    recorded = get_traits(spec.provider).answers == "outputs"
    return RecordedModel(spec) if recorded else open_model(spec)


_CLOSE_S = 2.0
"""Seconds to close idle connections, so that an unresponsive peer does not delay the end."""
