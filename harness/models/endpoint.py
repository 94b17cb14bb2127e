"""One model's API: sends a body and returns a JSON object, or raises a `ModelError`.

The SDKs handle addresses, headers, authentication and connections. They are called through their
own `post`, with the body as bytes and the raw response: the API's text is read once and sent back
unchanged, without typed objects (which can take twice the CPU of the rest of the call). Their
retries are off and every setting is passed explicitly: no key, base URL, organisation, project or
header comes from the environment.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import anyio
import httpx2

from harness.base import (
    LIMITER_OF,
    Backoff,
    Limited,
    ModelError,
    UsageError,
    digest,
    full_jitter,
    is_web_address,
    loads,
)
from harness.models import http_failures as faults
from harness.models import shape
from harness.models.error_bodies import error_in, event_with_error
from harness.models.learned_fields import LearnedFields
from harness.models.model import traits_of
from harness.models.pricing import Pricer
from harness.models.retry import with_retries
from harness.models.settings import is_own
from harness.types import UNKNOWN_USAGE, ModelSpec, Reply

CONNECT_TIMEOUT_S = 10.0
"""Seconds to connect: a server that accepts no connection by then is not slow but gone."""

MAX_MARKS = 1_000_000
"""Most commas and opening brackets in a reply, those in texts included: an upper bound of its
values.

Values take a hundred times the memory of their text, and parsing them blocks everything else."""

Omit = TypeVar("Omit")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


ASIDE_BYTES = 100_000
"""A larger reply is parsed in a thread, so that other conversations go on meanwhile."""


class Endpoint:
    """The endpoint of one model, shared by all trials of a run."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        pricer: Pricer,
        url: str,
        post: Callable[[bytes], Awaitable[httpx2.Response]],
        backoff: Backoff = full_jitter,
    ) -> None:
        """``post`` sends one request, returns any response or raises `faults.ConnectionFailed`."""
        self.limiter = LIMITER_OF.get()(limit_of(spec))
        self._spec = spec
        self._pricer = pricer
        self._url = url
        self._post = post
        self._backoff = backoff
        self._learned = LearnedFields(spec.body)

    async def ask(self, body: Mapping[str, Any], read: Callable[[dict[str, Any]], Reply]) -> Reply:
        """Send ``body``, with retries, and return ``read(response body)``.

        Usage, the model's name, attempts and waiting time are filled in.

        Raises:
            ModelError: there was no reply, or it is unusable.
        """
        adapted: list[str] = []

        async def attempt() -> Reply:
            while True:
                sent = self._learned.fitted(body)
                try:
                    return await self._attempt(_encoded(sent), read)
                except faults.Fault as fault:
                    if (lesson := self._learned.learn(fault, sent)) is None:
                        raise
                    adapted.append(lesson)

        try:
            outcome = await with_retries(
                attempt,
                name=self._spec.name,
                limiter=self.limiter,
                max_retries=self._spec.max_retries,
                backoff=self._backoff,
            )
        except ModelError as error:
            error.attempts += len(adapted)
            raise
        return replace(
            outcome.value,
            attempts=outcome.attempts + len(adapted),
            waited_s=outcome.waited_s,
            adapted=tuple(f"{self._spec.name}: {lesson}" for lesson in adapted),
        )

    async def _attempt(self, content: bytes, read: Callable[[dict[str, Any]], Reply]) -> Reply:
        try:
            # The SDKs' own timeouts restart with every byte; this one bounds the whole exchange.
            with anyio.fail_after(self._spec.timeout_s):
                response = await self._post(content)
        except faults.ConnectionFailed as failed:
            raise faults.of_connection(failed.cause, self._spec, self._url) from None
        except TimeoutError as late:
            raise faults.of_connection(late, self._spec, self._url) from None
        if not response.is_success:
            raise faults.of_response(response, self._spec, self._url)
        if len(response.content) <= ASIDE_BYTES:
            return self._take(response, read)
        return await anyio.to_thread.run_sync(self._take, response, read)

    def _take(self, response: httpx2.Response, read: Callable[[dict[str, Any]], Reply]) -> Reply:
        """Return the reply in a successful response."""
        data = self._parse(response)
        usage = self._pricer.usage(data)
        if fault := faults.of_body(data, self._spec, response.headers, usage):
            raise fault
        try:
            return replace(read(data), usage=usage, served_by=shape.text_in(data, "model") or None)
        except shape.Unusable as problem:
            raise faults.of_unusable(problem, response.status_code, usage) from None

    def _parse(self, response: httpx2.Response) -> dict[str, Any]:
        content, status = response.content, response.status_code
        if sum(content.count(mark) for mark in b"[{,") > MAX_MARKS:
            problem = f"the reply is unusable: it may contain more than {MAX_MARKS:,} values"
            raise faults.Fault(problem, status=status, usage=UNKNOWN_USAGE)
        try:
            data = loads(content, strict=True)
        except ValueError:
            if event := event_with_error(content):
                return {"error": error_in(event)}
            words = faults.quote(
                content[: faults.READ_FOR_WORDS].decode("utf-8", "replace"), self._spec
            )
            said = (
                f"the reply from {faults.origin(self._url)} is not JSON: {words}"
                if words
                else "the reply is empty"
            )
            raise faults.Fault(
                said, status=status, advice=self._wrong_address(), usage=UNKNOWN_USAGE
            ) from None
        if isinstance(data, list) and (error := error_in(data)):
            return {"error": error}
        if not isinstance(data, dict):
            raise faults.Fault("the reply is not a JSON object", status=status, usage=UNKNOWN_USAGE)
        return data

    def _wrong_address(self) -> str | None:
        return "Is base_url the URL of the API itself?" if self._spec.base_url else None


