"""Refusals expressed by a code: ``{"error": "forbidden"}``, ``{"code": 403}``, ``_meta``.

Codes are searched for where errors have them: in the structured content, in a text of JSON, in
``_meta`` and in the data of a JSON-RPC error, at most three objects deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import load_json

_KEYS = frozenset(
    {"code", "error", "errorcode", "reason", "status", "statuscode", "type", "kind", "httpstatus"}
)
"""Keys, without case and underscores, whose value may be a code."""
_BESIDE = frozenset(
    {"message", "detail", "details", "ok", "success", "title", "hint", "requestid", "traceid"}
    | {"timestamp", "description", "errors", "errordescription"}
)
"""Further keys that an object may have if it is nothing but an error."""
_STATUSES = frozenset({401, 403})
_CODES = frozenset(
    {"forbidden", "accessdenied", "permissiondenied", "accessforbidden", "notpermitted"}
    | {"unauthorized", "unauthorised", "notauthorized", "notauthorised", "unauthenticated"}
    | {"insufficientscope", "insufficientpermission", "insufficientpermissions"}
    | {"insufficientprivilege", "insufficientprivileges", "insufficientrights", "policyviolation"}
    | {"policydenied", "deniedbypolicy", "authorizationerror", "permissionerror", "authrequired"}
    | {"401", "403", "notallowed", "accessdeniedexception", "forbiddenerror"}
)
_DEPTH = 3
_LONGEST_TEXT = 20_000  # characters of a text that is read as JSON


def has_refusal_code(*parts: Any) -> bool:
    """Return whether an error, with these JSON values or texts of JSON, refuses by its code."""
    return any(
        _is_code(value) for part in parts for value in _iterate_codes(_parse_part(part), _DEPTH)
    )


def is_refusal_body(structured: Any, text: str) -> bool:
    """Return whether a result that claims success is nothing but an error that refuses.

    All its keys must be those of an error, so that a result with data does not count as a refusal;
    a data value (``{"status": "denied"}`` of a loan) is not a code.
    """
    body = structured if structured is not None else _parse_part(text)
    return _is_only_error(body, _DEPTH) and has_refusal_code(body)


def _is_only_error(body: Any, depth: int) -> bool:
    return (
        isinstance(body, Mapping)
        and depth > 0
        # Without such a key, `status` or `code` may be data of a record.
        and not {"error", "errors"}.isdisjoint(map(_normalize_text, body))
        and all(
            _normalize_text(key) in _BESIDE
            or (
                _normalize_text(key) in _KEYS
                and (not isinstance(value, Mapping) or _is_flat(value))
            )
            for key, value in body.items()
        )
    )


def _is_flat(error: Mapping[str, Any]) -> bool:
    """Whether an inner ``error`` has only keys of errors."""
    return all(_normalize_text(key) in _KEYS | _BESIDE for key in error)


def _parse_part(part: Any) -> Any:
    if not isinstance(part, str):
        return part
    if not part.lstrip().startswith("{") or len(part) > _LONGEST_TEXT:
        return None
    try:
        return load_json(part)
    except ValueError:
        return None


def _iterate_codes(part: Any, depth: int) -> Iterator[Any]:
    if not isinstance(part, Mapping) or not depth:
        return
    for key, value in part.items():
        if isinstance(value, Mapping):
            yield from _iterate_codes(value, depth - 1)
        elif _normalize_text(key) in _KEYS:
            yield value


def _is_code(value: Any) -> bool:
    if isinstance(value, str):
        return _normalize_text(value) in _CODES
    return isinstance(value, int) and not isinstance(value, bool) and value in _STATUSES


def _normalize_text(text: Any) -> str:
    return re.sub(r"[\W_]+", "", str(text)).lower()
