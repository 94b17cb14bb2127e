"""Models of Gemini: OpenAI's Chat Completions at Google's address, with Google's rules."""

from __future__ import annotations

from dataclasses import replace

from harness.models.model import Model
from harness.models.openai_chat import OpenAIChat
from harness.models.providers.gemini import SERVICE
from harness.types import ModelSpec


def open_gemini(spec: ModelSpec) -> Model:
    """Return the model.

    Raises:
        UsageError: the configuration cannot work: no key, or no web address.
    """
    # The address decides on the rules for tools, which are Google's also behind a gateway.
    return OpenAIChat(replace(spec, base_url=spec.base_url or SERVICE.url))
