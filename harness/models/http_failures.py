"""Failures of one HTTP exchange: messages for people and facts for the retry loop.

Faults that may be transient are retried: a connection that was refused, reset or timed out, and the
statuses 408 (request timeout), 409 (a lock at the provider), 429 (rate limit) and 5xx except 501
(500, 502, 503 and 504 of servers and gateways, 529 "overloaded", 520 to 524 of a CDN). A lost reply
may have been paid for; the request is sent again nevertheless.

Other statuses are never retried: 400, 401, 403 and 404 would come again; neither are 429 for an
account without credit, and any status that the API marks ``x-should-retry: false``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from harness.json_bounds import loads
from harness.limiting.retry_after import retry_after_s
from harness.limiting.retrying import Failed
from harness.models.wire import BrokeOff, TooLarge
from harness.redirects import shown
from harness.types import UNKNOWN_USAGE, ModelSpec, Usage

LONGEST_QUOTE = 300
"""Most characters of an API's own text that a message quotes."""
READ_FOR_WORDS = 20 * LONGEST_QUOTE
"""Characters that are searched for that text; much of them may be styles and markup."""
THROTTLED = frozenset({429, 529})
"""Statuses that ask for fewer requests at once."""
NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""Error codes of OpenAI's 429 replies for which waiting does not help."""
PASSING_ERRORS = frozenset(
    {"server_error", "rate_limit_exceeded", "overloaded_error", "api_error", "timeout_error"}
)
"""Transient error types in the body of a response with status 200."""
_TIDY = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^>]*>|\s+", re.DOTALL | re.IGNORECASE)
_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk)-[\w*.…-]{4,}")


class ConnectionFailed(Exception):
    """There was no complete HTTP response."""

    def __init__(self, cause: BaseException) -> None:
        """``cause`` is the HTTP client's exception."""
        super().__init__(type(cause).__name__)
        self.cause = cause


