"""Templates: text with attributes of a user in braces, such as ``{role}``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from harness.types import JsonObject

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def fill_template(template: str, user_context: JsonObject) -> str | None:
    """Return ``template`` with its attributes filled in; ``None`` if one is missing or null.

    A string is inserted unchanged, any other value as JSON.
    """
    if any(user_context.get(name) is None for name in _PLACEHOLDER.findall(template)):
        return None
    return _PLACEHOLDER.sub(lambda match: _format_value(user_context[match[1]]), template)


def fill_templates(templates: Mapping[str, Any], user_context: JsonObject) -> dict[str, str]:
    """Return the filled templates by name, without those that lack an attribute."""
    texts = {name: fill_template(str(text), user_context) for name, text in templates.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
