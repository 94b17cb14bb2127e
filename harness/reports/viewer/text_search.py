"""Everything that a log says of a trial in words: names, conversation, checks, errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_OF_RUN = (
    "suite", "name", "model", "description", "tags", "identity", "group", "user_context",
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
