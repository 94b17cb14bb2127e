"""What is known of a provider without its SDK: its service, its names, what it takes and refuses.

Configuration, estimates, ``harness models`` and ``harness lint`` read these traits, so that a
provider is described in one place: its file in `harness.models.providers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from harness.types import ModelSpec

if TYPE_CHECKING:
    from harness.models import Model

Answers: TypeAlias = Literal["llm", "baseline", "replies", "outputs"]
"""``llm``: a language model. ``baseline``: a program of ours. ``replies``: those that a run
recorded, served again. ``outputs``: what a model did elsewhere, judged without a conversation."""


def _as_written(name: str) -> tuple[str, str | None]:
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
    """What the ids of its models look like: a name of that form needs no configuration."""
    well_known: tuple[str, ...] = ()
    """Names worth offering when somebody mistypes one."""
    api_id: Callable[[str], tuple[str, str | None]] = _as_written
    """The id that the API knows for a name in use, and a note for the user where it is another."""

    def owns(self, base_url: str | None) -> bool:
        """Whether ``base_url`` is the provider's own service, and no gateway or local server."""
        try:
            own = urlsplit(self.url).hostname or ""
            host = urlsplit(base_url.strip()).hostname or "" if base_url else own
        except ValueError:
            return False
        return host == own or host.endswith(f".{own}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a provider accepts of tools."""

    provider: str
    """What messages call it."""
    longest_name: int
    """Characters of a tool name; each is one of ``a-zA-Z0-9_-``."""
    refused: tuple[str, ...]
    """Keywords that must not stand at the top of a schema."""
    key: re.Pattern[str] | None = None
    """What a top-level property may be called; ``None``: anything."""
    strict_shape: bool = False
    """Whether an object needs ``properties`` and an array ``items``."""


def _takes_any_temperature(_spec: ModelSpec) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of models."""

    opens: str | Callable[[ModelSpec], Model] | None
    """What makes a `Model` of a `ModelSpec`, or ``module:attribute`` of it, which is imported at
    its first use; ``None`` where nothing can be asked."""
    answers: Answers = "llm"
    """Who answers."""
    service: Service | None = None
    """The API that it hosts itself."""
    aliases: tuple[str, ...] = ()
    """Other names of it in a model's ``type``."""
    dialect: Dialect | None = None
    """What it accepts of tools; ``None``: anything. ``harness lint`` tells what it refuses."""
    temperature_refused: Callable[[ModelSpec], str | None] = _takes_any_temperature
    """Why a model would refuse a temperature, if it would."""
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Model id → dollars per million input and output tokens, where the price table has none."""
