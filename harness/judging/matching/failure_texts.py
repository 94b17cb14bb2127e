"""Whether a result that no error marks tells of a failure: ``{"success": false}``, "Error: …".

Many servers answer a call that failed with an ordinary result. Two strengths are distinguished. A
*declared* failure is an object that says so and holds nothing else; it is as good as an error. A
text that *reads like* one is marked for a person, since "Error: …" may also be data.

A third, loose strength is for whoever asks whether an answer gives anything: there, nothing found
counts as a failure does (`tells_of_nothing`, `is_about_call`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from harness.judging.matching.texts import fold_text
from harness.types import ToolCall

_LONGEST_TEXT = 20_000  # letters of a text that are parsed as JSON
_LONGEST_SENTENCE = 400  # a longer text is data, unless it begins with a failure
_LONGEST_WORDS = 120
_FLAGS = ("success", "ok", "succeeded", "successful")
_STATES = frozenset(("error", "failed", "failure", "fail"))
_EXPLAINING = ("error", "message", "msg", "reason", "detail", "errors")
# fmt: off
_ENVELOPE = frozenset((
    *_FLAGS, "status", "state", "error", "errors", "message", "msg", "code", "error_code",
    "errorcode", "error_type", "errortype", "type", "detail", "details", "reason", "hint",
    "suggestion", "iserror", "is_error", "status_code", "statuscode", "timestamp", "request_id",
    "requestid", "traceback", "data", "result", "results", "note", "help",
))
# fmt: on
"""Keys of an object that says how a call went, and is no record of something else."""
_DATA = ("data", "result", "results")
_BEGINS = re.compile(
    r"\W{0,6}(?:(?:an? )?(?:[\w-]+ ){0,2}(?:error|exception)(?:\s*:\s*\S| (?!in (?:the )?log)"
    r"(?:occurred|while|when|during|calling"
    r"|(?!handling|reporting|logging|tracking|monitoring|correct)\w+ing\b|\d{3}\b))"
    r"|[A-Z]\w*(?:Error|Exception)\b\s*[:(]|traceback \(most recent|fatal: "
    r"|(?:(?:operation|request|call|command|query) )?(?:failed|failure)"
    r"(?: to \w+|:(?!\s*\d)| with\b|\W*$)"
    r"|(?:cannot|can't|could not|couldn't|unable to) \w+"
    r"|invalid [\w ']{1,40}(?::(?!\s*0\b)|[.,(]|$)"
    r"|(?:access|permission|operation|request) (?:is |was )?(?:denied|not permitted|not allowed"
    r"|forbidden|refused)|unauthori[sz]ed\b|forbidden\b(?! city)"
    r"|(?:http )?[45]\d\d (?:error\b(?!s)|bad|unauth"
    r"|forbidden|not found|internal|service|conflict|too many|gateway|method|unprocessable|gone)"
    r"|unknown (?:tool|command|parameter|argument|action|operation)\b)",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"(?<!or )(?:\b(?:does|do|did) not exist\b|\b(?:doesn't|don't|didn't) exist\b"
    r"|\bno such (?:file|table|column|user|record|tool|\w+ exists)\b"
    r"|^(?!no\b)[^.]{1,120}? (?:was |were |is |could )?not (?:be )?found\b"
    r"|\b(?:is|are) (?:required|missing|not valid|invalid|disabled|unavailable|not supported)\b"
    r"|^[^.:]{1,60}\bunavailable\b|\bmissing: |\btimed out\b|\ban error occurred\b"
    r"|\bnot (?:authori[sz]ed|permitted|implemented)\b)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"^\W*(?:success|ok\b|done\b|created|updated|deleted|removed|no errors?\b|0 errors?\b)"
    r"|\berrors?:? (?:none|no|0)(?=\s*(?:$|[.,;)]))"
    r"|\berror (?:rate|count|log|code|budget|margin)s?\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^\W*(?:\w+\W+){0,6}?(?:error|denied|forbidden|not found|does not exist|not allowed|invalid|"
    r"failed|unauthori[sz]ed|refused|no (?:such|results?|match(?:es)?|records?|entries|data))\b"
)
"""Words of a failure, or of nothing found, in the first seven words."""
_STATES_OF_CALLS = re.compile(
    r"ok|success|error|fail|denied|forbidden|invalid|not.?found|unauthori[sz]ed"
)
"""States of a call; other words under ``status`` are those of a record."""


def find_declared_failure(call: ToolCall) -> str | None:
    """Return the words with which an unmarked result says that the call failed, as an object.

    ``{"success": false}`` and ``{"status": "error"}`` say so; ``{"id": 7, "status": "error"}`` is
    the record of something else.
    """
    if call.outcome != "ok":
        return None
    found = _read_object(call)
    if found is None or not _ENVELOPE.issuperset(found) or any(found.get(key) for key in _DATA):
        return None
    return _find_flag(found) or _find_error(found)


def find_failure_words(call: ToolCall) -> str | None:
    """Return the words of an unmarked result that read like a failure, or ``None``."""
    if call.outcome != "ok":
        return None
    if declared := find_declared_failure(call):
        return declared
    found = _read_object(call)
    if found is not None:
        if any(found.get(key) for key in _DATA):
            return None
        # Beside what explains it, other keys repeat the arguments: {"error": "…", "page": 3}.
        return _find_error(found) if "id" not in found else None
    text = call.text.strip()
    return _shorten(text) if _reads_like_failure(text) else None


def tells_of_nothing(text: str) -> bool:
    """Whether a text begins with a failure, or with nothing found: "No results for Weber."."""
    return _NOTHING.search(fold_text(text)) is not None


def is_about_call(name: str, value: Any) -> bool:
    """Whether a field of that name tells how a call went, and nothing of what it asked for."""
    key = fold_text(name)
    if key in _FLAGS or key in _EXPLAINING:
        return True
    return key in ("status", "code") and _STATES_OF_CALLS.match(fold_text(str(value))) is not None


def _reads_like_failure(text: str) -> bool:
    # A heading begins a document, and a second line like the first a log or a list of errors.
    second = text[:_LONGEST_SENTENCE].partition("\n")[2].lstrip()
    is_data = text[:1] in ("{", "[", "#") or bool(second and _BEGINS.match(second))
    if is_data or _HARMLESS.search(text[:_LONGEST_SENTENCE]):
        return False
    says = len(text) <= _LONGEST_SENTENCE and _SAYS.search(text) is not None
    return says or _BEGINS.match(text) is not None


def _read_object(call: ToolCall) -> Mapping[str, Any] | None:
    """Return the result as an object with keys in small letters; ``None`` if it is none."""
    value = call.structured
    if not isinstance(value, Mapping):
        text = call.text.strip()
        if text[:1] != "{" or len(text) > _LONGEST_TEXT:
            return None
        try:
            value = json.loads(text)
        # Nesting without end is no object that tells of a failure.
        except (ValueError, RecursionError):
            return None
    # A tool that returns a text has it under "result" as well.
    if set(value) == {"result"} and isinstance(value["result"], Mapping):
        value = value["result"]
    return {str(key).lower(): part for key, part in value.items()}


def _find_flag(found: Mapping[str, Any]) -> str | None:
    flag = next((key for key in _FLAGS if found.get(key) is False), None)
    if flag is not None:
        return _join_words(f'"{flag}": false', found)
    for key in ("status", "state"):
        if str(found.get(key)).lower() in _STATES:
            return _join_words(f'"{key}": "{found[key]}"', found)
    is_marked = found.get("iserror") is True or found.get("is_error") is True
    return _join_words('"isError": true', found) if is_marked else None


def _find_error(found: Mapping[str, Any]) -> str | None:
    flag = next((key for key in _FLAGS if found.get(key) is False), None)
    explained = any(found.get(key) for key in ("error", "errors", "message", "reason"))
    if flag is not None and explained:
        return _join_words(f'"{flag}": false', found)
    # An object with results and null or empty errors is a success.
    is_success = any(found.get(key) is True for key in _FLAGS)
    if found.get("error") and not is_success:
        return _join_words("", found) or "error"
    return None


def _join_words(flag: str, found: Mapping[str, Any]) -> str:
    said = next((found[key] for key in _EXPLAINING if found.get(key)), "")
    said = said if isinstance(said, str) else json.dumps(said, default=str, ensure_ascii=False)
    return _shorten(", ".join(filter(None, (flag, said))))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_WORDS else f"{line[: _LONGEST_WORDS - 1]}…"
