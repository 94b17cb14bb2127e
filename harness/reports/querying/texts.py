"""Everything that was said in a run, packed in portions that are unpacked and searched in turn.

What counts as said is decided by `harness.reports.querying.texts`. A portion is unpacked at
several hundred megabytes a second, so that a search takes the same time for rare and common words.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

TEXTS = 'CREATE TABLE "_texts" (ats TEXT, starts TEXT, packed BLOB)'
"""The table: a row for each portion, in the order of the log."""
PORTION = 128_000
"""Bytes of text after which a portion ends."""
_LEVEL = 1
"""The fastest: it already makes a fifth of conversations."""
_BETWEEN = b"\0"


class Packer:
    """Writes the texts of trials, one after the other."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Write into ``db``."""
        self._db = db
        self._begin_pack()

    def _begin_pack(self) -> None:
        self._ats: list[int] = []
        self._starts: list[int] = []
        self._texts: list[bytes] = []
        self._size = 0

    def add_text(self, at: int, said: str) -> None:
        """Add what was said in the trial at ``at`` of the log."""
        # A model may have said half of a surrogate pair, and a search for it is to find it.
        text = said.encode("utf-8", "surrogatepass")
        self._ats.append(at)
        self._starts.append(self._size)
        self._texts.append(text)
        self._size += len(text) + len(_BETWEEN)
        if self._size >= PORTION:
            self.close()

    def close(self) -> None:
        """Write what is left."""
        if self._texts:
            lists = (json.dumps(one) for one in (self._ats, self._starts))
            packed = zlib.compress(_BETWEEN.join(self._texts), _LEVEL)
            self._db.execute('INSERT INTO "_texts" VALUES (?, ?, ?)', (*lists, packed))
        self._begin_pack()


def search_texts(
    db: sqlite3.Connection, words: Sequence[str], go_on: Callable[[], None]
) -> Iterator[tuple[str, int]]:
    """Yield ``(word, at)`` for each trial in which one of ``words`` was said.

    Words are in small letters. ``go_on`` is called before each portion; what it raises ends the
    search.
    """
    wanted = [(word, word.encode("utf-8", "surrogatepass")) for word in words]
    # a trial that was run again has the texts of all of its lines, and only the last one counts
    trials = {at for (at,) in db.execute('SELECT trial_id FROM "_places"')}
    for listed, begins, packed in db.execute('SELECT * FROM "_texts" ORDER BY rowid'):
        go_on()
        text = zlib.decompress(packed)
        # Most portions have none of the words, which one look at the whole text tells.
        present = [(word, raw) for word, raw in wanted if raw in text]
        if not present:
            continue
        ats, starts = json.loads(listed), json.loads(begins)
        for word, raw in present:
            for number in _find_texts(raw, text, starts):
                if ats[number] in trials:
                    yield word, ats[number]


def _find_texts(word: bytes, text: bytes, starts: Sequence[int]) -> Iterator[int]:
    """Yield the number of each text with ``word``, which must lie within it."""
    at = text.find(word)
    while at >= 0:
        number = bisect_right(starts, at) - 1
        behind = starts[number + 1] if number + 1 < len(starts) else len(text) + len(_BETWEEN)
        if at + len(word) < behind:
            yield number
            at = text.find(word, behind)
        else:
            at = text.find(word, at + 1)


_OF_RUN = (
    "suite", "name", "model", "description", "tags", "identity", "test", "user_context",
    "status", "skip_reason", "error", "checks", "judgements",
)  # fmt: skip
_OF_CONVERSATION = (
    "answer",
    "setup_calls",
    "tool_calls",
    "user_calls",
    "teardown_calls",
    "stderr_tail",
    "error",
)
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


def extract_text(line: Mapping[str, Any]) -> str:
    """Return every text of a trial's line, in small letters."""
    run, said = line.get("run") or {}, line.get("transcript") or {}
    run = {**run, **run.get("case", {})}
    texts: list[str] = []
    for name in _OF_RUN:
        _collect_texts(run.get(name), texts, name=name)
    for name in _OF_CONVERSATION:
        _collect_texts(said.get(name), texts, name=name)
    for message in said.get("messages", ()):
        reply = message.get("reply") or {}
        for part in (message.get("text"), reply.get("text"), reply.get("tool_requests")):
            _collect_texts(part, texts)
    return "\n".join(texts).lower()


# These append to one list: generators took twice as long, and a run does this while it goes on.


def _collect_texts(value: Any, texts: list[str], *, name: str = "", named: bool = False) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif value is None or value is True or value is False:
        return
    elif isinstance(value, dict):
        named = named or name in _NAMED
        for key, part in value.items():
            if named:
                texts.append(key)
            elif key == "wire":
                _collect_texts_of_frames(part or {}, texts)
                continue
            if named or key not in _OURS:
                _collect_texts(part, texts, name=key, named=named)
    elif isinstance(value, list):
        for part in value:
            _collect_texts(part, texts, name=name, named=named)
    elif named:
        texts.append(json.dumps(value))


def _collect_texts_of_frames(wire: Mapping[str, Any], texts: list[str]) -> None:
    if session := wire.get("session"):
        texts.append(session)
    for name in ("request", "response"):
        _collect_texts_of_frame((wire.get(name) or {}).get("body"), texts)


def _collect_texts_of_frame(value: Any, texts: list[str], *, named: bool = False) -> None:
    """Add the texts of a part of a frame; what its record holds was left out of it."""
    if isinstance(value, str):
        texts.append(value)
    elif value is None or value is True or value is False:
        return
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in _ENVELOPE:
                if named:
                    texts.append(key)
                _collect_texts_of_frame(part, texts, named=named or key in _NAMED_IN_FRAMES)
    elif isinstance(value, list):
        for part in value:
            _collect_texts_of_frame(part, texts, named=named)
    elif named:
        texts.append(json.dumps(value))
