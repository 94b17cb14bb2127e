"""Refusals: words and codes with which servers refuse a caller, and errors that only look like one.

A refusal is about the caller's rights. "Payment was denied by the bank" and "Value outside the
permitted range" are about something else, so a pattern names the refusing party, the refused one,
or the missing right. In doubt a text is not a refusal: a server's own words can be configured
(``refusals:``).

Codes (``{"error": "forbidden"}``, ``{"code": 403}``) are searched for where errors have them: in
the structured content, in a text of JSON, in ``_meta`` and in the data of a JSON-RPC error, at most
three objects deep.

A session is refused only explicitly: by HTTP 401 or 403, or by a JSON-RPC error with the code or
the words of a refusal, as for a call. Any other failure is a failure of the server. One that
rejects a request as it was written has decided nothing about the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, INTERNAL_ERROR, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION

from harness.base import (
    NotAdmitted,
    RequestRefused,
    RequestRejected,
    ServerError,
    compile_late,
    load_json,
    search_pattern,
)
from harness.types import JsonObject


def compile_any(*patterns: str) -> re.Pattern[str]:
    """Return the expression that matches what any of ``patterns`` does, ignoring case."""
    return compile_late("|".join(patterns), re.IGNORECASE)


_A_RIGHT = r"(?:permissions?|privileges?|rights?(?!-)|authori[sz]ation|clearance)\b"
_OF_A_CALL = (
    r"(?:(?:arg(?:ument)?|param(?:eter)?|field|name|value|key|attribute|header|option|input|setting"
    r"|array|list)s?|propert(?:y|ies)|entr(?:y|ies))\b(?![.:]\w)"
)
_NO_ARGUMENT = rf"(?![\W_]? (?:[\w-]+ )?['\"`]?{_OF_A_CALL}|: must be\b)"
"""Negative lookahead after the name of a right: ``role parameter``, ``permission level argument``
and ``role: must be one of`` are about arguments."""
_A_ROLE = rf"(?:role|scope)s?\b{_NO_ARGUMENT}"
_WORDS = r"(?:\S+ ){0,3}"
_A_REQUIRED_RIGHT = (
    rf"required (?:(?!{_OF_A_CALL})[^\s:]+ ){{0,2}}(?:{_A_RIGHT}{_NO_ARGUMENT}|{_A_ROLE})"
)
"""``required permission hr.read``, ``required OAuth scope``; not ``required argument: role``."""

_CALLERS = (
    r"(?:you|users?|callers?|clients?|identit(?:y|ies)|principals?|roles?|accounts?|tokens?)\b"
)
_YOURS = (
    r"(?:your|this|their) (?:\S+ )?(?:roles?|accounts?|users?|tokens?|scopes?|tenants?|callers?"
    r"|permissions?|clearance)\b"
)
_READS_OR_CHANGES = (
    r"(?:access|call|change|create|delete|download|edit|execute|export|list|modify|open|perform"
    r"|query|read|see|update|use|view)\b"
)
_STAFF = (
    r"(?:the )?(?:admin\w*|managers?|owners?|staff|hr|finance|auditors?|supervisors?|employees?"
    r"|\S+ (?:team|group|department)|members? of|users? with|roles?)\b"
)
_GUARD = (
    r"(?:polic(?:y|ies)|guard-?rails?|access (?:control|rules?)|firewall|admin\w*|rbac|acls?"
    r"|opa|gateway)\b"
)

# "No permission slip" and "without a rights column" are about data.
_NO_RIGHT_AFTER_ALL = r"(?! (?:slip|column|field|issue|row|table)s?)"

MISSES_A_RIGHT = compile_any(rf"\bmissing (?:the |a |\d+ )?{_A_REQUIRED_RIGHT}")
"""A required right is missing, not a required argument."""

OPERATING_SYSTEM = compile_any(
    r"\b(?:EACCES|EPERM|EROFS)\b",
    r"\b(?:errno|os error) (?:1|13|30)\b",
    # As programs and shells report them: the failed call, what it was for, and the reason.
    r"\b(?:open|stat|lstat|mkdir|unlink|rename|readdir|exec|cat|ls|sh|bash)\b[^\n]*: "
    r"(?:permission denied|operation not permitted)",
)
"""An error of the operating system, about the server's own process."""

