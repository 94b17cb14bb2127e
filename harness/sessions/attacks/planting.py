"""Puts texts into a result: into fields of its JSON, or behind a text without any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from harness.sessions.faults.alterations import AlteredAnswer, alter_values
from harness.types import ToolCall

_Leaf: TypeAlias = tuple[tuple[str | int, ...], str]


def plant_texts(call: ToolCall, texts: Sequence[str], field: str | None) -> AlteredAnswer | None:
    """Return the answer of ``call`` with ``texts`` in its fields; ``None`` if it has no such field.

    ``field`` is the name of the field, where ``*`` stands for any letters; without one, the longest
    text is taken. Several texts go into as many fields, the last ones together if there are fewer.
    """

    def change(value: Any) -> Any:
        leaves = _choose_leaves(value, field, len(texts))
        for number, (path, found) in enumerate(leaves):
            last = number == len(leaves) - 1
            added = texts[number:] if last else texts[number : number + 1]
            value = _replace_leaf(value, path, " ".join((found, *added)).strip())
        return value

    def reword(text: str) -> str:
        return text if field is not None else "\n".join((text, *texts)).strip()

    altered = alter_values(call, change, reword)
    return None if altered.text == call.text else altered


def _choose_leaves(value: Any, field: str | None, most: int) -> list[_Leaf]:
    """Return the first fields of that name, or the longest texts, in the order of the result."""
    leaves = list(_iterate_texts(value, ()))
    if field is not None:
        return [leaf for leaf in leaves if any(_is_named(step, field) for step in leaf[0][-2:])][
            :most
        ]
    longest = sorted(range(len(leaves)), key=lambda place: -len(leaves[place][1]))[:most]
    return [leaves[place] for place in sorted(longest)]


def _is_named(step: str | int, field: str) -> bool:
    return isinstance(step, str) and fnmatchcase(step, field)


def _iterate_texts(value: Any, path: tuple[str | int, ...]) -> Iterator[_Leaf]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _iterate_texts(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _iterate_texts(part, (*path, number))


def _replace_leaf(value: Any, path: Sequence[str | int], text: str) -> Any:
    if not path:
        return text
    step, *rest = path
    if isinstance(value, Mapping):
        return {
            key: _replace_leaf(part, rest, text) if key == step else part
            for key, part in value.items()
        }
    return [
        _replace_leaf(part, rest, text) if number == step else part
        for number, part in enumerate(value)
    ]
