"""Classifies the outcome of a call that the server answered with an error.

MCP has no error code for a refusal; servers explain errors in text. The first rule that matches
wins. "Text" is an ``isError`` result's text or a JSON-RPC error's message and data, without the
prefix "Error executing tool NAME: " of the SDKs:

1. "unknown tool", "tool … not found" and the like, if the tool is not listed for this user or the
   text says it of this very tool → `unknown_tool`
2. the words of a validator: "validation error for", "Invalid arguments for tool", "[type=missing",
   "missing required argument" …; but not a missing right, role or scope, if the arguments fit the
   ``inputSchema`` → `invalid_arguments`
3. words that refuse the caller: "access denied", "not authorised", "forbidden", "insufficient
   permission", "authentication required", "outside allowed directories", "violates the policy" … →
   `denied`
4. JSON-RPC code -32601 or -32602 for a tool that is not listed → `unknown_tool`
5. JSON-RPC code -32602 → `invalid_arguments`
6. the arguments break the tool's own ``inputSchema`` → `invalid_arguments`
7. anything else → `tool_error`

A refusal is about the *caller's* permissions. The operating system's "permission denied" (EACCES,
EPERM, Errno 13) is about the server's process, and a missing file is no refusal: both are tool
errors.
"""

from __future__ import annotations

import re

from harness.types import Outcome

METHOD_NOT_FOUND = -32601
"""JSON-RPC code for an unknown method; some servers use it for an unknown tool."""

INVALID_PARAMS = -32602
"""JSON-RPC code for wrong parameters; MCP servers use it for unknown tools and bad arguments."""

_READ_CHARS = 2_000
"""Characters of a text that are examined: an error is described at its beginning."""

_OF_THE_SDK = re.compile(r"(?:Error (?:executing|calling) tool \S+(?:: |$))+", re.IGNORECASE)
"""The SDKs' prefix of a tool's error: ``executing`` in the official SDK, ``calling tool 'NAME'`` in
FastMCP; twice if a tool calls another. It could be mistaken for "tool … not found"."""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_NO_SUCH_TOOL = (
    r"\b(?:(?:unknown|no such|unrecogni[sz]ed|undefined|unsupported) (?:tool|function)|no tool)\b"
)
_NOT_FOUND = (
    r"\b(?:not found|does not exist|doesn't exist|is unknown|not registered|not available)\b"
)
_UNKNOWN_TOOL = _any_of(
    r"\b(?:unknown|no such|unrecogni[sz]ed|undefined|unsupported) (?:tool|function)\b",
    r"\bno tool (?:named|called|with)\b",
    rf"\btool\b[^\n]{{0,140}}{_NOT_FOUND}",
)

