"""Argument types that several servers share, with the descriptions that a model reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Final, TypeAlias

from annotated_types import GroupedMetadata
from pydantic import AfterValidator, Field, WithJsonSchema

MOST_ROWS: Final = 50
"""No search returns more rows than this."""

Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
"""A short text."""

RowLimit: TypeAlias = Annotated[
    int,
    Field(
        ge=1,
        le=MOST_ROWS,
        description="How many rows to list at most. Totals always cover all matches.",
    ),
]
"""A bound that hides nothing from totals."""


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise ValueError(
            "this is not a date; write it as YYYY-MM-DD, for example 2025-12-31"
        ) from None


Day: TypeAlias = Annotated[
    str,
    AfterValidator(_day),
    # A pattern and no `format`: Gemini refuses every request with a tool that has "format": "date".
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
]
"""A day, as ISO 8601 text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdForm(GroupedMetadata):
    """Makes an annotated ``str`` an id such as ``EMP_0042``, in whatever case it is written."""

    prefix: str
    """The capitals before the underscore."""
    digits: int
    """How many stand after it."""
    thing: str
    """What has such ids, with its article, for errors."""
    advice: str
    """How to find an id, for errors."""

    def __iter__(self) -> Iterator[object]:
        """Yield what pydantic makes of it: the check, and the schema that models see."""
        anycase = "".join(f"[{letter}{letter.lower()}]" for letter in self.prefix)
        pattern = f"^{anycase}_[0-9]{{{self.digits}}}$"
        yield AfterValidator(self._check)
        yield WithJsonSchema({"type": "string", "pattern": pattern, "examples": [self._example()]})

    def _check(self, text: str) -> str:
        form = rf"{self.prefix}_[0-9]{{{self.digits}}}"
        if re.fullmatch(form, text.strip(), re.IGNORECASE | re.ASCII) is None:
            raise ValueError(
                f"this is not the id of {self.thing}; ids look like {self._example()}; "
                f"{self.advice}"
            )
        return text.strip().upper()

    def _example(self) -> str:
        return f"{self.prefix}_{42:0{self.digits}d}"
