"""Who answers: one file a provider, found by name through `PROVIDERS`.

To add a provider, write a class that satisfies `Model` and takes a `ModelSpec`, and name it here or
under the entry-point group ``harness.models``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from harness.errors import UsageError
from harness.registry import Registry
from harness.types import Message, ModelSpec, Reply, ToolList


class Model(Protocol):
    """One configured model, shared by all trials of a run."""

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply to the whole ``conversation``.

        Retries what is worth retrying, within the deadline of the surrounding cancel scope
        (`anyio.current_effective_deadline`).

        Raises:
            ModelError: there is no usable reply.
        """
        ...

    async def aclose(self) -> None:
        """Give back connections. Never raises, may be called once."""
        ...


@runtime_checkable
class PerTrial(Protocol):
    """A model that keeps its trials apart, as one does that plays back what was recorded."""

    def for_trial(self, label: str) -> Model:
        """Return the model for the trial of that label (``suite::case#repeat``)."""
        ...


PROVIDERS: Registry[Callable[[ModelSpec], Model]] = Registry(
    "harness.models",
    "provider",
    {
        "anthropic": "harness.models.anthropic:AnthropicModel",
        "openai": "harness.models.openai:open_openai",
        "lexical": "harness.models.lexical:LexicalModel",
        "replay": "harness.models.replayed_replies:ReplayModel",
        "recorded": "harness.runner.recordings.recorded_outputs:RecordedModel",
    },
)
"""Provider name → something that makes a `Model` of a `ModelSpec`."""


def unknown_provider(spec: ModelSpec) -> UsageError | None:
    """Return what is wrong if nobody provides ``spec``, with the place of its ``type``; nothing is imported."""
    if spec.provider in PROVIDERS:
        return None
    unknown, source = PROVIDERS.unknown(spec.provider), spec.sources.get("type")
    place = f"{source}: " if source and ":" in source else ""
    return UsageError(f"{place}model {spec.name!r}: {unknown.message}", meant=unknown.meant)


def open_model(spec: ModelSpec) -> Model:
    """Return the model that ``spec`` describes, importing its SDK if this is its first use."""
    return PROVIDERS.get(spec.provider)(spec)
