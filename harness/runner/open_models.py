"""Models, opened for as long as a block lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from harness.models import Model, open_model, traits_of
from harness.runner.recordings.recorded_outputs import RecordedModel
from harness.types import ModelSpec


@asynccontextmanager
async def open_models(specs: tuple[ModelSpec, ...]) -> AsyncIterator[dict[str, Model]]:
    """Yield every model by name, opened in a thread: importing an SDK takes long and servers start meanwhile."""
    models: dict[str, Model] = {}
    try:
        for spec in specs:
            models[spec.name] = await anyio.to_thread.run_sync(_open, spec)
        yield models
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_S):
            for model in models.values():
                await model.aclose()


def _open(spec: ModelSpec) -> Model:
    recorded = traits_of(spec.provider).answers == "outputs"
    return RecordedModel(spec) if recorded else open_model(spec)


_CLOSE_S = 2.0
"""Closing idle connections is a courtesy; a peer that will not let go cannot hold us."""
