"""One model's API as the clients see it: a body goes out, a JSON object comes back, or a `ModelError`.

The SDKs do what they are good at: addresses, headers, authentication, connections. They are called
through their own `post`, with the body as bytes and the response as it came: what the API wrote is read
once and sent back unchanged, and neither is rebuilt from typed objects on the way (which can take twice
the CPU of the rest of the call). Their retries are off and every setting is given to them: nothing is
taken from the environment, neither a key nor a base URL, organisation, project or header.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio
import httpx2

from harness.bounds import loads
from harness.errors import ModelError, UsageError
from harness.models import faults
from harness.models.limiter import Limiter
from harness.models.retry import Backoff, full_jitter, with_retries
from harness.models.settings import OWN_URLS, is_own
from harness.types import ModelSpec, Reply

CONNECT_TIMEOUT_S = 10.0
"""A server that does not even accept a connection by then is not slow but gone."""

Omit = TypeVar("Omit")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A response body, and what it took to get it."""

    data: dict[str, Any]
    """The body."""
    attempts: int
    """HTTP requests sent."""
    waited_s: float
    """Time spent waiting, in seconds."""


class Endpoint:
    """Where one model is asked, shared by all trials of a run."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        url: str,
        post: Callable[[bytes], Awaitable[httpx2.Response]],
        backoff: Backoff = full_jitter,
    ) -> None:
        """``post`` sends one request; it returns any response, or raises `faults.ConnectionFailed`."""
        self.limiter = Limiter()
        self._spec = spec
        self._url = url
        self._post = post
        self._backoff = backoff

    async def exchange(self, body: Mapping[str, Any]) -> Exchange:
        """Send ``body``, again where that makes sense, and return the response body.

        Raises:
            ModelError: there was none.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=dict).encode("utf-8", "replace")

        async def attempt() -> dict[str, Any]:
            return await self._attempt(content)

        outcome = await with_retries(
            attempt,
            name=self._spec.name,
            limiter=self.limiter,
            max_retries=self._spec.max_retries,
            backoff=self._backoff,
        )
        return Exchange(data=outcome.value, attempts=outcome.attempts, waited_s=outcome.waited_s)

    def unusable(self, problem: str, exchange: Exchange) -> ModelError:
        """Return the error for a response that is JSON but no reply."""
        message = f"{self._spec.name}: {problem}"
        return ModelError(message, status=200, attempts=exchange.attempts, waited_s=exchange.waited_s)

    async def _attempt(self, content: bytes) -> dict[str, Any]:
        try:
            # The SDKs' own timeouts start anew with every byte; this one bounds the whole exchange.
            with anyio.fail_after(self._spec.timeout_s):
                response = await self._post(content)
        except faults.ConnectionFailed as failed:
            raise faults.of_connection(failed.cause, self._spec, self._url) from None
        except TimeoutError as late:
            raise faults.of_connection(late, self._spec, self._url) from None
        if response.is_error:
            raise faults.of_response(response, self._spec, self._url)
        data = self._parse(response)
        if fault := faults.of_body(data, self._spec):
            raise fault
        return data

    def _parse(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            data = loads(response.content, strict=True)
        except ValueError:
            words = faults.quote(response.text, self._spec)
            said = f"the reply from {faults.origin(self._url)} is not JSON: {words}" if words else "the reply is empty"
            raise faults.Fault(said, status=response.status_code, advice=self._wrong_address()) from None
        if not isinstance(data, dict):
            raise faults.Fault("the reply is not a JSON object", status=response.status_code)
        return data

    def _wrong_address(self) -> str | None:
        return "Does base_url lead to the API itself?" if self._spec.base_url else None


def completed(reply: Reply, exchange: Exchange) -> Reply:
    """Return ``reply`` with what it took to get it."""
    return replace(reply, attempts=exchange.attempts, waited_s=exchange.waited_s)


def base_url(spec: ModelSpec) -> str:
    """Return the API's root, without a slash at its end.

    Raises:
        UsageError: ``base_url`` is not a web address, or the provider's own API lacks its key.
    """
    authorised = spec.api_key or any(name.lower() in {"authorization", "x-api-key"} for name in spec.headers)
    if is_own(spec) and not authorised:
        raise UsageError(f"model {spec.name!r} needs a key: {spec.api_key_variable or 'api_key'} is not set")
    url = (spec.base_url or OWN_URLS[spec.provider]).strip().rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"base_url of model {spec.name!r} is not a web address", meant="http://… or https://…")
    return url


def key(spec: ModelSpec) -> str:
    """Return the key to be sent, or nothing.

    Raises:
        UsageError: it cannot be a key; what it is stays unsaid.
    """
    return _sendable(spec.api_key.reveal() if spec.api_key else "", f"the key of model {spec.name!r}")


def headers(spec: ModelSpec, *, inherited: str, omit: Omit) -> dict[str, str | Omit]:
    """Return the headers that an SDK is to send beside its own; ``omit`` stands for "do not send".

    The SDKs add the headers that a variable of the environment lists (``inherited`` names it): they
    are taken out again. Without a key there is no ``authorization`` at all. Names are in lower case.

    Raises:
        UsageError: a key or header cannot be sent.
    """
    lines = os.environ.get(inherited, "").split("\n")
    result: dict[str, str | Omit] = {line.partition(":")[0].strip().lower(): omit for line in lines if ":" in line}
    sent = key(spec)
    result["authorization"] = f"Bearer {sent}" if sent else omit
    for name, value in spec.headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError(f"{name!r} of model {spec.name!r} cannot be the name of a header")
        result[name.lower()] = _sendable(value, f"header {name!r} of model {spec.name!r}")
    return result


def _sendable(secret: str, what: str) -> str:
    value = secret.strip()
    if not (value.isascii() and value.isprintable()):
        raise UsageError(f"{what} holds characters that cannot be sent", meant="Is it copied whole, without quotes?")
    return value


def timeout(spec: ModelSpec) -> httpx2.Timeout:
    """Return the SDK's own timeouts: those of single steps, all within the bound of the whole."""
    return httpx2.Timeout(spec.timeout_s, connect=min(CONNECT_TIMEOUT_S, spec.timeout_s))
