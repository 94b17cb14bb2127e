"""The interface to a model: what a client of an LLM must do, its traits and its settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable
from urllib.parse import urlsplit

from harness.base import Registry, UsageError, find_members
from harness.models.dialects.schema_rules import NOTHING_REFUSED, SchemaRules
from harness.models.tool_text.permission import Leave
from harness.types import MediaKind, Message, ModelSpec, Reply, ToolList, dataclass

Answers: TypeAlias = Literal["llm", "baseline", "function", "replies", "outputs", "nothing"]
"""``llm``: a language model. ``baseline``: a program of ours. ``function``: the user's
own code. ``replies``: those that a run
recorded, served again. ``outputs``: what a model did elsewhere, judged without a conversation.
``nothing``: no model is asked."""


def _keep_name(name: str) -> tuple[str, str | None]:
    return name, None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The API that a provider hosts itself."""

    url: str
    """Its root."""
    key_variable: str
    """The environment variable that usually holds the key."""
    base_url_variable: str
    """The environment variable that usually names another endpoint."""
    ids: re.Pattern[str]
    """Pattern of its model ids: a name of that form needs no configuration."""
    well_known: tuple[str, ...] = ()
    """Names to suggest for a misspelt one."""
    key_optional: bool = False
    """Whether its SDK may find other credentials of the cloud where there is no key."""
    api_id: Callable[[str], tuple[str, str | None]] = _keep_name
    """Returns the API's id for a name in use, and a note for the user if it differs."""

    def is_own_url(self, base_url: str | None) -> bool:
        """Whether ``base_url`` is the provider's own service, not a gateway or local server."""
        try:
            own = urlsplit(self.url).hostname or ""
            host = urlsplit(base_url.strip()).hostname or "" if base_url else own
        except ValueError:
            return False
        # Regions and organisations have hosts below that of the service.
        return host == own or host.endswith(f".{own}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A provider's rules for tools."""

    provider: str
    """Its name for messages."""
    longest_name: int
    """Most characters of a tool name; each is one of ``a-zA-Z0-9_-``."""
    refused: tuple[str, ...]
    """Keywords that are not allowed at the top of a schema."""
    key: re.Pattern[str] | None = None
    """Pattern of top-level property names; ``None``: any."""
    letter_first: bool = False
    """Whether a tool name must begin with a letter or ``_``."""
    most_tools: int | None = None
    """Most tools in one request."""
    strict_shape: bool = False
    """Whether an object needs ``properties`` and an array ``items``."""
    rules: SchemaRules = NOTHING_REFUSED
    """What it refuses at any depth of a schema."""


def _takes_any_temperature(_spec: ModelSpec) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of models."""

    opens: str | Callable[[ModelSpec], Model] | None
    """Makes a `Model` of a `ModelSpec`; may be ``module:attribute``, imported on first use.

    ``None`` if there is no model to ask."""
    answers: Answers = "llm"
    """The kind of its answers."""
    service: Service | None = None
    """The API that it hosts itself."""
    aliases: tuple[str, ...] = ()
    """Other names of it in a model's ``type``."""
    dialect: Dialect | None = None
    """Its rules for tools; ``None``: no rules. ``harness lint`` reports violations."""
    further_dialects: tuple[Dialect, ...] = ()
    """Rules of well-known services and programs that speak its API, for ``harness lint``."""
    takes: tuple[MediaKind, ...] = ()
    """What its own API takes beside text."""
    hears: bool = False
    """Whether its client can send sound."""
    temperature_refused: Callable[[ModelSpec], str | None] = _takes_any_temperature
    """Why a model would refuse a temperature, if it would."""
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Model id → dollars per million input and output tokens, for models not in the price table."""


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


def is_own(spec: ModelSpec) -> bool:
    """Whether ``spec`` uses the provider's own API, not a compatible endpoint."""
    service = get_traits(spec.provider).service
    # A provider of a package may host no API of its own: then a base_url is always another's.
    return spec.base_url is None if service is None else service.is_own_url(spec.base_url)


def get_temperature(spec: ModelSpec) -> float | None:
    """Return the temperature to send; ``None`` if there is none or the model would refuse it."""
    refused = get_traits(spec.provider).temperature_refused(spec)
    return None if refused else spec.temperature


def get_taken_kinds(spec: ModelSpec) -> frozenset[MediaKind]:
    """Return what the model is given beside text."""
    traits = get_traits(spec.provider)
    kinds = traits.takes if spec.takes is None and is_own(spec) else spec.takes or ()
    return frozenset(kinds) - ({"audio"} if _cannot_hear(spec) else frozenset())


def _cannot_hear(spec: ModelSpec) -> bool:
    return spec.api == "responses" or not get_traits(spec.provider).hears


def list_unsent(spec: ModelSpec) -> tuple[str, ...]:
    """Return a sentence for each configured setting that is not sent, with the reason."""
    reason = get_traits(spec.provider).temperature_refused(spec)
    unsent = []
    if reason and spec.temperature is not None:
        unsent.append(f"temperature is not sent: {reason}")
    if "audio" in (spec.takes or ()) and _cannot_hear(spec):
        unsent.append("audio is not sent: harness knows no form for it in this API")
    return tuple(unsent)
