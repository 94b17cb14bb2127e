"""The data of a page in few bytes: blocks of JSON, compressed together, inside script elements.

A block is found by its name; those of one kind have rising numbers (``case-data-17``). Blocks that
follow each other share a *pack*, which a page unpacks by itself (``DecompressionStream``) when it
needs one of them, without a network and without markup.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from harness.base import KNOWN

PACK = 400_000
"""Characters of JSON after which a pack ends: more would make the first look at a case slow."""
INDEX = "index"
"""The pack, written last, with the packs of each kind of block: ``[first number, pack]`` each."""


_NUMBERED = re.compile(r"(.*)-([0-9]+)", re.DOTALL)


def pack_blocks(blocks: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Yield the elements with ``blocks``, pairs of name and JSON value; equal ones, equal bytes.

    The first block has a pack of its own: a page shows it at once.
    """
    packs: dict[str, list[tuple[int, int]]] = {}
    last: dict[str, int] = {}
    waiting: list[str] = []
    number = size = 0
    for name, value in blocks:
        text = f"{json.dumps(name)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        if waiting and (number == 0 or size + len(text) > PACK):
            yield _format_element(str(number), waiting)
            waiting, size, number = [], 0, number + 1
        waiting.append(text)
        size += len(text)
        found = _NUMBERED.fullmatch(name)
        kind, place = (found[1], int(found[2])) if found else (name, 0)
        assert place > last.get(kind, -1), name
        last[kind] = place
        of_kind = packs.setdefault(kind, [])
        if not of_kind or of_kind[-1][1] != number:
            of_kind.append((place, number))
    if waiting:
        yield _format_element(str(number), waiting)
    index = json.dumps(packs, separators=(",", ":"))
    yield _format_element(INDEX, [index.removeprefix("{").removesuffix("}")])


def _format_element(name: str, members: Iterable[str]) -> str:
    """Return a pack; the letters of base64 need no escape in a page."""
    # Nobody finds a secret in what is compressed. Half of a surrogate pair is in no UTF-8.
    text = KNOWN.redact_json_text(f"{{{','.join(members)}}}").encode("utf-8", "replace")
    # The best first; another level only serves to get other letters, where those look like a key by
    # chance: the output would redact it.
    packed = (base64.b64encode(zlib.compress(text, level)).decode() for level in range(9, -1, -1))
    data = next((data for data in packed if KNOWN.redact_text(data) == data), "")
    return f'<script type="text/plain" id="pack-{name}">{data}</script>\n'
