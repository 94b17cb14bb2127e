"""Token source for one caller and one server; a token is renewed before it expires."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit, urlunsplit

import anyio

from harness.base import MARK, Redactor, ServerError, TokenPieces, UsageError, names_secret
from harness.sessions.identity.deliveries.bearer import BearerDelivery, build_claims
from harness.sessions.identity.deliveries.oauth import OAuthDelivery
from harness.sessions.identity.delivery import Identity, RequestAdditions, delivery_of
from harness.sessions.identity.token_command import run_token_command
from harness.sessions.processes.guardian import Guardian
from harness.sessions.transports.http_errors import HttpFault
from harness.types import Credential, JsonObject, ServerSpec

if TYPE_CHECKING:
    from harness.sessions.identity.issuer import Issuer, Issuers
    from harness.sessions.identity.oauth import OAuthLogin, Person
    from harness.sessions.identity.tokens import Token

RENEW_S = 60.0
"""Seconds before its expiry at which a token is renewed, so that no request arrives with an expired
one."""

RENEW_SHARE = 1 / 4
"""The same as a share of its lifetime, for short-lived tokens."""

PLACEHOLDERS: Mapping[str, str] = {
    "issuer": "HARNESS_ISSUER",
    "jwks_url": "HARNESS_JWKS_URL",
    "audience": "HARNESS_AUDIENCE",
}
"""Placeholder in a started server's args and env → the environment variable with the same value."""


