"""The results of the tools: output schemas, field by field."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

# `typing.TypedDict` is one that pydantic cannot read before Python 3.12.
from typing_extensions import TypedDict

from ..common.toolkit import closed

Id: TypeAlias = Annotated[
    int, Field(description="Number of the entry, by which it is updated or removed.")
]


@closed
class Status(TypedDict):
    """What was done."""

    status: str


@closed
class Value(TypedDict):
    """What stands under a key."""

    value: str


@closed
class Keys(TypedDict):
    """All keys, in the order in which they came."""

    keys: list[str]


@closed
class RankedKey(TypedDict):
    """A key, and how well it fits."""

    score: Annotated[
        float, Field(description="BM25+; higher is better, 0 means no word in common.")
    ]
    key: str


@closed
class RankedKeys(TypedDict):
    """Keys, the best first."""

    ranked_results: list[RankedKey]


@closed
class Pairs(TypedDict):
    """All keys with their values."""

    entries: dict[str, str]


@closed
class Added(TypedDict):
    """The number of a new entry."""

    id: Id


@closed
class Numbered(TypedDict):
    """An entry."""

    id: Id
    text: str


@closed
class Similar(TypedDict):
    """An entry, and how near it is to what was looked for."""

    id: Id
    similarity_score: Annotated[float, Field(description="Cosine, from 0 to 1; higher is nearer.")]
    text: str


@closed
class AllNumbered(TypedDict):
    """All entries."""

    result: list[Numbered]


@closed
class AllSimilar(TypedDict):
    """Entries, the nearest first."""

    result: list[Similar]


@closed
class Content(TypedDict):
    """The one text."""

    memory_content: str
