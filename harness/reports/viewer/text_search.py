"""Finds words in everything that a log says of its trials: names, conversations, checks, errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_TRIAL = b'{"run":'
_OF_RUN = (
    "suite", "case", "model", "description", "tags", "identity", "group", "user_context",
    "status", "skip_reason", "error", "checks", "judgements",
)  # fmt: skip
_OF_CONVERSATION = ("answer", "setup_calls", "tool_calls", "teardown_calls", "stderr_tail", "error")
_OURS = frozenset(
    {
        "kind",
        "verdict",
        "severity",
        "at",
        "request_id",
        "question",
        "result_sha256",
        "prompt_version",
    }
)
"""Fields whose values are not part of the conversation."""
_NAMED = frozenset({"arguments", "structured", "expected", "actual", "args", "user_context"})
"""Fields whose own fields are named by others: these names are searched, too."""
_ENVELOPE = frozenset({"jsonrpc", "id", "method", "progressToken"})
"""Fields of a JSON-RPC frame that say the same, or nothing, around every call; not searched.

`harness/reports/formats/html_report/blocks.js` searches frames by the same rules.
"""
_NAMED_IN_FRAMES = frozenset({"_meta", "arguments", "structuredContent", "code", "data"})
"""Fields of a frame whose numbers, and names of fields, are searched, too."""


def find_words(
    log: Path, words: Sequence[str], go_on: Callable[[], None] = lambda: None
) -> dict[str, list[int]]:
    """Return where the log has each of ``words``, which are in small letters: offsets of trials.

    A line is taken apart only if it has the letters of a word anywhere. ``go_on`` is called before
    each line; what it raises ends the search.
    """
    found: dict[str, list[int]] = {word: [] for word in words}
    raws = {word: json.dumps(word, ensure_ascii=False)[1:-1] for word in words}
    offset = 0
    with log.open("rb") as file:
        for raw in file:
            go_on()
            at, offset = offset, offset + len(raw)
            if not raw.startswith(_TRIAL) or not raw.endswith(b"\n"):
                continue
            letters = raw.decode("utf-8", "replace").lower()
            likely = [word for word in words if raws[word] in letters]
            if likely:
                said = _extract_raw_text(raw)
                for word in likely:
                    if word in said:
                        found[word].append(at)
    return found


def _extract_raw_text(raw: bytes) -> str:
    try:
        return extract_text(json.loads(raw))
    except ValueError:  # damaged: every report says so
        return ""


def extract_text(line: Mapping[str, Any]) -> str:
    """Return every text of a trial's line, in small letters."""
    run, said = line.get("run") or {}, line.get("transcript") or {}
    texts = [text for name in _OF_RUN for text in _iterate_texts(run.get(name), name=name)]
    texts += (
        text for name in _OF_CONVERSATION for text in _iterate_texts(said.get(name), name=name)
    )
    for message in said.get("messages", ()):
        reply = message.get("reply") or {}
        parts = (message.get("text"), reply.get("text"), reply.get("tool_requests"))
        texts += (text for part in parts for text in _iterate_texts(part))
    return "\n".join(texts).lower()


def _iterate_texts(value: Any, *, name: str = "", named: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        if named:
            yield json.dumps(value)
    elif isinstance(value, Mapping):
        named = named or name in _NAMED
        for key, part in value.items():
            if named:
                yield key
            elif key == "wire":
                yield from _iterate_frames_texts(part or {})
                continue
            if named or key not in _OURS:
                yield from _iterate_texts(part, name=key, named=named)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _iterate_texts(part, name=name, named=named)


def _iterate_frames_texts(wire: Mapping[str, Any]) -> Iterator[str]:
    if session := wire.get("session"):
        yield session
    for name in ("request", "response"):
        yield from _iterate_frame_texts((wire.get(name) or {}).get("body"))


def _iterate_frame_texts(value: Any, *, named: bool = False) -> Iterator[str]:
    """Yield the texts of a part of a frame; what its record holds was left out of it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        if named:
            yield json.dumps(value)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key in _ENVELOPE:
                continue
            if named:
                yield key
            yield from _iterate_frame_texts(part, named=named or key in _NAMED_IN_FRAMES)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _iterate_frame_texts(part, named=named)
