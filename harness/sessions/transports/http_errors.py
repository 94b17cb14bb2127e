"""HTTP failures instead of an MCP answer, and words that say that a session is over.

The specification wants HTTP 404 for a session that the server no longer knows. Servers also answer
400, 401, 410, 500 and 503, with an error of JSON-RPC, another JSON document, or a text.
"""

from __future__ import annotations

import re

from harness.base import FailedAttempt

_REFUSED = frozenset({401, 403, 407})
# Too slow, too early, too often: the same request may be answered later.
_BUSY = frozenset({408, 425, 429})
# From a gateway whose server is not there, or from a server that is still starting.
_ABSENT = frozenset({502, 503, 504})
_REQUEST_ERRORS = range(400, 500)
_TOO_MANY, _UNAVAILABLE = 429, 503


class HttpFault(FailedAttempt):
    """A request without an MCP answer.

    The server's name precedes its text in messages.
    """

    def __init__(
        self,
        what: str,
        *,
        status: int | None = None,
        gone: bool = False,
        retry_after_s: float | None = None,
        busy: bool = False,
    ) -> None:
        """``status`` is the HTTP status, if any; ``gone``: no later request can succeed.

        ``retry_after_s`` is when the server wants it again; ``busy``: it was asked again, or not at
        all, because of such a wish.
        """
        super().__init__(what)
        self.status = status
        self.gone = gone
        self.retry_after_s = retry_after_s
        self.busy = busy
        # Only with `Retry-After` does a 503 say that the request was not carried out.
        self.throttled = status == _TOO_MANY or (
            status == _UNAVAILABLE and retry_after_s is not None
        )
        self.retryable = self.throttled and not gone and not busy

    @property
    def is_refusal(self) -> bool:
        """Whether it refuses the caller, and not a session that it has forgotten."""
        return self.status in _REFUSED and not self.gone

    @property
    def takes_precedence(self) -> bool:
        """Whether it takes precedence over a JSON-RPC error in the same reply."""
        return self.gone or self.status in _REFUSED | _BUSY | _ABSENT

    @property
    def blames_the_request(self) -> bool:
        """Whether it concerns only this request: another request may be answered."""
        return self.status in _REQUEST_ERRORS and not self.takes_precedence

    @property
    def may_pass(self) -> bool:
        """Whether it may come from a server that is still starting."""
        return not self.gone and (self.status is None or self.status in _ABSENT)

    @property
    def settles_the_era(self) -> bool:
        """Whether any other handshake would fail in the same way."""
        return self.gone or self.is_refusal or self.throttled or self.status in _BUSY


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
