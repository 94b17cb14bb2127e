"""Models: one file for each provider in `harness.models.providers`, found through `PROVIDERS`.

To add a provider, write a class that satisfies `Model` and takes a `ModelSpec`, and a `Provider`
that opens it: in a file of that folder, or under the entry-point group ``harness.models``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.base import Registry, UsageError, find_members
from harness.models.tool_text.permission import Leave
from harness.models.traits import Provider
from harness.types import Message, ModelSpec, Reply, ToolList


class Model(Protocol):
    """One configured model, shared by all trials of a run."""

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply to the whole ``conversation``.

        Retries transient failures, within the deadline of the surrounding cancel scope
        (`anyio.current_effective_deadline`).

        Raises:
            ModelError: there is no usable reply.
        """
        ...

    async def aclose(self) -> None:
        """Close connections. Never raises; call it once."""
        ...


@runtime_checkable
class PerTrialModel(Protocol):
    """A model with a state for each trial, such as a replay of recorded replies."""

    def for_trial(self, label: str) -> Model:
        """Return the model for the trial of that label (``suite::case#repeat``)."""
        ...


@runtime_checkable
class CautiousModel(Protocol):
    """A model of our own, which calls nothing that may change something without leave."""

    def with_leave(self, leave: Leave) -> Model:
        """Return the model for a case in which ``leave`` allows more than reading."""
        ...


PROVIDERS: Registry[Provider | Callable[[ModelSpec], Model]] = Registry(
    "harness.models",
    "provider",
    find_members(Path(__file__).with_name("providers"), "harness.models.providers", "PROVIDER"),
)
"""Provider name → its traits, or a function of a package that makes a `Model` of a `ModelSpec`."""


def get_traits(name: str) -> Provider:
    """Return the traits of the provider of that name; default traits if it is not available.

    `unknown_provider` says why it is not.
    """
    try:
        member = PROVIDERS.get(name)
    # The traits are asked for in listings, too, which one broken package must not end.
    except UsageError:
        member = None
    return member if isinstance(member, Provider) else Provider(opens=member)


def list_built_in_providers() -> dict[str, Provider]:
    """Return the traits of the providers that come with harness, by name.

    Those of other packages are read only when one is named: reading them runs their code.
    """
    return {name: get_traits(name) for name in PROVIDERS.built_in_names}


def unknown_provider(spec: ModelSpec) -> UsageError | None:
    """Return the error if ``spec`` has no known provider, with the place of its ``type``."""
    try:
        PROVIDERS.get(spec.provider)
    except UsageError as unknown:
        source = spec.sources.get("type")
        place = f"{source}: " if source and ":" in source else ""
        return UsageError(f"{place}model {spec.name!r}: {unknown.message}", meant=unknown.meant)
    return None


def open_model(spec: ModelSpec) -> Model:
    """Return the model that ``spec`` describes, importing its SDK if this is its first use.

    Raises:
        UsageError: its provider is unknown, or it is a recording without a model.
    """
    member = PROVIDERS.get(spec.provider)
    opens = member.opens if isinstance(member, Provider) else member
    if opens is None:
        raise UsageError(f"model {spec.name!r} is a recording and cannot answer")
    if isinstance(opens, str):
        module, attribute = opens.split(":")
        # Only here: an SDK takes up to a second to import, which a run without it need not pay.
        opens = getattr(import_module(module), attribute)
    return opens(spec)
