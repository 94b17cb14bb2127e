"""Classifies the outcome of a call that the server answered with an error.

MCP has no error code for a refusal; servers explain errors in text. The first rule that matches
wins. "Text" is an ``isError`` result's text or a JSON-RPC error's message and data, without the
prefix "Error executing tool NAME: " of the SDKs:

0. words of the server's own, from its ``refusals:``, or a code that refuses
   (`harness.sessions.refusals`) → `denied`
1. "unknown tool", "tool … not found" and the like, if the tool is not listed for this user or the
  text names this tool → `unknown_tool`
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

Rules 2, 5 and 6 do not hold if the server's own *result* does not fit its declared form: the text
says "output validation error", or is a report of Pydantic on names that neither the ``inputSchema``
nor the arguments have, though the arguments fit.

A refusal is about the *caller's* permissions. The operating system's "permission denied" (EACCES,
EPERM, Errno 13) is about the server's process, and a missing file is no refusal: both are tool
errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from harness.base import search_pattern
from harness.sessions.refusals import MISSES_A_RIGHT, OPERATING_SYSTEM, REFUSED, compile_any
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


_NO_SUCH_TOOL = (
    r"\b(?:(?:unknown|no such|unrecogni[sz]ed|undefined|unsupported) (?:tool|function)|no tool)\b"
)
_NOT_FOUND = (
    r"\b(?:not found|does not exist|doesn't exist|is unknown|not registered|not available)\b"
)
_UNKNOWN_TOOL = compile_any(
    r"\b(?:unknown|no such|unrecogni[sz]ed|undefined|unsupported) (?:tool|function)\b",
    r"\bno tool (?:named|called|with)\b",
    # Between the two may stand a name of 128 characters.
    rf"\btool\b[^\n]{{0,140}}{_NOT_FOUND}",
)

# The words of Pydantic, the official SDKs, Ajv, Zod, jsonschema and Python itself.
_INVALID_ARGUMENTS = compile_any(
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

_INVALID_RESULT = compile_any(r"\boutput validation error\b")
_PYDANTIC = re.compile(r"\bvalidation errors? for [^\n]*\n")
_PYDANTIC_PLACE = re.compile(r"^(\w[^\s.]*)[^\n]*\n {2}\S", re.MULTILINE)
"""A place in the report, without what stands below its first name, and the error there."""
_PYDANTIC_MISSES = "[type=missing"

_MISSES_SOMETHING = compile_any(r"\bmissing (?:\d+ )?required ")


def classify_error(
    text: str,
    *,
    tool: str,
    listed: bool,
    code: int | None = None,
    arguments_valid: bool = True,
    names: Collection[str] | None = None,
    refusals: Sequence[str] = (),
    coded: bool = False,
) -> Outcome:
    """Return the outcome of an error, by the table above.

    Args:
        text: the text of the error.
        tool: the name that was called.
        listed: whether the server lists that tool for this user.
        code: the JSON-RPC error code; ``None`` for an ``isError`` result.
        arguments_valid: whether the arguments fit the tool's ``inputSchema``.
        names: the names that the ``inputSchema`` and the arguments have, at any depth; ``None`` if
            they are not known.
        refusals: regular expressions of the server's own words for a refusal.
        coded: whether the error has a code that refuses.
    """
    if coded or any(search_pattern(pattern, text[:_READ_CHARS]) for pattern in refusals):
        return "denied"
    text = text[:_READ_CHARS]
    if (prefix := _OF_THE_SDK.match(text)) is not None:
        text = text[prefix.end() :]
    own = _INVALID_RESULT.search(text) is not None
    if not own and arguments_valid and names is not None:
        own = _is_about_others(names, text)
    return _classify_words(text, tool, listed, code, arguments_valid, own)


def _classify_words(
    text: str,
    tool: str,
    listed: bool,  # noqa: FBT001 - as `classify_error`
    code: int | None,
    arguments_valid: bool,  # noqa: FBT001 - as `classify_error`
    own: bool,  # noqa: FBT001 - whether the text says that the server's own result is invalid
) -> Outcome:
    if _UNKNOWN_TOOL.search(text) and (not listed or _is_reported_unknown(tool, text)):
        return "unknown_tool"
    misses_a_right = arguments_valid and MISSES_A_RIGHT.search(text)
    misses_an_argument = _MISSES_SOMETHING.search(text) and not misses_a_right
    is_about_arguments = not own and (misses_an_argument or _INVALID_ARGUMENTS.search(text))
    # An error with a code, for a tool that is not listed, is about its name, whatever it says.
    if is_about_arguments and (listed or code is None):
        return "invalid_arguments"
    if REFUSED.search(text) and not OPERATING_SYSTEM.search(text):
        return "denied"
    if not listed and code in (METHOD_NOT_FOUND, INVALID_PARAMS):
        return "unknown_tool"
    if not own and (code == INVALID_PARAMS or not arguments_valid):
        return "invalid_arguments"
    return "tool_error"


def _is_about_others(names: Collection[str], text: str) -> bool:
    """Whether a report of Pydantic is about none of these names.

    What is *missing* may be an argument below one whose form the schema leaves open.
    """
    report = _PYDANTIC.search(text)
    if report is None or _PYDANTIC_MISSES in text:
        return False
    places = _PYDANTIC_PLACE.findall(text, report.end())
    return bool(places) and not set(places) & set(names)


def _is_reported_unknown(tool: str, text: str) -> bool:
    """Return whether the text says that this tool, and nothing else, was not found."""
    # Names may contain hyphens, at which `\b` would find `get` in `get-customer`.
    name = rf"['\"`]?(?<![\w-]){re.escape(tool)}(?![\w-])['\"`]?"
    before = (
        rf"(?:{_NO_SUCH_TOOL}|\btool (?:is |was )?{_NOT_FOUND})[\s:]*(?:\w+[\s:]+){{0,2}}{name}"
    )
    behind = (
        rf"\btool[\s:]*(?:\w+ ){{0,2}}{name}(?: (?:is|was|has|been|could|currently))* ?{_NOT_FOUND}"
    )
    return compile_any(before, behind).search(text) is not None
