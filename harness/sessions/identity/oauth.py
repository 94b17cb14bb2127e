"""Logs an account in at a server's authorization server, by the SDK's own OAuth client.

A request is sent with the token that is known. Only the answer 401, or 403 with
``insufficient_scope``, begins a flow: discovery, registration, the token, and the request again.
The SDK would hold its lock while a request is answered, and all calls of an account would wait for
each other; here it holds the lock for the flow alone.

Importing this module loads the SDK's client: do it when a server needs it.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from harness.base import digest_json, state_folder, write_private_text
from harness.sessions.identity.deliveries.oauth import OAuthDelivery
from harness.sessions.identity.delivery import fill_template
from harness.sessions.transports.http_errors import HttpFault
from harness.types import JsonObject

MAX_BYTES = 1_000_000
"""Largest answer of an authorization server."""
ANSWER_S = 15.0
"""Seconds for one answer of an authorization server; a trial's own limit may be hours."""

Learn: TypeAlias = Callable[[str], None]
"""Gets a secret, which is left out of everything that is written."""

_UNAUTHORIZED = 401
_FORBIDDEN = 403


class Person(Protocol):
    """Whoever can consent to a login in a browser."""

    redirect_uri: str
    """Where the browser is sent with the answer."""

    async def open_page(self, url: str) -> None:
        """Show the page on which a person consents."""

    async def wait_answer(self) -> AuthorizationCodeResult:
        """Return what the browser brought back."""


class NobodyThere:
    """Stands for the person in a run, where nobody waits for a browser."""

    redirect_uri = "http://127.0.0.1/callback"

    def __init__(self, server: str, user_context: JsonObject) -> None:
        """``server`` and ``user_context`` name the account for the message."""
        self._command = f"harness login {server} --user-context '{json.dumps(dict(user_context))}'"

    async def open_page(self, url: str) -> None:
        """Refuse.

        Raises:
            OAuthFlowError: always, with the command that logs in.
        """
        raise OAuthFlowError(f"the account is not logged in. Run: {self._command}")

    async def wait_answer(self) -> AuthorizationCodeResult:
        """Never called, since no page is opened."""
        raise NotImplementedError