class Bearer:
    """Returns the ``Authorization`` header of one caller for each request."""

    def __init__(
        self,
        source: Bearers,
        spec: ServerSpec,
        who: Identity,
        audience: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Make tokens of ``who`` for ``spec`` and ``audience``.

        ``now`` returns the seconds since the epoch.
        """
        self._source = source
        self._spec = spec
        self._who = who
        self._audience = audience
        self._now = now
        self._lock = anyio.Lock()
        self._token: Token | None = None
        self._renew_at = math.inf

    async def get_headers(self) -> dict[str, str]:
        """Return the headers of a request; none for an anonymous caller or the credential ``none``.

        Raises:
            ServerError: the token cannot be made.
            UsageError: the ``user_context`` cannot be claims of a token.
        """
        user_context = self._who.user_context
        if user_context is None or self._who.credential == "none":
            return {}
        # Requests of one caller come at the same time: one of them makes the token for all.
        async with self._lock:
            if self._token is None or self._now() >= self._renew_at:
                self._token = await self._create_token(user_context)
                self._renew_at = self._compute_renewal(self._token)
            return {"Authorization": f"Bearer {self._token.text}"}

    async def build_additions(self) -> RequestAdditions:
        """Return the same as additions to a request.

        Raises:
            HttpFault: the token cannot be made, so the server is not asked.
        """
        try:
            return RequestAdditions(await self.get_headers())
        except ServerError as error:
            raise HttpFault(f"was not asked: {error}") from error

    def impersonate(self, who: Identity) -> None:
        """Send the token of ``who`` from now on, as an attacker does within a session."""
        self._who, self._token = who, None

    def _compute_renewal(self, token: Token) -> float:
        left = math.inf if token.expires_at is None else token.expires_at - self._now()
        # A token that arrives expired is meant to be; a new one would be no better.
        return math.inf if left <= 0 else self._now() + left - min(RENEW_S, left * RENEW_SHARE)

    async def _create_token(self, user_context: JsonObject) -> Token:
        settings = bearer_of(self._spec)
        if settings.token_command is not None:
            from harness.sessions.identity.tokens import Token, read_expiry

            # Known before the command runs, because errors quote its stderr.
            for name in filter(names_secret, settings.token_env):
                self._source.add_secret(os.environ.get(name, ""))
            cwd, guardian = self._spec.transport.cwd, self._source.guardian
            command = settings.token_command
            text = await run_token_command(command, user_context, guardian, cwd, settings.token_env)
            self._source.add_secret(text)
            return Token(text, read_expiry(text))
        issuer = await self._source.get_issuer(settings)
        claims = build_claims(settings, user_context)
        token = issuer.issue_token(
            claims,
            audience=self._audience,
            credential=self._who.credential,
            expired_s=self._who.expired_s,
        )
        self._source.add_secret(token.text)
        return token


class Bearers:
    """All token sources of a session pool, and their issuers; an async context manager."""

    def __init__(
        self,
        guardian: Guardian,
        learn: Callable[[str], None] = lambda _: None,
        person: Person | None = None,
    ) -> None:
        """Prepare; no issuer is started yet.

        ``learn`` gets every token before its use. ``person`` consents to logins; without one, an
        account that is not logged in is an error.
        """
        self.guardian = guardian
        self.shown = TokenPieces(MARK)
        """Every token that was sent to a server."""
        self._redactor = Redactor()
        self._learn = learn
        self._issuers: Issuers | None = None
        self._person = person
        self._logins: dict[tuple[str, str], OAuthLogin] = {}

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the issuers."""
        if self._issuers is not None:
            await self._issuers.aclose()

    def get_bearer(self, spec: ServerSpec, who: Identity, url: str) -> Bearer | None:
        """Return the token source of ``who`` for ``spec`` at ``url``, if it takes tokens."""
        if not delivery_of(spec.identity).takes_tokens:
            return None
        return Bearer(self, spec, who, get_audience(spec, url))

    def get_login(self, spec: ServerSpec, who: Identity, url: str) -> OAuthLogin | None:
        """Return the login of ``who`` at the server at ``url``, if it is one by OAuth.

        All connections of an account share it, so that one of them logs in for all.
        """
        delivery = delivery_of(spec.identity)
        if not isinstance(delivery, OAuthDelivery) or who.user_context is None:
            return None
        from harness.sessions.identity.oauth import NobodyThere, OAuthLogin

        key = url, who.key
        if key not in self._logins:
            person = self._person or NobodyThere(spec.name, who.user_context)
            self._logins[key] = OAuthLogin(
                delivery,
                who.user_context,
                url,
                self.add_secret,
                person,
                # A client that was registered with another port may be refused at this one.
                anew=self._person is not None,
            )
        return self._logins[key]

    async def fill_issuer(self, spec: ServerSpec) -> ServerSpec:
        """Return ``spec``, about to be started, with its issuer filled in (`PLACEHOLDERS`).

        Raises:
            ServerError: the issuer could not start.
        """
        if not delivery_of(spec.identity).is_signed:
            return spec
        issuer = await self.get_issuer(bearer_of(spec))
        facts = {
            "issuer": issuer.url,
            "jwks_url": issuer.jwks_url,
            "audience": get_audience(spec, spec.transport.url or ""),
        }
        told = {variable: facts[name] for name, variable in PLACEHOLDERS.items()}
        # Behind the issuer's own variables: one that the entry sets keeps its value.
        env = {name: _fill_text(value, facts) for name, value in spec.transport.env.items()}
        return replace(
            spec,
            transport=replace(
                spec.transport,
                args=tuple(_fill_text(text, facts) for text in spec.transport.args),
                env={**told, **env},
            ),
        )

    async def get_issuer(self, settings: BearerDelivery) -> Issuer:
        """Return the issuer on the port and with the algorithm of ``settings``.

        It is started on first use.

        Raises:
            ServerError: the port is taken.
        """
        if self._issuers is None:
            from harness.sessions.identity.issuer import Issuers

            self._issuers = Issuers()
        return await self._issuers.get_issuer(settings.issuer_port, settings.algorithm)

    def add_secret(self, token: str) -> None:
        """Redact ``token`` in everything that is written from now on."""
        self.shown.add_whole(token)
        self._redactor.add_secret(token)
        self._learn(token)

    def redact_text(self, text: str) -> str:
        """Return a server's ``text`` with tokens redacted."""
        return self._redactor.redact_text(text)


def bearer_of(spec: ServerSpec) -> BearerDelivery:
    """Return the settings of the tokens for ``spec``, which takes tokens."""
    delivery = delivery_of(spec.identity)
    assert isinstance(delivery, BearerDelivery)
    return delivery


def get_audience(spec: ServerSpec, url: str) -> str:
    """Return the audience for ``spec``: the configured one, else its URL without secrets."""
    if (audience := bearer_of(spec).audience) is not None:
        return audience
    parts = urlsplit(url)
    # Neither a login nor a query: both may be secrets, and every token names its audience.
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def choose_credential(member: ServerSpec, credential: Credential) -> Credential:
    """Return the credential for ``member`` of joined servers, which may not take tokens."""
    return credential if delivery_of(member.identity).takes_tokens else "valid"


def check_credential(
    spec: ServerSpec, user_context: JsonObject | None, credential: Credential
) -> None:
    """Accept only credentials that can be sent to ``spec``, and users that tokens can describe.

    Raises:
        UsageError: with what to do instead.
    """
    delivery = delivery_of(spec.identity)
    if credential != "valid" and not delivery.takes_tokens:
        raise UsageError(
            f"credential {credential!r} needs a bearer token, but {spec.name!r} gets identities "
            f"by {spec.identity.via}",
            meant="Write 'identity: bearer' in the server's entry, or remove the credential.",
        )
    if credential not in ("valid", "none") and user_context is None:
        why = "an anonymous caller has no token"
        message = f"credential {credential!r} needs a user_context: {why}"
        meant = "Name the token's user with 'user_context:', or write 'credential: none'."
        raise UsageError(message, meant=meant)
    if credential not in ("valid", "none") and not delivery.is_signed:
        raise UsageError(
            f"credential {credential!r} cannot be made: the tokens of server {spec.name!r} come "
            "from its token_command",
            meant="Only 'valid' and 'none' work with a token_command.",
        )
    if delivery.takes_tokens and user_context is not None:
        delivery.check_user(user_context)


def _fill_text(text: str, facts: Mapping[str, str]) -> str:
    """Return ``text`` with ``{issuer}``, ``{jwks_url}`` and ``{audience}`` filled in.

    Other braces stay unchanged.
    """
    for name, value in facts.items():
        text = text.replace(f"{{{name}}}", value)
    return text
