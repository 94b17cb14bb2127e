"""Shared by both of OpenAI's APIs and compatible endpoints.

Decided here and not in the configuration:

- Without a key no header is sent: Ollama, vLLM and llama.cpp need none.
- ``max_tokens`` is sent as ``max_completion_tokens`` to OpenAI itself, and as ``max_tokens`` to
every other endpoint, since most of them know only that. Whoever refuses the one gets the other.
- A failed tool call is a text that begins with ``Error``: these APIs have no field for it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient, Omit

from harness.base import Backoff, full_jitter
from harness.models.endpoint import (
    Endpoint,
    base_url,
    build_headers,
    build_timeout,
    build_url,
    find_key,
)
from harness.models.error_bodies import Json, get_text
from harness.models.http_failures import ConnectionFailed
from harness.models.model import get_temperature
from harness.models.pricing import Flavour, Pricer
from harness.models.wire import LOST, BoundedClient
from harness.types import ModelSpec


class OpenAIHttpClient(BoundedClient, DefaultAsyncHttpxClient):
    """The SDK's HTTP client with bounds."""


class OpenAIConnection:
    """The SDK's client for one model and one of OpenAI's two APIs."""

    # Only where each request has the same headers: tokens that expire need the SDK each time.
    _repeating: BoundedClient | None = None

    def __init__(
        self, spec: ModelSpec, path: str, flavour: Flavour, backoff: Backoff = full_jitter
    ) -> None:
        """Prepare the client; nothing is sent yet. ``path`` is the API's, from its root.

        Raises:
            UsageError: the configuration cannot work: no key, or no web address.
        """
        url = self._open_client(spec, path)
        pricer = Pricer(spec, url=url, flavour=flavour)
        self.endpoint = Endpoint(spec, pricer=pricer, url=url, post=self._post, backoff=backoff)

    def _open_client(self, spec: ModelSpec, path: str) -> str:
        """Make the SDK's client, and return the API's root."""
        url, whole = base_url(spec), build_url(spec, path)
        own = build_headers(spec, inherited="OPENAI_CUSTOM_HEADERS", omit=Omit())
        # In the SDK's spelling, to override what it finds itself.
        for name in ("OpenAI-Organization", "OpenAI-Project"):
            own[name] = own.pop(name.lower(), Omit())
        self._repeating = http_client = OpenAIHttpClient(url, spec.max_reply_mb)
        self._client = AsyncOpenAI(
            api_key=find_key(spec) or "none",  # never sent: without a key there is no header for it
            # Empty: for None the SDK would take OPENAI_ADMIN_KEY from the environment.
            admin_api_key="",
            base_url=url,
            timeout=build_timeout(spec),
            # Its own loop ignores a long Retry-After, and knows nothing of the other trials.
            max_retries=0,
            http_client=http_client,
            default_headers=cast("dict[str, str]", own),
        )
        self._url = whole
        # The SDK does not accept "omit" among the client's own headers.
        self._options: Any = (
            {} if isinstance(own["authorization"], str) else {"headers": {"authorization": Omit()}}
        )
        return url

    async def aclose(self) -> None:
        """Close connections."""
        # `Model.aclose` never raises: when it is called, the run is over, whatever fails here.
        with suppress(httpx2.HTTPError, OSError, RuntimeError):
            await self._client.close()

    async def _post(self, content: bytes) -> httpx2.Response:
        try:
            if self._repeating and (response := await self._repeating.repeat(content)) is not None:
                return response
            return await self._client.post(
                self._url, cast_to=httpx2.Response, content=content, options=self._options
            )
        # The SDK raises for an error's status; `Endpoint` reads its body as that of any response.
        except APIStatusError as error:
            return error.response
        except APIConnectionError as error:
            # The SDK's own words are the same for all failures: the HTTP client's say which it was.
            raise ConnectionFailed(error.__cause__ or error) from None
        except LOST as error:
            raise ConnectionFailed(error) from None


def build_sampling(spec: ModelSpec) -> dict[str, float]:
    """Return the temperature field, if one is configured and can be sent."""
    warmth = get_temperature(spec)
    return {} if warmth is None else {"temperature": warmth}


def read_refusal(parts: list[Json], path: str) -> str:
    """Return the text of the refusals in a message's parts, which are at ``path``.

    Raises:
        Unusable: one is no text.
    """
    refusals = (get_text(part, "refusal", path) for part in parts if part.get("type") == "refusal")
    return "\n".join(filter(None, refusals))
