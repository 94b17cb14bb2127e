"""What HTTP says in place of a server's answer."""

from __future__ import annotations

_REFUSED = frozenset({401, 403, 407})
_BUSY = frozenset({408, 425, 429})
_ABSENT = frozenset({502, 503, 504})
_REQUEST_ERRORS = range(400, 500)


class HttpFault(Exception):
    """A request that got no answer of MCP; its text is the end of a sentence that begins with the server's name."""

    def __init__(self, what: str, *, status: int | None = None, gone: bool = False) -> None:
        """``status`` is the HTTP status, if one came; ``gone`` says that no later request can fare better."""
        super().__init__(what)
        self.status = status
        self.gone = gone

    @property
    def refuses(self) -> bool:
        """Whether it is about who asks."""
        return self.status in _REFUSED

    @property
    def overrules(self) -> bool:
        """Whether it says more than an error of JSON-RPC that comes with it."""
        return self.gone or self.status in _REFUSED | _BUSY | _ABSENT

    @property
    def blames_the_request(self) -> bool:
        """Whether it is about what was asked: another request may well be answered."""
        return self.status in _REQUEST_ERRORS and not self.overrules

    @property
    def may_pass(self) -> bool:
        """Whether a server that is still starting may be behind it."""
        return not self.gone and (self.status is None or self.status in _ABSENT)

    @property
    def settles_the_era(self) -> bool:
        """Whether a server would say the same to any other handshake."""
        return self.status is None or self.refuses or self.status in _BUSY
