"""OpenAI and every endpoint compatible with it: Ollama, vLLM, llama.cpp, gateways."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from harness.models.dialects import schema_rules
from harness.models.dialects.schema_rules import OPENAI
from harness.models.model import Dialect, Provider, Service
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
    most_tools=128,
    rules=OPENAI,
)
"""Rules of both of its APIs for tools."""
GEMINI = replace(
    DIALECT, provider="Gemini", rules=schema_rules.GEMINI, letter_first=True, most_tools=None
)
"""Rules of Google's endpoint that is compatible with OpenAI's."""
VERTEX = replace(GEMINI, rules=schema_rules.VERTEX)
"""Rules of Vertex AI, and of a gateway that may ask it for a model of Gemini's."""
HOSTED = replace(DIALECT, provider="A compatible endpoint", rules=schema_rules.HOSTED)
"""Rules of services in the web, which run no llama.cpp."""
LLAMA_CPP = replace(DIALECT, provider="llama.cpp", rules=schema_rules.LLAMA_CPP, most_tools=None)
"""Rules of llama.cpp, which makes a grammar of each schema."""
COMPATIBLE = replace(DIALECT, provider="A compatible endpoint", rules=schema_rules.UNKNOWN)
"""Rules for an endpoint that may be any: it gets what every one of them takes."""
_HOSTS = {
    "generativelanguage.googleapis.com": GEMINI,
    "aiplatform.googleapis.com": VERTEX,
    **dict.fromkeys(
        ("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"), DIALECT
    ),
    **dict.fromkeys(("openrouter.ai", "api.groq.com", "api.mistral.ai"), HOSTED),
    **dict.fromkeys(("api.deepseek.com", "api.x.ai", "api.together.xyz"), HOSTED),
    "api.fireworks.ai": HOSTED,
}
_A_GEMINI = re.compile(r"(?:^|[/:.@])gemini\b", re.IGNORECASE)
"""A model's id at a gateway: ``google/gemini-2.5-pro``, ``vertex_ai/gemini-2.5-flash``."""


def get_dialect(spec: ModelSpec) -> Dialect:
    """Return the rules for tools of the endpoint at which a model is asked."""
    if SERVICE.is_own_url(spec.base_url):
        return DIALECT
    try:
        host = urlsplit((spec.base_url or "").strip()).hostname or ""
    except ValueError:
        host = ""
    known = (
        rules
        for name, rules in _HOSTS.items()
        # Vertex AI puts the region before its host with a dash: us-central1-aiplatform.
        if host == name or host.endswith((f".{name}", f"-{name}"))
    )
    found = next(known, COMPATIBLE)
    # A gateway hands a schema on: the rules are those of the model behind it.
    is_any = found in (HOSTED, COMPATIBLE)
    return VERTEX if is_any and _A_GEMINI.search(spec.model_id) else found


PROVIDER = Provider(
    opens="harness.models.openai:open_openai",
    service=SERVICE,
    dialect=DIALECT,
    takes=("image", "file"),
    hears=True,
    further_dialects=(GEMINI, LLAMA_CPP),
)
"""``type: openai``."""
