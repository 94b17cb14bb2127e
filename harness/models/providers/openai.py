"""OpenAI and every endpoint compatible with it: Ollama, vLLM, llama.cpp, gateways."""

from __future__ import annotations

import re

from harness.models.traits import Dialect, Provider, Service
from harness.types import ModelSpec

_REASONS = re.compile(r"(?:^|/)(?:o\d|gpt-[5-9](?!\d))(?!.*chat)")


def is_reasoning(spec: ModelSpec) -> bool:
    """Whether this is a reasoning model, by its name, which may have a gateway's prefix."""
    return _REASONS.search(spec.model_id) is not None


def _temperature_refused(spec: ModelSpec) -> str | None:
    return (
        f"{spec.model_id} is a reasoning model, and these take none" if is_reasoning(spec) else None
    )


DIALECT = Dialect(
    provider="OpenAI",
    longest_name=64,
    refused=("allOf", "anyOf", "oneOf", "enum", "const", "not"),
    strict_shape=True,
)
"""Rules of both of its APIs for tools."""

PROVIDER = Provider(
    opens="harness.models.openai:open_openai",
    service=Service(
        url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        base_url_variable="OPENAI_BASE_URL",
        ids=re.compile(r"(?:ft:)?(?:gpt-|chatgpt-|codex-|o\d)"),
        well_known=("gpt-4o", "gpt-4o-mini", "gpt-4.1"),
    ),
    dialect=DIALECT,
    temperature_refused=_temperature_refused,
)
"""``type: openai``."""
