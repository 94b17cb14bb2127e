"""Token counts: an estimate that is the same every time, and an emulation of prompt caching."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.fake_provider.incoming import Json
from tests.fake_provider.memory import Memory

LOOKBACK = 20
"""Blocks before a breakpoint in which an earlier cache entry is still found."""


class CacheUse(NamedTuple):
    """How the input tokens of a request divide."""

    uncached: int
    read: int
    written: int


def estimate(value: Any) -> int:
    """Return a token count for a text or a JSON value: a quarter of its characters, rounded up."""
    text = value if isinstance(value, str) else json.dumps(value)
    return -(-len(text) // 4)


def prompt_cache(body: Json, memory: Memory) -> CacheUse:
    """Return what a Messages request reads from and writes to the cache, and remember what it
    wrote.

    A prefix that ends at a breakpoint is written; a prefix that was written before is read. Unlike
    the real cache it has no minimum length and never expires.
    """
    rolling = hashlib.blake2b(str(body.get("model")).encode(), digest_size=16)
    total, ends, breakpoints = 0, [], []
    for number, (text, is_breakpoint) in enumerate(_blocks(body)):
        rolling.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
        total += estimate(text)
        ends.append((rolling.digest(), total))
        if is_breakpoint:
            breakpoints.append(number)
    if not breakpoints:
        return CacheUse(total, 0, 0)
    near = {n for b in breakpoints for n in range(max(0, b - LOOKBACK), b + 1)}
    read = max((ends[n][1] for n in near if ends[n][0] in memory.cached_prefixes), default=0)
    memory.cached_prefixes.update(ends[b][0] for b in breakpoints)
    cached = max(read, ends[breakpoints[-1]][1])
    return CacheUse(total - cached, read, cached - read)


def _blocks(body: Json) -> Iterator[tuple[str, bool]]:
    """Yield the text of every block in caching order, and whether a breakpoint stands on it."""
    system = body.get("system") or []
    blocks = [*(body.get("tools") or []), *([system] if isinstance(system, str) else system)]
    for message in body["messages"]:
        content = message["content"]
        blocks += [
            {"role": message["role"], "block": b}
            for b in ([content] if isinstance(content, str) else content)
        ]
    last = len(blocks) - 1
    for number, block in enumerate(blocks):
        text = json.dumps(_without_marks(block), sort_keys=True)
        yield text, _is_marked(block) or (number == last and bool(body.get("cache_control")))


def _is_marked(block: Any) -> bool:
    inner = block.get("block", block) if isinstance(block, dict) else block
    return isinstance(inner, dict) and bool(inner.get("cache_control"))


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key != "cache_control"}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value
