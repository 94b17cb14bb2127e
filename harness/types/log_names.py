"""Fields that run logs write only where they say something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from operator import eq
from typing import Any


def left_out_if(default: Any) -> dict[str, Callable[[Any], bool]]:
    """Return the ``metadata`` of a dataclass field that is not written if it has its default."""
    return {"exclude_if": partial(eq, default)}  # pydantic looks for it, too


def written_fields(value: Any) -> dict[str, Any]:
    """Return the fields of the dataclass ``value`` that a log writes."""
    return {
        field.name: content
        for field in fields(value)
        if not field.metadata.get("exclude_if", _is_never_excluded)(
            content := getattr(value, field.name)
        )
    }


def _is_never_excluded(_: Any) -> bool:
    return False
