"""Which configured settings a provider takes: known without its SDK, so that they can be listed at once."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from harness.types import ModelSpec

OWN_URLS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""Where a provider's own API is."""
_REASONS = re.compile(r"(?:^|/)(?:o\d|gpt-[5-9](?!\d))(?!.*chat)")


def is_own(spec: ModelSpec) -> bool:
    """Whether ``spec`` means the provider's own API, and not a compatible one elsewhere."""
    own = OWN_URLS.get(spec.provider, "")
    return (
        spec.base_url is None or urlsplit(spec.base_url.strip()).hostname == urlsplit(own).hostname
    )


def is_reasoning(spec: ModelSpec) -> bool:
    """Whether this is one of OpenAI's reasoning models, by its name, also behind a gateway's prefix."""
    return spec.provider == "openai" and _REASONS.search(spec.model_id) is not None


def temperature(spec: ModelSpec) -> float | None:
    """Return the temperature that is sent; ``None`` where there is none, or the model would refuse it."""
    return None if _temperature_refused(spec) else spec.temperature


def unsent(spec: ModelSpec) -> tuple[str, ...]:
    """Return a sentence for each configured setting that is not sent, with the reason."""
    reason = _temperature_refused(spec)
    return (
        (f"temperature is not sent: {reason}",) if reason and spec.temperature is not None else ()
    )


def _temperature_refused(spec: ModelSpec) -> str | None:
    """Return why a temperature would be refused, if it would."""
    if is_reasoning(spec):
        return f"{spec.model_id} is a reasoning model, and these take none"
    versions = [
        value for name, value in spec.headers.items() if name.lower() == "anthropic-version"
    ]
    if spec.provider == "anthropic" and all(version >= "2026" for version in versions):
        return "Anthropic's API takes none since its version 2026-10-21"
    return None
