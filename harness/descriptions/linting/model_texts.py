"""Every text of a tool list that reaches a model, and what may be read in it."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.base import LOOKALIKES, list_readings, without_hidden
from harness.types import Tool, ToolList

_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_BASE64 = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{24,}={0,2}(?![\w+/=])")
_LETTER_BY_LETTER = re.compile(r"(?<!\w)\w(?:[ ._-]\w){2,}(?!\w)")


class ModelText(NamedTuple):
    """One text that a model is shown."""

    tool: str | None
    """The tool that it is of; ``None`` for the server's instructions."""
    place: str
    """Where it stands, as the subject of a sentence."""
    parameter: str
    """Path of the parameter that it is about; empty if it is about none."""
    text: str
    """The text."""


def iterate_texts(tools: ToolList) -> Iterator[ModelText]:
    """Yield the texts of ``tools``: instructions, titles, descriptions, and all of the schemas."""
    for server, text in tools.instructions.items():
        yield ModelText(None, f"The instruction text of {server}", "", text)
    for tool in tools.tools:
        yield ModelText(tool.name, "Its name", "", tool.name)
        yield ModelText(tool.name, "Its title", "", tool.title or "")
        yield ModelText(tool.name, "Its description", "", tool.description)
        for text, path in _iterate_schema(tool.input_schema):
            place = f"The schema of {path}" if path else "Its schema"
            yield ModelText(tool.name, place, path, text)
        for text, _ in _iterate_schema(tool.output_schema or {}):
            yield ModelText(tool.name, "Its output schema", "", text)


def _iterate_schema(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every text in ``schema``, names included, with the path of its parameter."""
    # A stack of its own: a schema may be nested deeper than Python calls.
    waiting: list[tuple[Any, str, bool]] = [(schema, "", False)]
    while waiting:
        part, path, holds_names = waiting.pop()
        if isinstance(part, str):
            yield part, path
        elif isinstance(part, Mapping):
            for key, value in part.items():
                below = f"{path}.{key}".strip(".") if holds_names else path
                yield str(key), below
                waiting.append((value, below, key == "properties" and not holds_names))
        elif isinstance(part, Sequence):
            waiting += [(one, path, False) for one in part]


def list_hidden_readings(text: str) -> tuple[str, ...]:
    """Return ``text``, and what a model may read in it that a person does not see at once.

    That is: without marks and invisible characters, with Latin letters for those that look like
    them, what is written letter by letter or in Unicode's invisible twins of ASCII, and base64.
    """
    readings = [*list_readings(text)]
    if not text.isascii():
        shown = unicodedata.normalize("NFKC", without_hidden(text))
        readings += [shown, shown.translate(LOOKALIKES), decode_tags(text)]
    if _LETTER_BY_LETTER.search(text):
        readings.append(_LETTER_BY_LETTER.sub(lambda found: re.sub(r"[ ._-]", "", found[0]), text))
    if "_" in text and " " not in text:
        readings.append(text.replace("_", " "))  # a name that is a sentence
    readings += map(_decode_base64, _BASE64.findall(text))
    return tuple(dict.fromkeys(filter(None, readings)))


def decode_tags(text: str) -> str:
    """Return what the invisible twins of ASCII characters in ``text`` say."""
    return " ".join(
        "".join(chr(ord(tag) - 0xE0000) for tag in found) for found in _TAGS.findall(text)
    )


def _decode_base64(code: str) -> str:
    try:
        return base64.b64decode(code + "=" * (-len(code) % 4)).decode()
    # A long word or a key: nobody can read anything in it.
    except (binascii.Error, UnicodeDecodeError):
        return ""


def list_own_names(tool: Tool) -> Iterator[str]:
    """Yield the names of a tool and of its parameters."""
    yield tool.name
    properties = tool.input_schema.get("properties")
    yield from properties if isinstance(properties, Mapping) else ()
