"""A session, or a connection, is believed where each request should be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.door import Door, Refused


class OwnerKept(Clinic):
    """A session is whoever made its first call, whatever token follows."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._owners: dict[str, Mapping[str, Any]] = {}

    def identify(self, call: Call) -> Mapping[str, Any]:
        who = super().identify(call)
        return self._owners.setdefault(call.session, who) if call.session else who


class VerifiedOnce(Door):
    """In a session that a good token has opened, no token is verified any more."""

    def __init__(self, issuer: str, jwks_url: str, audience: str) -> None:
        super().__init__(issuer, jwks_url, audience)
        self._known: dict[str, Mapping[str, Any]] = {}

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        if session in self._known:
            return self._known[session]
        who = super().admit(headers, session, query)
        if session and who:
            self._known[session] = who
        return who


class ExpiredInSession(VerifiedOnce):
    """In a session that a good token has opened, a token that does not count changes nothing."""

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        try:
            who = Door.admit(self, headers, session, query)
        except Refused:
            if session in self._known:
                return self._known[session]
            raise
        if session and who:
            self._known[session] = who
        return who


class NoTokenInSession(VerifiedOnce):
    """In a session that a good token has opened, no token is needed any more."""

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        if "authorization" not in headers and session in self._known:
            return self._known[session]
        who = Door.admit(self, headers, session, query)
        if session and who:
            self._known[session] = who
        return who


class HighestOfSession(Clinic):
    """A session keeps the highest role that any of its tokens had."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._directed: set[str] = set()

    def identify(self, call: Call) -> Mapping[str, Any]:
        who = super().identify(call)
        if call.session and self.role(who) == "director":
            self._directed.add(call.session)
        return {**who, "role": "director"} if call.session in self._directed else who


class LastTokenOfProcess(Door):
    """Who shows no token gets the identity of the last one that was shown."""

    _last: Mapping[str, Any] = {}

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        self._last = super().admit(headers, session, query) or self._last
        return self._last


class MetaOverHttp(Clinic):
    """Over HTTP `_meta` says who asks, beside the token."""

    def identify(self, call: Call) -> Mapping[str, Any]:
        from tests.proofs.planted.calls import USER_KEY

        told = call.meta.get(USER_KEY)
        return told if isinstance(told, dict) else super().identify(call)


class CachedByToken(Door):
    """What a token says is cached by its first hundred characters."""

    def __init__(self, issuer: str, jwks_url: str, audience: str) -> None:
        super().__init__(issuer, jwks_url, audience)
        self._cache: dict[str, Mapping[str, Any]] = {}

    def attributes(self, token: str) -> Mapping[str, Any]:
        key = token[:100]
        if key not in self._cache:
            self._cache[key] = super().attributes(token)
        return self._cache[key]


class EchoesCaller(Clinic):
    """Results have the headers of the request, token and all."""

    def told(self, call: Call, shown: dict[str, Any]) -> Any:
        return super().told(call, {**shown, "request": dict(call.headers)})