def _encoded(body: Mapping[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=dict)
    return text.encode("utf-8", "replace")


def limit_of(spec: ModelSpec) -> Limited:
    """Return what has one limit with a model: its provider, address, key and id."""
    sent_with = "" if spec.api_key is None else spec.api_key.reveal()
    name = digest([spec.provider, spec.base_url, spec.model_id, sent_with])
    return Limited(name=name, longest_s=spec.timeout_s)


def base_url(spec: ModelSpec) -> str:
    """Return the API's root, without its query and a slash at its end.

    Raises:
        UsageError: ``base_url`` is not a web address, or the provider's own API lacks its key.
    """
    authorised = spec.api_key or any(
        name.lower() in {"authorization", "x-api-key"} for name in spec.headers
    )
    if is_own(spec) and not authorised:
        raise UsageError(
            f"model {spec.name!r} needs a key: {spec.api_key_variable or 'api_key'} is not set"
        )
    url = _configured(spec).partition("?")[0].rstrip("/")
    if not is_web_address(url):
        raise UsageError(
            f"base_url of model {spec.name!r} is not a web address", meant="http://… or https://…"
        )
    return url


def url_of(spec: ModelSpec, path: str, *, root: str | None = None) -> str:
    """Return the URL of the API's ``path``, with the query of ``base_url`` behind it.

    Azure's classic form has one: ``…/deployments/NAME?api-version=2024-10-21``.
    """
    _, mark, query = _configured(spec).partition("?")
    return f"{base_url(spec) if root is None else root}{path}{mark}{query}"


def _configured(spec: ModelSpec) -> str:
    service = traits_of(spec.provider).service
    return (spec.base_url or (service.url if service else "")).strip().partition("#")[0]


def key(spec: ModelSpec) -> str:
    """Return the key to send, or an empty text.

    Raises:
        UsageError: it cannot be a key; the message does not show it.
    """
    return _sendable(
        spec.api_key.reveal() if spec.api_key else "", f"the key of model {spec.name!r}"
    )


def headers(spec: ModelSpec, *, inherited: str, omit: Omit) -> dict[str, str | Omit]:
    """Return the headers to send beside the SDK's own; ``omit`` means "do not send".

    The SDKs add the headers that an environment variable lists (``inherited`` names it): they are
    removed again. Without a key there is no ``authorization``. Names are in lower case.

    Raises:
        UsageError: a key or header cannot be sent.
    """
    lines = os.environ.get(inherited, "").split("\n")
    result: dict[str, str | Omit] = {
        line.partition(":")[0].strip().lower(): omit for line in lines if ":" in line
    }
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
        raise UsageError(
            f"{what} contains characters that cannot be sent",
            meant="Was it copied completely and without quotes?",
        )
    return value


def timeout(spec: ModelSpec) -> httpx2.Timeout:
    """Return the SDK's own timeouts of single steps, all within the bound of the exchange."""
    return httpx2.Timeout(spec.timeout_s, connect=min(CONNECT_TIMEOUT_S, spec.timeout_s))
