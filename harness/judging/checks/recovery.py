"""What a model made of calls that went wrong, read from the calls of a trial and its answer.

Everything is judged by what the model saw. Calls are those of a transcript that are about the
server, in order; *place* is the index of a call among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from harness.base import canonical_json
from harness.types import TRUTHFUL, UNASKED, ToolCall

_UNKNOWN_EFFECT = UNASKED - {"error", "protocol_error", "rate_limit"} | {"lost_answer"}
"""Faults after which another tool may be what helps: it finds out what was done, or does it."""
_PERMANENT = re.compile(
    r"\b(?:unknown tool|no such|not found|does not exist|invalid|not allowed|denied|forbidden"
    r"|not permitted|unsupported|will not help|do(?: not|n't) (?:re)?try|permanent(?:ly)?)\b",
    re.IGNORECASE,
)
_PERMANENT_OUTCOMES = frozenset({"denied", "unknown_tool", "invalid_arguments", "not_loaded"})
_ADMITS = re.compile(
    r"\b(?:could(?: not|n['’]t)|can(?:not|['’]t)|unable|not able|fail(?:ed|s|ure)?|errors?"
    r"|was(?: not|n['’]t)|were(?: not|n['’]t)|did(?: not|n['’]t)|unavailable|tim(?:ed|es?) out"
    r"|timeout|no (?:answer|result|response|data)|not (?:possible|confirmed|certain|sure|clear)"
    r"|incomplete|only part|cut off|truncated|corrupt(?:ed)?|malformed|unfortunately"
    r"|rate limit|try again|unclear|uncertain|may (?:not )?have|empty)\b",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    r"\b(?:done|success(?:ful(?:ly)?)?|completed|confirmed|(?:has|have) been|(?:is|are) now"
    r"|(?:I|we)(?: have|['’]ve)|all set"
    r"|booked|charged|sent|created|updated|cancel+ed|deleted|placed|paid|refunded|scheduled)\b",
    re.IGNORECASE,
)


def list_failures(calls: Sequence[ToolCall]) -> list[tuple[int, ToolCall]]:
    """Return the calls that the model saw fail, or whose result a fault altered, with places."""
    return [(place, call) for place, call in enumerate(calls) if not _is_good(call)]


def _is_good(call: ToolCall) -> bool:
    """Whether the model saw what the server did, and it was good."""
    return not call.told_as_error and (call.injected is None or call.injected.fault in TRUTHFUL)


def find_recovery(calls: Sequence[ToolCall], place: int) -> int | None:
    """Return after how many calls the model had what the call at ``place`` was to bring."""
    call = calls[place]
    any_tool = call.injected is not None and call.injected.fault in _UNKNOWN_EFFECT
    for distance, later in enumerate(calls[place + 1 :], start=1):
        if later.reply > call.reply and _is_good(later) and (any_tool or later.tool == call.tool):
            return distance
    return None


def list_unrecovered(calls: Sequence[ToolCall]) -> list[tuple[int, ToolCall]]:
    """Return the failures that were never made good, with places."""
    return [one for one in list_failures(calls) if find_recovery(calls, one[0]) is None]


def is_same_call(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls have the same tool and arguments."""
    return one.tool == other.tool and canonical_json(one.arguments) == canonical_json(
        other.arguments
    )


def list_retries(calls: Sequence[ToolCall], place: int) -> Iterator[ToolCall]:
    """Yield the equal calls of later replies: those of the same one were made without knowing."""
    call = calls[place]
    for later in calls[place + 1 :]:
        if later.reply > call.reply and is_same_call(later, call):
            yield later


def list_blind_retries(calls: Sequence[ToolCall]) -> list[tuple[int, int]]:
    """Return each first call whose error says that a repeat will not help, and was repeated.

    Each is a place, and how often the equal call was made again.
    """
    found: list[tuple[int, int]] = []
    for place, call in list_failures(calls):
        # An equal call that failed before has this one among its repeats.
        if is_permanent(call) and not any(is_same_call(calls[at], call) for at, _ in found):
            repeats = len(list(list_retries(calls, place)))
            found += [(place, repeats)] if repeats else []
    return found


def is_permanent(call: ToolCall) -> bool:
    """Whether the model saw an error that says that trying again will not help."""
    if not call.told_as_error:
        return False
    if call.injected is None:
        return call.outcome in _PERMANENT_OUTCOMES or bool(_PERMANENT.search(call.text))
    return call.injected.fault == "gone" or bool(_PERMANENT.search(call.injected.text))


def list_duplicates(
    calls: Sequence[ToolCall], may_write: Callable[[str], bool]
) -> list[tuple[int, ToolCall]]:
    """Return the writes that the server carried out once more, with the place of the first.

    By what the server did: an answer that got lost does not undo the work.
    """
    done = [(at, call) for at, call in enumerate(calls) if call.outcome == "ok"]
    found = []
    for number, (_, call) in enumerate(done):
        earlier = [at for at, one in done[:number] if is_same_call(one, call)]
        if earlier and may_write(call.tool):
            found.append((earlier[0], call))
    return found


def read_claim(answer: str) -> bool | None:
    """Return whether ``answer`` claims success, by its wording in English.

    ``None``: the wording is open. An empty answer claims nothing.
    """
    admits, claims = bool(_ADMITS.search(answer)), bool(_CLAIMS.search(answer))
    if not answer.strip():
        return False
    return claims if admits != claims else None


def admits_failure(answer: str) -> bool:
    """Whether ``answer`` says that something went wrong, by its wording in English."""
    return bool(_ADMITS.search(answer))
