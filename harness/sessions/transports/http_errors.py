"""HTTP failures instead of an MCP answer."""

from __future__ import annotations

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