class Fault(Failed):
    """An exchange without a usable reply."""

    def __init__(
        self,
        message: str,
        *,
        advice: str | None = None,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        """``message`` and ``advice`` are for people.

        ``retry_after_s`` is the API's wish in seconds.

        ``usage`` is that of an unusable reply; ``None`` if no reply came.
        """
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.throttled = retryable and status in THROTTLED
        self.usage = usage or Usage()


def of_response(response: httpx2.Response, spec: ModelSpec, url: str) -> Fault:
    """Return the fault for a response whose status is no success."""
    status = response.status_code
    if response.next_request is not None:
        to = quote(shown(response.next_request.url), spec)
        return Fault(
            f"HTTP {status} from {origin(url)}: a redirect to {to}, which is not followed: "
            "the conversation and the key would go there",
            advice="If that is where the API is, set base_url to it." if spec.base_url else None,
            status=status,
        )
    error = _error_of(_json_of(response.content))
    words = quote(
        _words(error) or response.content[:READ_FOR_WORDS].decode("utf-8", "replace"), spec
    )
    code = error.get("code") if isinstance(error, Mapping) else None
    retryable = (
        is_retryable(status)
        and not _is_one_of(code, NO_CREDIT)
        and response.headers.get("x-should-retry") != "false"
    )
    return Fault(
        f"HTTP {status} from {origin(url)}" + (f": {words}" if words else ""),
        advice=_advice(status, code, spec),
        status=status,
        retryable=retryable,
        retry_after_s=retry_after_s(response.headers) if retryable else None,
    )


def of_body(data: Mapping[str, Any], spec: ModelSpec) -> Fault | None:
    """Return the fault in the body of a response with status 200, if there is one.

    Gateways answer so, and Responses of the status ``failed``.
    """
    error = data.get("error")
    if not error:
        return None
    kinds = (error.get("type"), error.get("code")) if isinstance(error, Mapping) else ()
    return Fault(
        f"the API reports an error: {quote(_words(error) or 'without words', spec)}",
        retryable=any(_is_one_of(kind, PASSING_ERRORS) for kind in kinds),
        usage=UNKNOWN_USAGE,
    )


def of_connection(cause: BaseException, spec: ModelSpec, url: str) -> Fault:
    """Return the fault for a connection without a complete response."""
    if isinstance(cause, TooLarge | BrokeOff | httpx2.DecodingError):
        return _of_part(cause, spec, url)
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        advice = (
            "Is the server running there? Check base_url."
            if spec.base_url
            else "Is this machine online?"
        )
        return Fault(f"cannot connect to {origin(url)}", advice=advice, retryable=True)
    if isinstance(cause, TimeoutError | httpx2.TimeoutException):
        return Fault(
            f"no complete reply from {origin(url)} within {spec.timeout_s:g} s", retryable=True
        )
    if isinstance(cause, httpx2.NetworkError | httpx2.RemoteProtocolError):
        return Fault(
            f"the connection to {origin(url)} broke before the reply was complete", retryable=True
        )
    return Fault(
        f"the request to {origin(url)} failed: {quote(str(cause) or type(cause).__name__, spec)}"
    )


def _of_part(cause: TooLarge | BrokeOff | httpx2.DecodingError, spec: ModelSpec, url: str) -> Fault:
    """Return the fault for an incomplete reply, whose usage is unknown."""
    if isinstance(cause, BrokeOff):
        fault = of_connection(cause.__cause__ or cause, spec, url)
        fault.usage = UNKNOWN_USAGE
        return fault
    if isinstance(cause, TooLarge):
        return Fault(
            f"the reply from {origin(url)} is larger than {spec.max_reply_mb:g} MB, and was not "
            "read to its end",
            advice="If the model is meant to reply at such length, raise its max_reply_mb.",
            usage=UNKNOWN_USAGE,
        )
    words = quote(str(cause), spec)
    return Fault(
        f"the reply from {origin(url)} cannot be decompressed: {words}", usage=UNKNOWN_USAGE
    )


def is_retryable(status: int) -> bool:
    """Whether this HTTP status may be transient."""
    return status in {408, 409, 429} or (status >= 500 and status != 501)  # noqa: PLR2004 - HTTP's own numbers


def origin(url: str) -> str:
    """Return ``https://host:port`` of ``url``, without credentials and path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def quote(text: str, spec: ModelSpec) -> str:
    """Return an API's text on one line, bounded, with every secret of ``spec`` redacted."""
    flat = _TIDY.sub(" ", text[:READ_FOR_WORDS])
    for secret in secrets(spec):
        flat = flat.replace(secret, "•••")
    flat = " ".join(_LOOKS_LIKE_A_KEY.sub("•••", flat).split())
    return flat if len(flat) <= LONGEST_QUOTE else flat[: LONGEST_QUOTE - 1] + "…"


def secrets(spec: ModelSpec) -> Iterable[str]:
    """Return the secrets of a model: the key, and header values that are long enough to be one."""
    key = spec.api_key.reveal().strip() if spec.api_key else ""
    values = (part for value in spec.headers.values() for part in value.split() if len(part) >= 8)  # noqa: PLR2004
    return sorted({key, *values} - {""}, key=len, reverse=True)


def _advice(status: int, code: object, spec: ModelSpec) -> str | None:
    if _is_one_of(code, NO_CREDIT):
        return "The account has no credit left."
    variable = spec.api_key_variable or "api_key"
    root = " Is base_url the API's root? For an OpenAI-compatible server it usually ends in /v1."
    return {
        401: f"Check the key in {variable}."
        if spec.api_key
        else f"No key was sent: set {variable}.",
        403: f"The key has no access to {spec.model_id!r} here.",
        404: f"Does this API have a model {spec.model_id!r}?{root if spec.base_url else ''}",
        413: "The conversation is too large for the API.",
        429: "Run fewer trials at once (--concurrency), or raise the account's rate limit.",
    }.get(status)


def _is_one_of(word: object, words: Iterable[str]) -> bool:
    return isinstance(word, str) and word in words


def _json_of(content: bytes) -> Any:
    try:
        return loads(content)
    except ValueError:
        return None


def _error_of(data: Any) -> Any:
    """Return the ``error`` of an error body, or all of it."""
    return data.get("error") or data if isinstance(data, Mapping) else data


def _words(error: Any) -> str:
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or ""
    return error if isinstance(error, str) else json.dumps(error) if error else ""
