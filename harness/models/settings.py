"""Settings that a provider accepts, known without its SDK."""

from __future__ import annotations

from harness.models.model import traits_of
from harness.types import ModelSpec


def is_own(spec: ModelSpec) -> bool:
    """Whether ``spec`` uses the provider's own API, not a compatible endpoint."""
    service = traits_of(spec.provider).service
    return spec.base_url is None if service is None else service.owns(spec.base_url)


def temperature(spec: ModelSpec) -> float | None:
    """Return the temperature to send; ``None`` if there is none or the model would refuse it."""
    refused = traits_of(spec.provider).temperature_refused(spec)
    return None if refused else spec.temperature


def unsent(spec: ModelSpec) -> tuple[str, ...]:
    """Return a sentence for each configured setting that is not sent, with the reason."""
    reason = traits_of(spec.provider).temperature_refused(spec)
    return (
        (f"temperature is not sent: {reason}",) if reason and spec.temperature is not None else ()
    )
