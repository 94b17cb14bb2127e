"""What a model is told before it is asked: ``ingest`` of a test, and the turns that come of it.

Each chunk is told in a conversation of its own. What the model has to say later must therefore have
gone through the server: it was stored there, and it is looked up there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from harness.documents.fields import Field, as_list, found
from harness.errors import InvalidValue
from harness.types import Limits, Turn

Session: TypeAlias = tuple[str, ...]
"""What is told in one conversation, message by message."""

CHUNK = "{chunk}"
"""Where a chunk stands in a prompt that tells it."""

INGEST_PROMPT = (
    f"Remember what follows. You will be asked about it later, in another conversation.\n\n{CHUNK}"
)
"""How a chunk is told where nobody says otherwise."""

MAX_CHUNKS = 10_000
"""Chunks of one case; more are a mistake."""


def sessions(value: Any) -> tuple[Session, ...]:
    """Return what is told, conversation by conversation: each item a text, or a list of texts.

    Raises:
        InvalidValue: with the path to what does not fit.
    """
    items = as_list(value)
    if not items:
        raise InvalidValue(
            "there are no chunks", meant="Write a list of texts, or leave the key out."
        )
    read = tuple(_session(item, (place,)) for place, item in enumerate(items))
    if sum(map(len, read)) > MAX_CHUNKS:
        raise InvalidValue(
            f"there are {sum(map(len, read)):,} chunks; at most {MAX_CHUNKS:,} fit a test"
        )
    return read


def _session(item: Any, path: tuple[int, ...]) -> Session:
    if not isinstance(item, list):
        return (_chunk(item, path),)
    if not item:
        raise InvalidValue("this conversation has no chunks", path=path)
    return tuple(_chunk(each, (*path, place)) for place, each in enumerate(item))


def _chunk(item: Any, path: tuple[int, ...]) -> str:
    if not isinstance(item, str):
        meant = "Quote it." if isinstance(item, int | float) else None
        raise InvalidValue(f"expected a text, found {found(item)}", path=path, meant=meant)
    if not item.strip():
        raise InvalidValue("this chunk is empty", path=path)
    return item


def template(value: Any, placeholder: str = CHUNK) -> str:
    """Return a prompt that has the ``placeholder`` in it.

    Raises:
        InvalidValue: it has none, or is no text.
    """
    if not isinstance(value, str):
        raise InvalidValue(f"expected a text, found {found(value)}")
    if placeholder not in value:
        raise InvalidValue(
            f"it has no {placeholder}", meant=f"Write {placeholder} where the text belongs."
        )
    return value


def ingest_turns(told: Sequence[Session], prompt: str = INGEST_PROMPT) -> tuple[Turn, ...]:
    """Return the turns in which ``told`` is told, each conversation a fresh one."""
    return tuple(
        Turn(prompt=prompt.replace(CHUNK, chunk), fresh=place == 0, ingest=True)
        for chunks in told
        for place, chunk in enumerate(chunks)
    )


def roomy(limits: Limits, turns: Sequence[Turn], given: Collection[str] = ()) -> Limits:
    """Return ``limits`` that hold for each turn, those of the names in ``given`` as they stand."""
    usual = Limits()
    return replace(
        limits,
        max_replies=limits.max_replies
        if "max_replies" in given
        else usual.max_replies * len(turns),
        max_calls=limits.max_calls if "max_calls" in given else usual.max_calls * len(turns),
    )


INGEST = Field(
    schema={
        "type": "array",
        "minItems": 1,
        "items": {
            "anyOf": [
                {"type": "string", "pattern": r"\S"},
                {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": r"\S"}},
            ]
        },
        "description": "Texts that the model is told before 'turns:' ask about them, each in a "
        "conversation of its "
        "own; those of a list within the list in one.",
    },
    parse=sessions,
)
"""``ingest`` of a test."""

INGEST_PROMPT_FIELD = Field(
    schema={
        "type": "string",
        "pattern": r"\{chunk\}",
        "description": "How each text of 'ingest:' is told; {chunk} stands for it.",
        "default": INGEST_PROMPT,
    },
    parse=template,
)
"""``ingest_prompt`` of a test."""