_DENIED = (
    (
        r"\b(?:access|permission|authori[sz]ation|query|tool|operation|action|call)s?\b[^\n]{0,80}"
        r"\bdenied\b"
    ),
    r"^request\b[^\n]{0,40}\bdenied\b",
    r"^(?:\w+: )?(?:denied|deny)\b(?! list)",
    (
        r"\b(?:denied|refused|rejected|blocked|restricted|prohibited|disallowed) by "
        rf"(?:\S+ ){{0,2}}{_GUARD}"
    ),
    rf"\bdenied (?:for|to) (?:the )?(?:\S+ )?{_CALLERS}",
    r"\b(?:decision|effect|verdict)\W{1,4}deny\b",
    (
        rf"\bpolic(?:y|ies) {_WORDS}"
        r"(?:violation|violated|denies (?!nothing)|forbids|prohibits|blocks|refuses)\b"
    ),
    rf"\b(?:violat\w+|against) {_WORDS}polic(?:y|ies)\b",
    r"\bpolicy enforcement failed\b",
    r"\bpolicy (?:\S+ )?denied\b",
    r"^(?:error: )?refused: ",
)
"""Words by which the server says that it denies."""

_WORDS_OF_PROTOCOLS = (
    r"\b(?:access|permission)_?denied|\bpermission_denied",
    # A payment that is not authorised is the bank's decision, and no refusal of the caller.
    r"(?:\bun|\bnot[ _]?|n't )authori[sz]ed(?! for this (?:amount|payment))",
    r"(?:\bun|\bnot |n't )authenticated\b",
    r"\bauthentication (?:is )?required\b",
    r"\binsufficient_(?:scope|permission|privilege|right)s?\b",
    # Forbidden characters are about an argument.
    r"\bforbidden\b(?! (?:characters?|words?|values?|keys?|fields?|names?|patterns?))",
    r"\b(?:HTTP(?:/[\d.]+)?|status(?: code)?)[ :]+(?:401|403)\b",
    rf"^(?:{_A_RIGHT}|access) (?:check )?failed\b",
)
"""Words of protocols, databases and clouds."""

_THE_CALLER_MAY_NOT = (
    r"(?:\bnot|n't) (?:be )?permitted (?:to|for)\b",
    r"^not (?:permitted|allowed)\W*$",
    r"(?:\bnot|n't) (?:be )?(?:allowed|entitled|cleared) (?:to|for)\b",
    rf"\b(?:may|shall) not {_READS_OR_CHANGES}",
    # A shipped order cannot be changed by anybody; what cannot be seen is kept from this caller.
    r"\byou (?:cannot|can not|can't) (?:access|see|view)\b",
    rf"\busers? (?:\S+ )?(?:cannot|must not) {_READS_OR_CHANGES}",
    rf"\b{_YOURS} (?:does not|doesn't|do not|cannot) (?:allow|permit|include|cover)\b",
    rf"\b(?:disabled|unavailable|off limits|out of scope|not available) (?:for|to) {_YOURS}",
    r"\baccess to [^\n]{1,60} is (?:restricted|limited|blocked)\b|\baccess (?:is )?blocked\b",
    rf"\b{_CALLERS} (?:is|are) not (?:a member of|in (?:the )?group)\b",
    rf"\b{_CALLERS} (?:\S+ ){{0,4}}?ha(?:s|ve) no access\b",
    rf"\b{_CALLERS} (?:does|do) not grant\b",
    r"\bexceeds? your (?:clearance|permissions?|rights?|privileges?)\b",
    r"\boutside (?:of )?your (?:region|tenant|unit|department|scope|organi[sz]ation)\b",
    (
        r"\boutside (?:of )?(?:the )?(?:allowed|permitted) "
        r"(?:director|repositor|path|folder|root|scope|tenant|region)"
    ),
    r"\bbelongs to (?:another|a different) (?:tenant|user|account|organi[sz]ation)\b",
    r"\byou (?:only )?have read-only access\b",
)
"""Words for things that are not available to this caller."""

