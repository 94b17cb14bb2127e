"""One model's API: sends a body and returns a JSON object, or raises a `ModelError`.

The SDKs handle addresses, headers, authentication and connections. They are called through their
own `post`, with the body as bytes and the raw response: the API's text is read once and sent back
unchanged, without typed objects (which can take twice the CPU of the rest of the call). Once a
request of theirs has succeeded, the following ones are the same with another body
(`BoundedClient.repeat`). Their retries are off and every setting is passed explicitly: no key, base
URL, organisation, project or header comes from the environment.
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
    LimitedTarget,
    ModelError,
    RetriesExhausted,
    UsageError,
    digest_json,
    full_jitter,
    is_web_address,
    load_json,
    retry_request,
)
from harness.models.error_bodies import UnusableResponse, find_error, find_error_event, get_text
from harness.models.failure_events import MEANINGS
from harness.models.http_failures import (
    READ_FOR_WORDS,
    ConnectionFailed,
    LearnedFields,
    ModelFault,
    fault_from_body,
    fault_from_connection,
    fault_from_response,
    fault_from_unusable,
    get_origin,
    quote_text,
)
from harness.models.model import get_traits, is_own
from harness.models.pricing import Pricer
from harness.types import UNKNOWN_USAGE, ModelSpec, Reply, Usage

CONNECT_TIMEOUT_S = 10.0
"""Seconds to connect: a server that accepts no connection by then is not slow but gone."""

MAX_MARKS = 1_000_000
"""Most commas and opening brackets in a reply, those in texts included: an upper bound of its
values.

