"""Fields and values that run logs and reports write otherwise than the code has them.

A log's words never change, so that every version reads every log. Where the code has a better word
now, the noun declares here which word is written instead. What few records have is written for
these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from operator import eq
from typing import Any


def log_as(name: str) -> dict[str, str]:
    """Return the ``metadata`` of a dataclass field that logs call ``name``."""
    return {"alias": name}  # pydantic, which reads and writes the lines of a log, looks for it


def left_out_if(default: Any) -> dict[str, Callable[[Any], bool]]:
    """Return the ``metadata`` of a dataclass field that is not written if it has its default."""
    return {"exclude_if": partial(eq, default)}  # pydantic looks for it, too


def written_fields(value: Any) -> dict[str, Any]:
    """Return the fields of the dataclass ``value`` under a log's names and in a log's words."""
    return {
        str(one.metadata.get("alias", one.name)): one.metadata.get("written", _keep_value)(content)
        for one in fields(value)
        if not one.metadata.get("exclude_if", _is_never_excluded)(
            content := getattr(value, one.name)
        )
    }


def _keep_value(value: Any) -> Any:
    return value


def _is_never_excluded(_: Any) -> bool:
    return False


class LogWords:
    """Members of a ``Literal`` that are written as another word; stands in its ``Annotated``."""

    def __init__(self, words: Mapping[str, str]) -> None:
        """Write each key of ``words`` as its value, and read it back."""
        self._written = dict(words)
        self._read = {word: name for name, word in words.items()}

    @property
    def metadata(self) -> dict[str, Callable[[str | None], str | None]]:
        """The ``metadata`` of a dataclass field that holds such a value."""
        return {"written": self.to_log_word}

    def to_log_word(self, value: str | None) -> str | None:
        """Return the word that stands for ``value`` in logs and reports."""
        return value if value is None else self._written.get(value, value)

    def _from_log_word(self, value: Any) -> Any:
        return self._read.get(value, value) if isinstance(value, str) else value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Tell pydantic how a log holds the value."""
        from pydantic_core import core_schema  # slow to load, and many commands touch no log

        return core_schema.no_info_before_validator_function(
            self._from_log_word,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(self.to_log_word),
        )
