"""Reads the data of a page as a browser does."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

_PACK = re.compile(r'<script type="text/plain" id="pack-([\w-]+)">([A-Za-z0-9+/=]*)</script>')


def packs_of(text: str) -> dict[str, Any]:
    """Return each pack of a page by its name."""
    return {
        name: json.loads(zlib.decompress(base64.b64decode(data)))
        for name, data in _PACK.findall(text)
    }


def blocks_of(text: str) -> dict[str, Any]:
    """Return each block of a page by its name; the index leads to each of them."""
    packs = packs_of(text)
    index = packs.pop("index")
    blocks = {}
    for place, pack in packs.items():
        for name, value in pack.items():
            kind, number = re.fullmatch(r"(?s)(.*?)(?:-([0-9]+))?", name).groups("0")  # type: ignore[union-attr]
            starts = [start for start in index[kind] if start[0] <= int(number)]
            assert str(starts[-1][1]) == place, name
            blocks[name] = value
    return blocks


def all_of(text: str) -> str:
    """Return a page with its data in plain JSON: what can be read in it; others as they are."""
    return text + json.dumps(blocks_of(text), ensure_ascii=False) if _PACK.search(text) else text
