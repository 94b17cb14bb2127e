"""What assertions come to here: texts, numbers of calls, orders, arguments, sufficient weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from harness.suites.foreign.templates import NoFormError, has_placeholder
from harness.suites.foreign.translation import negate
from harness.types import JsonObject


def compare_text(how: str, text: str, *, ignore_case: bool = False) -> JsonObject:
    """Return the assertion of one comparison; raise `NoFormError` for an empty text."""
    if not text:
        raise NoFormError("every answer has an empty text in it")
    if how == "matches":
        return {"answer_verbatim": {how: f"(?i){text}" if ignore_case else text}}
    return {"answer_verbatim": {how: text, **({"ignore_case": True} if ignore_case else {})}}


def refuse_keys(value: JsonObject, known: Sequence[str]) -> None:
    """Raise `NoFormError` for a key that is not ``known``."""
    for key in value:
        if key not in known:
            raise NoFormError(f"{key!r} has no form here")


def require_count(tool: str | None, least: Any, most: Any) -> JsonObject:
    """Return the assertion that a tool, or any, is called so often."""
    for count in (least, 0 if most is None else most):
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise NoFormError("min and max are numbers of calls")
    of_tool = {} if tool is None else {"tool": tool}
    parts: list[JsonObject] = []
    if most is not None:
        parts.append({"max_calls": {"limit": most, **of_tool}})
    if least and tool is not None:
        parts.append({"must_call": {"tool": tool, "min_times": least}})
    elif least:
        parts.append(negate({"max_calls": {"limit": least - 1}}))
    if not parts:
        raise NoFormError("any number of calls is right")
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= part
    return merged


def require_sequence(calls: Sequence[JsonObject], *, exact: bool) -> JsonObject:
    """Return the assertion of these calls in this order; if ``exact``, without any other call."""
    found: dict[str, Any] = {"must_call": list(calls)}
    if len(calls) > 1:
        strict = {"strict": True} if exact else {}
        found = {"must_call_in_order": {"calls": list(calls), **strict}}
    if exact:
        found["max_calls"] = len(calls)
    return found


def equal_args(args: JsonObject) -> JsonObject:
    """Return arguments each of which has exactly the value given, among others."""
    return {
        _refuse_operator(key): {"$equals": part} if isinstance(part, dict | list) else part
        for key, part in args.items()
    }


def match_partly(value: Any) -> Any:
    """Return a matcher of objects with more keys, at every depth; lists have the same length."""
    if has_placeholder(value):
        raise NoFormError("a placeholder is left in its args")
    if isinstance(value, list):
        return [_match_inner(part) for part in value]
    return {_refuse_operator(key): _match_inner(part) for key, part in value.items()}


def _match_inner(value: Any) -> Any:
    if isinstance(value, dict):
        return {"$contains": match_partly(value)} if value else {"$type": "object"}
    return match_partly(value) if isinstance(value, list) else value


def _refuse_operator(key: str) -> str:
    if key.startswith("$"):
        raise NoFormError(f"the argument {key!r} would be read as a matcher here")
    return key


def find_sufficient(weights: Sequence[float], threshold: float) -> list[tuple[int, ...]]:
    """Return the smallest sets of assertions whose weight reaches the threshold."""
    total = sum(weights)
    found: list[tuple[int, ...]] = []
    for size in range(len(weights) + 1):
        for chosen in combinations(range(len(weights)), size):
            score = sum(weights[place] for place in chosen) / total if total else 0.0
            if score >= threshold and not any(set(one) <= set(chosen) for one in found):
                found.append(chosen)
    return found
