"""Models behind OpenAI's two APIs: opens the one that the configuration names."""

from __future__ import annotations

from harness.models.model import Model
from harness.models.openai_chat import OpenAIChat
from harness.models.openai_responses import OpenAIResponses
from harness.types import ModelSpec


def open_openai(spec: ModelSpec) -> Model:
    """Return the model for the API that ``spec`` names.

    Raises:
        UsageError: the configuration cannot work: no key, or no web address.
    """
    return OpenAIResponses(spec) if spec.api == "responses" else OpenAIChat(spec)
