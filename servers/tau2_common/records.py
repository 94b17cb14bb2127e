"""Records that a tool makes of its arguments; pydantic checks them and words the errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

_R = TypeVar("_R", bound=BaseModel)


def made_into(kind: type[_R], values: Iterable[Any]) -> list[_R]:
    """Return a record of that kind for each of ``values``.

    Values that are not all objects are left as they are: whoever asks one for a field will find
    out.

    Raises:
        pydantic.ValidationError: an object lacks a field or has a wrong one.
    """
    if all(isinstance(value, dict) for value in values):
        return [kind(**value) for value in values]
    return values  # type: ignore[return-value]


def plain(value: Any) -> Any:
    """Return a record, or a list of them, as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    return [plain(part) for part in value] if isinstance(value, list) else value


def ordered(record: dict[str, Any], *first: str) -> dict[str, Any]:
    """Return ``record`` with its keys among ``first`` in front; the others keep their order."""
    return {key: record[key] for key in (*(key for key in first if key in record), *record)}
