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
    """Return each block of a page by its name, as the index says."""
    packs = packs_of(text)
    index = packs.pop("index")
    assert sorted(name for pack in packs.values() for name in pack) == sorted(index)
    return {name: packs[str(place)][name] for name, place in index.items()}


def all_of(text: str) -> str:
    """Return a page with its data in plain JSON: what can be read in it; others as they are."""
    return text + json.dumps(blocks_of(text), ensure_ascii=False) if _PACK.search(text) else text
