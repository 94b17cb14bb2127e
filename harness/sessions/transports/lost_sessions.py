"""Tells from a server's words that it no longer knows the session of an HTTP connection.

The specification wants HTTP 404 for that. Servers also answer 400, 401, 410, 500 and 503, with an
error of JSON-RPC, another JSON document, or a text.
"""

from __future__ import annotations

import re

# Not the possessive: "the session's owner does not exist" is about the owner.
_A_SESSION = r"\bsession(?:[ _-]?id)?\b(?!['’]s)(?:[^.\n]{0,40}?\b)"
_UNKNOWN = re.compile(
    rf"{_A_SESSION}(?:not found|not recogni[sz]ed|unknown|does(?: not|n't) exist)\b"
    r"|\b(?:unknown|no such|unrecogni[sz]ed|(?:could not|couldn't|cannot) find)(?: mcp)? session\b"
    r"|\bno (?:transport|connection)(?: found)? for session"
    r"|\b(?:invalid|missing|no valid|unknown)(?: or \w+)? (?:mcp[ -])?session[ _-]?id\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    rf"{_A_SESSION}(?:expired|terminated|closed|invalid|missing|required|no longer|"
    r"not (?:valid|initiali[sz]ed|active|exist))\b"
    r"|\b(?:invalid|expired|stale|inactive|no(?: valid| active)?)(?: or \w+)? (?:mcp[ -])?session\b"
    r"|\bserver not initiali[sz]ed\b",
    re.IGNORECASE,
)
_READ_CHARS = 1_000


def names_lost_session(text: str, *, is_refusal: bool = False) -> bool:
    """Whether ``text`` says that the session is unknown or over.

    In a refusal of the caller (HTTP 401, 403), one that has expired may be the user's login.
    """
    text = text[:_READ_CHARS]
    return bool(_UNKNOWN.search(text)) or (not is_refusal and bool(_OVER.search(text)))
