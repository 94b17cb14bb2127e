"""OpenAI and every endpoint compatible with it: Ollama, vLLM, llama.cpp, gateways."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from harness.models import schema_rules
from harness.models.schema_rules import OPENAI
from harness.models.traits import Dialect, Provider, Service
from harness.types import ModelSpec

SERVICE = Service(
    url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    base_url_variable="OPENAI_BASE_URL",
    ids=re.compile(r"(?:ft:)?(?:gpt-|chatgpt-|codex-|o\d)"),
    well_known=("gpt-4o", "gpt-4o-mini", "gpt-4.1"),
)
"""OpenAI's own API."""

DIALECT = Dialect(
    provider="OpenAI",
    longest_name=64,
    refused=("allOf", "anyOf", "oneOf", "enum", "const", "not"),
    strict_shape=True,
    rules=OPENAI,
)
"""Rules of both of its APIs for tools."""
GEMINI = replace(DIALECT, provider="Gemini", rules=schema_rules.GEMINI)
"""Rules of Google's endpoint that is compatible with OpenAI's."""
LLAMA_CPP = replace(DIALECT, provider="llama.cpp", rules=schema_rules.LLAMA_CPP)
"""Rules of llama.cpp, which makes a grammar of each schema."""
COMPATIBLE = replace(DIALECT, provider="A compatible endpoint", rules=schema_rules.UNKNOWN)
"""Rules for an endpoint that may be any: it gets what every one of them takes."""
_HOSTS = {"generativelanguage.googleapis.com": GEMINI, "aiplatform.googleapis.com": GEMINI}


def dialect_of(spec: ModelSpec) -> Dialect:
    """Return the rules for tools of the endpoint at which a model is asked."""
    if SERVICE.owns(spec.base_url):
        return DIALECT
    try:
        host = urlsplit(spec.base_url or "").hostname or ""
    except ValueError:
        host = ""
    found = (
        rules for known, rules in _HOSTS.items() if host == known or host.endswith(f"-{known}")
    )
    return next(found, COMPATIBLE)


PROVIDER = Provider(
    opens="harness.models.openai:open_openai",
    service=SERVICE,
    dialect=DIALECT,
    further_dialects=(GEMINI, LLAMA_CPP),
)
"""``type: openai``."""
