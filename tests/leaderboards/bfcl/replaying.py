"""A fake provider that says what a recorded model said, so that the same output goes over MCP once
more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness.leaderboards.bfcl.data import BfclEntry
from harness.leaderboards.bfcl.functions import build_prompts
from tests.fake_provider import Incoming, Script, Step, bad_arguments, calls, say


def replaying(outputs: Iterable[tuple[BfclEntry, Any]]) -> Script:
    """Return a script that answers each case's prompt by its recorded single-turn result."""
    known: dict[tuple[str, frozenset[str]], Any] = {}
    for entry, result in outputs:
        names = frozenset(function["name"].replace(".", "_") for function in entry.functions)
        known[build_prompts(entry)[0], names] = result

    def script(request: Incoming) -> Step:
        assert request.turn == 0, "one reply is all that is asked for"
        return _step(known[request.prompt, frozenset(request.tools)])

    return script


def _step(result: Any) -> Step:
    if isinstance(result, str):
        return say(result)
    if any(isinstance(one, str) for one in result):
        return say(*result)
    if not result:
        return say("")
    requests = [(name.replace(".", "_"), given) for one in result for name, given in one.items()]
    parsed = [(name, _object(given)) for name, given in requests]
    if len(requests) == 1 and parsed[0][1] is None:
        return bad_arguments(*requests[0])
    return calls(*[(name, given or {}) for name, given in parsed])


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
