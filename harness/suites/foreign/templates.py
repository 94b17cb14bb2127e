"""Fills in ``{{ name }}`` as promptfoo does, and refuses every other template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}")
_LEFT = re.compile(r"\{\{|\{%|\{#")
_ELSEWHERE = re.compile(r"\s*(?:file|https?|package|exec|python|huggingface):", re.IGNORECASE)
_PASSES = 5
"""How often variables are filled into each other."""


class NoFormError(ValueError):
    """A text that has no form here; it says why."""


def format_value(value: Any) -> str:
    """Return a value as JavaScript writes it into a text.

    Raises:
        NoFormError: it is a list, a mapping or nothing.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**21:
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    raise NoFormError("a list, a mapping or an empty value is no text")


def fill_template(text: str, values: Mapping[str, Any]) -> str:
    """Return ``text`` with the ``values`` filled in.

    Raises:
        NoFormError: a placeholder is left, or the text stands in another file.
    """
    if _ELSEWHERE.match(text):
        raise NoFormError(f"{text.strip()[:60]!r} stands elsewhere")
    if left := _LEFT.search(_NAME.sub("", text)):
        raise NoFormError(f"the template {text[left.start() :][:40]!r} is more than a name")
    return _NAME.sub(lambda found: _find_value(found[1], values), text)


def resolve_variables(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with the names in their texts filled in.

    Raises:
        NoFormError: as `fill_template`.
    """
    found = dict(values)
    for _ in range(_PASSES):
        if not any(isinstance(one, str) and _LEFT.search(one) for one in found.values()):
            break
        found = {
            name: fill_template(one, found) if isinstance(one, str) else one
            for name, one in found.items()
        }
    for name, value in found.items():
        if isinstance(value, str) and _ELSEWHERE.match(value):
            raise NoFormError(f"the variable {name!r} stands elsewhere: {value[:60]!r}")
        if isinstance(value, str) and _LEFT.search(value):
            raise NoFormError(f"the variable {name!r} keeps a placeholder: {value[:60]!r}")
    return found


def has_placeholder(value: Any) -> bool:
    """Whether a placeholder is left anywhere in ``value``."""
    if isinstance(value, dict):
        return any(has_placeholder(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(map(has_placeholder, value))
    return isinstance(value, str) and _LEFT.search(value) is not None


def _find_value(name: str, values: Mapping[str, Any]) -> str:
    value: Any = values
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise NoFormError(f"no variable fills {{{{{name}}}}}")
        value = value[step]
    try:
        # As JavaScript writes a list, if it is not one test for each item.
        return ",".join(map(format_value, value if isinstance(value, list) else [value]))
    except NoFormError as error:
        raise NoFormError(f"{{{{{name}}}}}: {error}") from None
