"""OpenAI and every endpoint compatible with it: Ollama, vLLM, llama.cpp, gateways."""

from __future__ import annotations

import re

from harness.models.traits import Dialect, Provider, Service

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
)
"""``type: openai``."""
