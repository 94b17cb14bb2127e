"""Traits of a provider, known without its SDK: its service, names, settings and schema rules.

Configuration, estimates, ``harness models`` and ``harness lint`` read these traits, so that a
provider is described in one place: its file in `harness.models.providers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from harness.models.dialects.schema_rules import NOTHING_REFUSED, SchemaRules
from harness.types import ModelSpec

if TYPE_CHECKING:
    from harness.models.model import Model

Answers: TypeAlias = Literal["llm", "baseline", "replies", "outputs"]
"""``llm``: a language model. ``baseline``: a program of ours. ``replies``: those that a run
recorded, served again. ``outputs``: what a model did elsewhere, judged without a conversation."""


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
    temperature_refused: Callable[[ModelSpec], str | None] = _takes_any_temperature
    """Why a model would refuse a temperature, if it would."""
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Model id → dollars per million input and output tokens, for models not in the price table."""