_LACKS_A_RIGHT = (
    (
        rf"\b(?:insufficient|inadequate|lacks?|lacking|not enough) {_WORDS}"
        rf"(?:{_A_RIGHT}|{_A_ROLE}|entitlements?\b)"
    ),
    rf"\b(?:missing|without|no) (?!{_OF_A_CALL}:?){_WORDS}{_A_RIGHT}{_NO_RIGHT_AFTER_ALL}",
    MISSES_A_RIGHT.pattern,
    rf"(?:\bnot|n't) have {_WORDS}(?:access\b|{_A_RIGHT}|{_A_ROLE})",
    rf"\b(?:requires?|needs|you need) {_WORDS}(?:{_A_RIGHT}|{_A_ROLE})",
    rf"\b{_A_RIGHT} (?:\S+ ){{0,2}}(?:is |are )?required\b",
    r"\badmin\w* (?:role|access|rights?) (?:is |are )?required\b",
    r"\b(?:log[ -]?in|sign[ -]?in) (?:is )?required\b",
    r"\bplease (?:log|sign) in\b|\bplease log in again\b|\bmust be (?:logged|signed) in\b",
    rf"\bonly {_STAFF} (?:\S+ ){{0,5}}?(?:may|can|are (?:allowed|permitted|able))\b",
    rf"\b(?:for )?{_STAFF} only\W*$",
    rf"\b(?:restricted|reserved|only available) (?:to|for) {_STAFF}",
    r"\bneed[- ]to[- ]know\b",
)
"""Words for the right that the caller would need."""

REFUSED = compile_any(*_DENIED, *_WORDS_OF_PROTOCOLS, *_THE_CALLER_MAY_NOT, *_LACKS_A_RIGHT)
"""Matches a refusal of the caller."""


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


def _is_flat(error: JsonObject) -> bool:
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


_OF_THE_WRITING = frozenset({HEADER_MISMATCH, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION})
"""Codes for headers that differ from the body, text that is no JSON, and a foreign revision.

INVALID_REQUEST is none of them: servers use it for requests that they do not want."""


def is_rejection(error: MCPError, method: str) -> bool:
    """Whether ``error`` is about the writing of a request of ``method``.

    Some servers do not parse numbers that JSON allows: in a call, whose arguments are the caller's,
    that is about these.
    """
    return error.code in _OF_THE_WRITING and (error.code, method) != (PARSE_ERROR, "tools/call")


def build_rejection(error: MCPError, method: str, said: str, data: object) -> RequestRejected:
    """Return the exception for such an error; ``said`` and ``data`` are its own, without tokens."""
    return RequestRejected(
        f"server rejected the request {method} as harness wrote it: {said} (code {error.code})",
        code=error.code,
        said=said,
        data=data,
    )


_READ_CHARS = 2_000
"""Characters of an error that are examined."""


def build_step_error(error: MCPError, step: str, refusals: Sequence[str] = ()) -> ServerError:
    """Return the exception for an ``error`` in a ``step`` of opening a session.

    ``refusals`` are regular expressions of the server's own words for refusing a caller.
    """
    words = f"refused {step}: {error.message} (code {error.code})"
    refused = _is_refusal(error.code, error.message, error.data, refusals)
    if not is_rejection(error, step) and refused:
        return NotAdmitted(words, status=error.code)
    return ServerError(words)


def is_breakdown(error: RequestRefused) -> bool:
    """Whether an error answer decides nothing: an internal error in no words of a refusal."""
    return error.code == INTERNAL_ERROR and not _is_refusal(error.code, error.said, error.data)


def _is_refusal(code: int, message: str, data: object, refusals: Sequence[str] = ()) -> bool:
    more = "" if data in (None, "") else json.dumps(data, default=str)
    text = f"{message} {more}"[:_READ_CHARS]
    return (
        # The code itself may be 401 or 403.
        has_refusal_code(data, {"code": code})
        or any(search_pattern(pattern, text) for pattern in refusals)
        or (REFUSED.search(text) is not None and OPERATING_SYSTEM.search(text) is None)
    )