Values take a hundred times the memory of their text, and parsing them blocks everything else."""

Omit = TypeVar("Omit")
# The characters that RFC 9110 allows in the name of a header.
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
        self.limiter = LIMITER_OF.get()(get_limit(spec))
        self._spec = spec
        self._pricer = pricer
        self._url = url
        self._post = post
        self._backoff = backoff
        # Shared by all trials: what one request taught need not be refused to the others again.
        self._learned = LearnedFields(spec.body)

    async def ask(self, body: Mapping[str, Any], read: Callable[[dict[str, Any]], Reply]) -> Reply:
        """Send ``body``, with retries, and return ``read(response body)``.

        Usage, the model's name, attempts and waiting time are filled in.

        Raises:
            ModelError: there was no reply, or it is unusable.
        """
        adapted: list[str] = []

        async def attempt() -> Reply:
            # A refused field is no attempt of the retry loop: the changed request is sent at once.
            # It ends, since each field is changed only once.
            while True:
                sent = self._learned.fit_body(body)
                try:
                    return await self._attempt(_encode_body(sent), read)
                except ModelFault as fault:
                    if (lesson := self._learned.learn_from(fault, sent)) is None:
                        raise
                    adapted.append(lesson)

        retries = self._spec.max_retries
        try:
            outcome = await retry_request(
                attempt, limiter=self.limiter, max_retries=retries, backoff=self._backoff
            )
        except RetriesExhausted as end:
            # Refused fields were requests all the same, which the record of the trial counts.
            raise self._build_error(end, end.attempts + len(adapted)) from None
        return replace(
            outcome.value,
            attempts=outcome.attempts + len(adapted),
            waited_s=outcome.waited_s,
            adapted=tuple(f"{self._spec.name}: {lesson}" for lesson in adapted),
        )

    def _build_error(self, end: RetriesExhausted, attempts: int) -> ModelError:
        """Return the failure of all attempts in words."""
        # None at all if the trial's time ran out before its first request was sent.
        faults = [failure for failure in end.failures if isinstance(failure, ModelFault)]
        fault = faults[-1] if faults else None
        if fault is not None:
            said = fault.message
        elif end.is_crowded:
            said = "other trials used all requests that the API allows at once"
        else:
            said = "the API asked all trials to wait"
        advice = f"\n  {fault.advice}" if fault and fault.advice else ""
        # Without a fault it waited for its turn, which limits of the API made long.
        meaning = MEANINGS[fault.event if fault else "rate_limit"]
        return ModelError(
            f"{self._spec.name}: {said}{end.describe('the trial')}{advice}",
            kind=meaning.party,
            stop=meaning.stop,
            status=fault.status if fault else None,
            attempts=attempts,
            waited_s=end.waited_s,
            # Of all attempts: each unusable reply was paid for.
            usage=sum((fault.usage for fault in faults), Usage()),
        )

    async def _attempt(self, content: bytes, read: Callable[[dict[str, Any]], Reply]) -> Reply:
        try:
            # The SDKs' own timeouts restart with every byte; this one bounds the whole exchange.
            with anyio.fail_after(self._spec.timeout_s):
                response = await self._post(content)
        except (ConnectionFailed, TimeoutError) as failed:
            cause = failed.cause if isinstance(failed, ConnectionFailed) else failed
            raise fault_from_connection(cause, self._spec, self._url) from None
        # Any status but 2xx: a redirect comes here as well, if the client did not follow it.
        if not response.is_success:
            raise fault_from_response(response, self._spec, self._url)
        if len(response.content) <= ASIDE_BYTES:
            return self._take_reply(response, read)
        return await anyio.to_thread.run_sync(self._take_reply, response, read)

    def _take_reply(
        self, response: httpx2.Response, read: Callable[[dict[str, Any]], Reply]
    ) -> Reply:
        """Return the reply in a successful response."""
        data = self._parse(response)
        # Before the reply is examined: an unusable reply was paid for, too.
        usage = self._pricer.read_usage(data)
        if fault := fault_from_body(data, self._spec, response.headers, usage):
            raise fault
        try:
            return replace(read(data), usage=usage, served_by=get_text(data, "model") or None)
        except UnusableResponse as problem:
            raise fault_from_unusable(problem, response.status_code, usage) from None

    def _parse(self, response: httpx2.Response) -> dict[str, Any]:
        content, status = response.content, response.status_code
        # Counted in the bytes, since to parse them is what must not happen.
        if sum(content.count(mark) for mark in b"[{,") > MAX_MARKS:
            problem = f"the reply is unusable: it may contain more than {MAX_MARKS:,} values"
            raise ModelFault(problem, status=status, usage=UNKNOWN_USAGE)
        try:
            data = load_json(content, strict=True)
        except ValueError:
            # Some gateways answer with a stream of events although none was asked for.
            if event := find_error_event(content):
                return {"error": find_error(event)}
            text = content[:READ_FOR_WORDS].decode("utf-8", "replace")
            words = quote_text(text, self._spec)
            said = f"the reply from {get_origin(self._url)} is not JSON: {words}"
            raise ModelFault(
                said if words else "the reply is empty",
                status=status,
                advice="Is base_url the URL of the API itself?" if self._spec.base_url else None,
                usage=UNKNOWN_USAGE,
            ) from None
        # Gemini puts its errors into a list.
        if isinstance(data, list) and (error := find_error(data)):
            return {"error": error}
        if not isinstance(data, dict):
            problem = "the reply is not a JSON object"
            raise ModelFault(problem, status=status, usage=UNKNOWN_USAGE)
        return data


def _encode_body(body: Mapping[str, Any]) -> bytes:
    # `default=dict`: schemas and arguments are often mappings that JSON does not know.
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=dict)
    # A tool's result may hold half of a surrogate pair, which UTF-8 does not have.
    return text.encode("utf-8", "replace")


def get_limit(spec: ModelSpec) -> LimitedTarget:
    """Return what has one limit with a model: its provider, address, key and id."""
    # Providers count requests by key. Only a digest of it: the name must not show it.
    sent_with = "" if spec.api_key is None else spec.api_key.reveal()
    name = digest_json([spec.provider, spec.base_url, spec.model_id, sent_with])
    return LimitedTarget(name=name, longest_s=spec.timeout_s)


def base_url(spec: ModelSpec) -> str:
    """Return the API's root, without its query and a slash at its end.

    Raises:
        UsageError: ``base_url`` is not a web address, or the provider's own API lacks its key.
    """
    # A configured header can stand for the key; a compatible endpoint may need none at all.
    authorised = spec.api_key or {"authorization", "x-api-key"} & {*map(str.lower, spec.headers)}
    service = get_traits(spec.provider).service
    if is_own(spec) and not authorised and not (service and service.key_optional):
        variable = spec.api_key_variable or "api_key"
        raise UsageError(f"model {spec.name!r} needs a key: {variable} is not set")
    url = _get_base_url(spec).partition("?")[0].rstrip("/")
    if not is_web_address(url):
        raise UsageError(
            f"base_url of model {spec.name!r} is not a web address", meant="http://… or https://…"
        )
    return url


def build_url(spec: ModelSpec, path: str, *, root: str | None = None) -> str:
    """Return the URL of the API's ``path``, with the query of ``base_url`` behind it.

    Azure's classic form has one: ``…/deployments/NAME?api-version=2024-10-21``.
    """
    _, mark, query = _get_base_url(spec).partition("?")
    return f"{base_url(spec) if root is None else root}{path}{mark}{query}"


def _get_base_url(spec: ModelSpec) -> str:
    service = get_traits(spec.provider).service
    return (spec.base_url or (service.url if service else "")).strip().partition("#")[0]


def find_key(spec: ModelSpec) -> str:
    """Return the key to send, or an empty text.

    Raises:
        UsageError: it cannot be a key; the message does not show it.
    """
    key = spec.api_key.reveal() if spec.api_key else ""
    return _require_sendable(key, f"the key of model {spec.name!r}")


def build_headers(spec: ModelSpec, *, inherited: str, omit: Omit) -> dict[str, str | Omit]:
    """Return the headers to send beside the SDK's own; ``omit`` means "do not send".

    The SDKs add the headers that an environment variable lists (``inherited`` names it): they are
    removed again. Without a key there is no ``authorization``. Names are in lower case.

    Raises:
        UsageError: a key or header cannot be sent.
    """
    # Split as the SDKs do it, or one of their headers would slip through.
    lines = os.environ.get(inherited, "").split("\n")
    result: dict[str, str | Omit] = {
        line.partition(":")[0].strip().lower(): omit for line in lines if ":" in line
    }
    sent = find_key(spec)
    result["authorization"] = f"Bearer {sent}" if sent else omit
    for name, value in spec.headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError(f"{name!r} of model {spec.name!r} cannot be the name of a header")
        # In lower case like all others: in two spellings the header would be sent twice.
        result[name.lower()] = _require_sendable(value, f"header {name!r} of model {spec.name!r}")
    return result


def _require_sendable(secret: str, what: str) -> str:
    # A key that is read from a file often ends in a line break.
    value = secret.strip()
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"{what} contains characters that cannot be sent",
            meant="Was it copied completely and without quotes?",
        )
    return value


def build_timeout(spec: ModelSpec) -> httpx2.Timeout:
    """Return the SDK's own timeouts of single steps, all within the bound of the exchange."""
    return httpx2.Timeout(spec.timeout_s, connect=min(CONNECT_TIMEOUT_S, spec.timeout_s))