_A_RIGHT = r"(?:permissions?|privileges?|rights?(?!-)|authori[sz]ation|clearance)\b"
_OF_A_CALL = (
    r"(?:(?:arg(?:ument)?|param(?:eter)?|field|name|value|key|attribute|header|option|input|setting|array|list)s?"
    r"|propert(?:y|ies)|entr(?:y|ies))\b(?![.:]\w)"
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

_INVALID_ARGUMENTS = _any_of(
    r"\bvalidation errors? for\b",
    r"\binput validation error\b",
    r"\binvalid (?:tool )?(?:arguments?|params|parameters|input)\b",
    r"\[type=\w+",
    r"\bmust have required propert",
    r"\bmust NOT have additional propert",
    r"\bunrecognized key",
    r"\bis a required (?:property|argument|parameter|field)\b",
    r"\badditional properties are not allowed\b",
    r"\binputs are not permitted\b",
    r"\bunexpected keyword argument\b",
)

_MISSES_SOMETHING = _any_of(r"\bmissing (?:\d+ )?required ")
_MISSES_A_RIGHT = _any_of(rf"\bmissing (?:the |a |\d+ )?{_A_REQUIRED_RIGHT}")

_OPERATING_SYSTEM = _any_of(
    r"\b(?:EACCES|EPERM|EROFS)\b",
    r"\b(?:errno|os error) (?:1|13|30)\b",
    r"\b(?:open|stat|lstat|mkdir|unlink|rename|readdir|exec|cat|ls|sh|bash)\b[^\n]*: (?:permission "
    r"denied|"
    r"operation not permitted)",
)

_DENIED = _any_of(
    r"\b(?:access|permission|request|operation|call|action|authori[sz]ation|query|tool)s?\b[^\n]{0,80}\bdenied\b",
    r"^(?:error: )?denied\b",
    r"\bdenied (?:by|for|to)\b",
    r"(?:\bun|\bnot |n't )authori[sz]ed\b",
    r"(?:\bun|\bnot |n't )authenticated\b",
    r"\bauthentication (?:is )?required\b",
    r"\binsufficient_(?:scope|permission|privilege|right)s?\b",
    r"\bforbidden\b(?! (?:characters?|words?|values?|keys?|fields?|names?|patterns?))",
    r"(?:\bnot|n't) (?:be )?permitted\b",
    r"(?:\bnot|n't) (?:be )?(?:allowed|entitled) (?:to|for)\b",
    r"\bmay not (?:access|call|see|read|view|use|change|delete|update|create|perform|execute)\b",
    r"\b(?:insufficient|inadequate|lacks?|lacking) " + _WORDS + f"(?:{_A_RIGHT}|{_A_ROLE})",
    r"\b(?:missing|without|no) " + _WORDS + _A_RIGHT,
    _MISSES_A_RIGHT.pattern,
    r"(?:\bnot|n't) have " + _WORDS + rf"(?:access\b|{_A_RIGHT}|{_A_ROLE})",
    r"\brequires? " + _WORDS + f"(?:{_A_RIGHT}|{_A_ROLE})",
    r"\b" + _A_RIGHT + r" (?:\S+ ){0,2}(?:is |are )?required\b",
    r"\badmin\w* (?:role|access|rights?) (?:is |are )?required\b",
    r"\boutside (?:of )?(?:the )?(?:allowed|permitted)\b",
    r"\b(?:violat\w+|against|(?:blocked|refused|rejected|restricted|prohibited|disallowed) by) "
    + _WORDS
    + r"polic(?:y|ies)\b",
    r"\bpolicy enforcement failed\b",
    r"\bpolic(?:y|ies) "
    + _WORDS
    + r"(?:violation|violated|denies|forbids|prohibits|blocks|refuses)\b",
)


def classify(
    text: str, *, tool: str, listed: bool, code: int | None = None, arguments_valid: bool = True
) -> Outcome:
    """Return the outcome of an error, by the table above.

    Args:
        text: the text of the error.
        tool: the name that was called.
        listed: whether the server lists that tool for this user.
        code: the JSON-RPC error code; ``None`` for an ``isError`` result.
        arguments_valid: whether the arguments fit the tool's ``inputSchema``.
    """
    text = text[:_READ_CHARS]
    if (prefix := _OF_THE_SDK.match(text)) is not None:
        text = text[prefix.end() :]
    if _UNKNOWN_TOOL.search(text) and (not listed or _is_said_to_be_unknown(tool, text)):
        return "unknown_tool"
    misses_a_right = arguments_valid and _MISSES_A_RIGHT.search(text)
    misses_an_argument = _MISSES_SOMETHING.search(text) and not misses_a_right
    if (misses_an_argument or _INVALID_ARGUMENTS.search(text)) and (listed or code is None):
        return "invalid_arguments"
    if _DENIED.search(text) and not _OPERATING_SYSTEM.search(text):
        return "denied"
    if not listed and code in (METHOD_NOT_FOUND, INVALID_PARAMS):
        return "unknown_tool"
    if code == INVALID_PARAMS or not arguments_valid:
        return "invalid_arguments"
    return "tool_error"


def _is_said_to_be_unknown(tool: str, text: str) -> bool:
    """Return whether the text says that this tool, and nothing else, was not found."""
    name = rf"['\"`]?(?<![\w-]){re.escape(tool)}(?![\w-])['\"`]?"
    before = (
        rf"(?:{_NO_SUCH_TOOL}|\btool (?:is |was )?{_NOT_FOUND})[\s:]*(?:\w+[\s:]+){{0,2}}{name}"
    )
    behind = (
        rf"\btool[\s:]*(?:\w+ ){{0,2}}{name}(?: (?:is|was|has|been|could|currently))* ?{_NOT_FOUND}"
    )
    return _any_of(before, behind).search(text) is not None
