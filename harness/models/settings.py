"""Settings that a provider accepts, known without its SDK."""

from __future__ import annotations

from harness.models.model import get_traits
from harness.types import ModelSpec


def is_own(spec: ModelSpec) -> bool:
    """Whether ``spec`` uses the provider's own API, not a compatible endpoint."""
    service = get_traits(spec.provider).service
    # A provider of a package may host no API of its own: then a base_url is always another's.
    return spec.base_url is None if service is None else service.is_own_url(spec.base_url)


def get_temperature(spec: ModelSpec) -> float | None:
    """Return the temperature to send; ``None`` if there is none or the model would refuse it."""
    refused = get_traits(spec.provider).temperature_refused(spec)
    return None if refused else spec.temperature


def list_unsent(spec: ModelSpec) -> tuple[str, ...]:
    """Return a sentence for each configured setting that is not sent, with the reason."""
    reason = get_traits(spec.provider).temperature_refused(spec)
    return (
        (f"temperature is not sent: {reason}",) if reason and spec.temperature is not None else ()
    )
