"""A model that remembers by tools: what is told it stores, what is asked it looks up."""

from __future__ import annotations

import re

from tests.fake_provider.incoming import Incoming
from tests.fake_provider.steps import Step, call, say

TELLING = "Remember what follows."
"""How a prompt begins that tells something."""
KEY_WORDS = 4


def rememberer(request: Incoming) -> Step:
    """Store what is told, and answer a question by what was found.

    Without memory tools, know nothing.
    """
    told = request.last_text.partition("\n\n")[2] if request.last_text.startswith(TELLING) else None
    if request.tool_results and _just_called(request):
        return say(
            "Noted."
            if told is not None
            else " ".join(result.text for result in request.tool_results)
        )
    if "archival_memory_update" in request.tools:
        return _vector(request.last_text, told)
    if "archival_memory_add" in request.tools:
        return _key_value(told)
    if "memory_append" in request.tools:
        return (
            call("memory_retrieve", {})
            if told is None
            else call("memory_append", {"text": f"{told}\n"})
        )
    return say("Noted." if told is not None else "I do not know.")


def _just_called(request: Incoming) -> bool:
    return request.turn > 0


def _vector(question: str, told: str | None) -> Step:
    if told is None:
        return call("archival_memory_retrieve", {"query": question})
    return call("archival_memory_add", {"text": told})


def _key_value(told: str | None) -> Step:
    if told is None:
        return call("core_memory_retrieve_all", {})
    words = re.findall(r"[a-z]+", told.lower())
    return call("core_memory_add", {"key": "_".join(words[:KEY_WORDS]), "value": told})