class LoginStore:
    """The tokens and the registered client of one account; satisfies the SDK's ``TokenStorage``.

    In a file that only its user can read, or in memory alone (`path` is ``None``).
    """

    def __init__(
        self,
        path: Path | None,
        client: OAuthClientInformationFull | None,
        learn: Learn,
        *,
        anew: bool = False,
    ) -> None:
        """``client`` is the configured one; ``learn`` gets every secret before its use.

        ``anew`` leaves out what the file has; new tokens replace it.
        """
        self.path = path
        self._client = client
        self._learn = learn
        self._kept: dict[str, Any] = {}
        self.provider: OAuthClientProvider | None = None
        if path is not None and path.exists() and not anew:
            try:
                self._kept = dict(json.loads(path.read_text("utf-8")))
            except (OSError, ValueError, TypeError):
                self._kept = {}  # damaged: the account logs in again

    async def get_tokens(self) -> OAuthToken | None:
        """Return the kept tokens, and restore what the SDK needs to renew them."""
        if "tokens" not in self._kept or self.provider is None:
            return None
        context = self.provider.context
        try:
            tokens = OAuthToken.model_validate(self._kept["tokens"])
            if self._kept.get("metadata"):
                context.oauth_metadata = OAuthMetadata.model_validate(self._kept["metadata"])
            if self._kept.get("resource"):
                resource = ProtectedResourceMetadata.model_validate(self._kept["resource"])
                context.protected_resource_metadata = resource
        except ValidationError:
            return None
        context.auth_server_url = self._kept.get("authorization_server")
        context.token_expiry_time = self._kept.get("expires_at")
        self._learn_tokens(tokens)
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep new tokens, with what is needed to renew them later."""
        self._learn_tokens(tokens)
        assert self.provider is not None
        context = self.provider.context
        resource = context.protected_resource_metadata
        self._kept |= {
            "tokens": tokens.model_dump(mode="json", exclude_none=True),
            "expires_at": None if tokens.expires_in is None else time.time() + tokens.expires_in,
            "metadata": context.oauth_metadata and context.oauth_metadata.model_dump(mode="json"),
            "resource": resource and resource.model_dump(mode="json"),
            "authorization_server": context.auth_server_url,
        }
        if self.path is not None:
            write_private_text(self.path, json.dumps(self._kept))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the configured client, else the registered one."""
        if self._client is not None or "client" not in self._kept:
            return self._client
        try:
            return OAuthClientInformationFull.model_validate(self._kept["client"])
        except ValidationError:
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the client that has been registered.

        It is written with its first tokens: until then, an earlier login stays.
        """
        if client_info.client_secret:
            self._learn(client_info.client_secret)
        self._kept["client"] = client_info.model_dump(mode="json", exclude_none=True)

    def expire(self) -> None:
        """Treat the kept access token as expired: it was refused before its time."""
        self._kept["expires_at"] = 1.0
        if self.provider is not None:
            self.provider.context.token_expiry_time = 1.0

    def forget(self) -> None:
        """Forget the tokens and the registered client."""
        self._kept = {}
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _learn_tokens(self, tokens: OAuthToken) -> None:
        for secret in (tokens.access_token, tokens.refresh_token):
            if secret:
                self._learn(secret)


class OAuthLogin:
    """Authorizes the requests of one account to one server."""

    def __init__(
        self,
        settings: OAuthDelivery,
        user_context: JsonObject,
        url: str,
        learn: Learn,
        person: Person,
        *,
        anew: bool = False,
    ) -> None:
        """``person`` consents if the flow needs somebody; ``learn`` gets every secret.

        ``anew`` logs in although there is a login, which stays until the new one stands.
        """
        filled = {
            name: template and fill_template(template, user_context)
            for name, template in (
                ("id", settings.client_id),
                ("secret", settings.client_secret),
                ("scope", settings.scope),
            )
        }
        if filled["secret"]:
            learn(filled["secret"])
        by_secret = settings.flow == "client_credentials"
        redirect, client = [AnyUrl(person.redirect_uri)], None
        if filled["id"] and not by_secret:
            client = OAuthClientInformationFull(
                client_id=filled["id"],
                client_secret=filled["secret"],
                redirect_uris=redirect,
                token_endpoint_auth_method="client_secret_basic" if filled["secret"] else "none",
                issuer=settings.authorization_server,
            )
        # A client's token is of one run; a person's login lasts.
        path = None if by_secret else find_login_file(settings, user_context, url)
        self.store = LoginStore(path, client, learn, anew=anew)
        self._provider: OAuthClientProvider
        if by_secret:
            assert filled["id"] is not None
            assert filled["secret"] is not None
            self._provider = ClientCredentialsOAuthProvider(
                url,
                self.store,
                filled["id"],
                filled["secret"],
                scope=filled["scope"],
                issuer=settings.authorization_server,
            )
        else:
            self._provider = OAuthClientProvider(
                url,
                OAuthClientMetadata(
                    redirect_uris=redirect, client_name="harness", scope=filled["scope"]
                ),
                self.store,
                person.open_page,
                person.wait_answer,
                settings.client_metadata_url,
            )
        self.store.provider = self._provider
        self._loaded = False

    async def authorize(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Yield ``request`` with the account's token, and whatever gets one if it is refused.

        Raises:
            HttpFault: no token can be got.
        """
        context = self._provider.context
        if not self._loaded:
            context.current_tokens = await self.store.get_tokens()
            self._loaded = True
        if context.current_tokens is not None:
            request.headers["authorization"] = f"Bearer {context.current_tokens.access_token}"
        sent = request.headers.get("authorization")
        response = yield request
        if not _asks_for_token(response):
            return
        await response.aread()
        if response.status_code == _UNAUTHORIZED and context.current_tokens is not None:
            # Refused before its time: a renewal is tried before a person is asked again.
            self.store.expire()
        refused: httpx2.Response | None = response
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is not request:
                    outgoing.extensions["timeout"] = httpx2.Timeout(ANSWER_S).as_dict()
                    outgoing.headers["accept-encoding"] = "identity"
                    answer = _bound_answer((yield outgoing))
                elif refused is not None and request.headers.get("authorization") == sent:
                    answer, refused = refused, None  # asked already, and answered
                else:
                    answer = yield request
                outgoing = await flow.asend(answer)
        except StopAsyncIteration:
            return
        except (OAuthFlowError, ValidationError) as error:
            why = f"cannot be logged in to: {_shorten(error)}"
            raise HttpFault(why, status=_UNAUTHORIZED) from error
        finally:
            await flow.aclose()


def find_login_file(settings: OAuthDelivery, user_context: JsonObject, url: str) -> Path:
    """Return the file of an account's login; equal accounts of one server have one."""
    parts = httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None)
    account = [str(parts), settings.client_id, settings.scope, dict(user_context)]
    return state_folder() / "logins" / f"{digest_json(account)[:32]}.json"


class _AnswerBody(httpx2.AsyncByteStream):
    """The body of an answer, which ends the flow where it grows too large."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._body:
            size += len(part)
            if size > MAX_BYTES:
                raise HttpFault("cannot be logged in to: its authorization server sends no end")
            yield part

    async def aclose(self) -> None:
        await self._body.aclose()


def _bound_answer(response: httpx2.Response) -> httpx2.Response:
    """Bound what the SDK will read of ``response``.

    Raises:
        HttpFault: it is compressed although none was asked for, and may unfold to any size.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise HttpFault("cannot be logged in to: its authorization server compresses unasked")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _AnswerBody(response.stream)
    return response


def _asks_for_token(response: httpx2.Response) -> bool:
    if response.status_code == _UNAUTHORIZED:
        return True
    challenge = response.headers.get("www-authenticate", "")
    return response.status_code == _FORBIDDEN and "insufficient_scope" in challenge


def _shorten(error: Exception) -> str:
    """Return the first line: the body of an answer may be a page."""
    if isinstance(error, ValidationError):
        return f"an answer of its authorization server is no {error.title}"
    return str(error).strip().partition("\n")[0][:300]
