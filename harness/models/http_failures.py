"""Failures of one HTTP exchange, for people and the retry loop, and what they teach of an API.

What happened is read in `harness.models.failure_events`. What may pass is retried: a connection
that was refused, reset or timed out, a rate limit, an overloaded or broken server. A lost reply may
have been paid for; the request is sent again nevertheless. Never retried is what the model did
wrong, what would come again (400, 401, 403 and 404, an account without credit, a request too large
for a rate), and any status that the API marks ``x-should-retry: false``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2

from harness.base import FailedAttempt, compile_late, find_proxy, retry_after_s, url_text
from harness.models.error_bodies import (
    ReportedError,
    UnusableResponse,
    find_error,
    find_error_in_reply,
    parse_body,
    parse_error,
)
from harness.models.failure_events import MEANINGS, Event, find_event
from harness.models.wire import BrokenConnection, ReplyTooLarge
from harness.types import UNKNOWN_USAGE, ModelSpec, Usage

LONGEST_QUOTE = 300
"""Most characters of an API's own text that a message quotes."""
READ_FOR_WORDS = 20 * LONGEST_QUOTE
"""Characters that are searched for that text; much of them may be styles and markup."""
_THROTTLED: frozenset[Event] = frozenset({"rate_limit", "overloaded"})
"""Events that ask for fewer requests at once."""
_TIDY = compile_late(r"<(script|style|head)\b.*?</\1\s*>|<[^>]*>|\s+", re.DOTALL | re.IGNORECASE)
_PAGE = re.compile(rb"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
"""A page of a gateway or firewall, whose words are not those of a model's API."""
_LOOKS_LIKE_A_KEY = compile_late(r"\b(?:sk|pk)-[\w*.…-]{4,}")


class ConnectionFailed(Exception):
    """There was no complete HTTP response."""

    def __init__(self, cause: BaseException) -> None:
        """``cause`` is the HTTP client's exception."""
        super().__init__(type(cause).__name__)
        self.cause = cause


class ModelFault(FailedAttempt):
    """An exchange without a usable reply."""

    def __init__(
        self,
        message: str,
        *,
        advice: str | None = None,
        status: int | None = None,
        event: Event = "unexplained",
        error: ReportedError | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        """``message`` and ``advice`` are for people.

        ``event`` is what happened, and ``error`` what the API says of it. ``retry_after_s`` is the
        API's wish in seconds.

        ``usage`` is that of an unusable reply; ``None`` if no reply came.
        """
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.event = event
        self.error = error
        self.throttled = retryable and event in _THROTTLED
        self.usage = usage or Usage()


def fault_from_response(response: httpx2.Response, spec: ModelSpec, url: str) -> ModelFault:
    """Return the fault for a response whose status is no success."""
    status = response.status_code
    # The client follows what is safe; what is left would hand key and prompts to another server.
    if response.next_request is not None:
        to = quote_text(url_text(response.next_request.url), spec)
        return ModelFault(
            f"HTTP {status} from {get_origin(url)}: a redirect to {to}, which is not followed: "
            "the conversation and the key would go there",
            advice="If that is where the API is, set base_url to it." if spec.base_url else None,
            status=status,
        )
    body = parse_body(response.content)
    # With the status of an error the body is one, even if no form of error is known in it.
    error = parse_error(find_error(body) or body)
    whole = not error.words
    if whole:
        # No JSON, or JSON without words: whatever stands there is better than nothing.
        text = response.content[:READ_FOR_WORDS].decode("utf-8", "replace")
        error = replace(error, words=text)
    words = quote_text(error.words, spec, markup=whole)
    return _fault_from_event(
        # A firewall's page may speak of "blocked content", which is no refusal of a model.
        find_event(error.codes, "" if _PAGE.match(response.content) else error.words, status),
        f"HTTP {status} from {get_origin(url)}" + (f": {words}" if words else ""),
        spec,
        error,
        status=status,
        headers=response.headers,
        usage=None,
    )


def fault_from_body(
    data: Mapping[str, Any], spec: ModelSpec, headers: Mapping[str, str], usage: Usage
) -> ModelFault | None:
    """Return the fault in the body of a response with status 200, if there is one.

    Gateways answer so, and Responses of the status ``failed``. ``usage`` is that of the body.
    """
    told = find_error_in_reply(data)
    if not told:
        return None
    error = parse_error(told)
    words = quote_text(error.words or "without words", spec, markup=False)
    return _fault_from_event(
        find_event(error.codes, error.words, error.status),
        f"the API reports an error: {words}",
        spec,
        error,
        status=error.status,
        headers=headers,
        usage=usage,
    )


def fault_from_unusable(problem: UnusableResponse, status: int, usage: Usage) -> ModelFault:
    """Return the fault for a reply that is unusable, or whose ending tells of an event."""
    return ModelFault(
        f"the reply is unusable: {problem}",
        status=status,
        event=problem.event,
        retryable=MEANINGS[problem.event].passing,
        usage=usage,
    )


def _fault_from_event(
    event: Event,
    message: str,
    spec: ModelSpec,
    error: ReportedError,
    *,
    status: int | None,
    headers: Mapping[str, str],
    usage: Usage | None,
) -> ModelFault:
    retryable = (
        MEANINGS[event].passing
        # The same request would be as large again, also where a rate limit is what it breaks.
        and status != 413  # noqa: PLR2004 - HTTP's own number
        and "request too large" not in error.words.lower()
        and headers.get("x-should-retry") != "false"
    )
    return ModelFault(
        message,
        advice=_find_advice(event, status, spec),
        status=status,
        event=event,
        error=error,
        retryable=retryable,
        retry_after_s=retry_after_s(headers) if retryable else None,
        usage=usage,
    )


def fault_from_connection(cause: BaseException, spec: ModelSpec, url: str) -> ModelFault:
    """Return the fault for a connection without a complete response."""
    # First: these came after a successful status, so that the reply may have been paid for.
    if isinstance(cause, ReplyTooLarge | BrokenConnection | httpx2.DecodingError):
        return _fault_from_part(cause, spec, url)
    # Before other timeouts, of which ConnectTimeout is one: nothing has been sent.
    origin = get_origin(url)
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        if (proxy := find_proxy(url)) is not None:
            advice = f"Requests go by the proxy of {proxy.variable}: is it running?"
        elif spec.base_url:
            advice = "Is the server running there? Check base_url."
        else:
            advice = "Is this machine online?"
        return ModelFault(f"cannot connect to {origin}", advice=advice, retryable=True)
    if isinstance(cause, TimeoutError | httpx2.TimeoutException):
        late = f"no complete reply from {origin} within {spec.timeout_s:g} s"
        return ModelFault(late, retryable=True)
    if isinstance(cause, httpx2.NetworkError | httpx2.RemoteProtocolError):
        broken = f"the connection to {origin} broke before the reply was complete"
        return ModelFault(broken, retryable=True)
    words = quote_text(str(cause) or type(cause).__name__, spec)
    return ModelFault(f"the request to {origin} failed: {words}")


def _fault_from_part(
    cause: ReplyTooLarge | BrokenConnection | httpx2.DecodingError, spec: ModelSpec, url: str
) -> ModelFault:
    """Return the fault for an incomplete reply, whose usage is unknown."""
    if isinstance(cause, BrokenConnection):
        fault = fault_from_connection(cause.__cause__ or cause, spec, url)
        # Unknown and not 0: a limit on costs must not count it as free.
        fault.usage = UNKNOWN_USAGE
        return fault
    reply = f"the reply from {get_origin(url)}"
    if isinstance(cause, ReplyTooLarge):
        large = f"{reply} is larger than {spec.max_reply_mb:g} MB, and was not read to its end"
        advice = "If the model is meant to reply at such length, raise its max_reply_mb."
        return ModelFault(large, advice=advice, usage=UNKNOWN_USAGE)
    words = quote_text(str(cause), spec)
    return ModelFault(f"{reply} cannot be decompressed: {words}", usage=UNKNOWN_USAGE)


def get_origin(url: str) -> str:
    """Return ``https://host:port`` of ``url``, without credentials and path."""
    parts = urlsplit(url)
    # `netloc` and not `hostname`: the port belongs to the message, what precedes an @ does not.
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def quote_text(text: str, spec: ModelSpec, *, markup: bool = True) -> str:
    """Return an API's text on one line, bounded, with every secret of ``spec`` redacted.

    ``markup`` says that it may be a page, whose tags are left out.
    """
    # A body may have kilobytes of markup around the few words that a message quotes.
    flat = _TIDY.sub(" ", text[:READ_FOR_WORDS]) if markup else text[:READ_FOR_WORDS]
    # Before the text is shortened: half of a secret would no longer be recognised.
    for secret in list_secrets(spec):
        flat = flat.replace(secret, "•••")
    flat = " ".join(_LOOKS_LIKE_A_KEY.sub("•••", flat).split())
    return flat if len(flat) <= LONGEST_QUOTE else flat[: LONGEST_QUOTE - 1] + "…"


def list_secrets(spec: ModelSpec) -> Iterable[str]:
    """Return the secrets of a model: the key, and header values that are long enough to be one."""
    key = spec.api_key.reveal().strip() if spec.api_key else ""
    values = (part for value in spec.headers.values() for part in value.split() if len(part) >= 8)  # noqa: PLR2004
    # The longest first: one that contains another must be replaced as a whole.
    return sorted({key, *values} - {""}, key=len, reverse=True)


def _find_advice(event: Event, status: int | None, spec: ModelSpec) -> str | None:
    variable = spec.api_key_variable or "api_key"
    key = f"Check the key in {variable}." if spec.api_key else f"No key was sent: set {variable}."
    root = " Is base_url the API's root? For an OpenAI-compatible server it usually ends in /v1."
    root = root if spec.base_url else ""
    if event == "auth" and status == 403:  # noqa: PLR2004 - HTTP's own number
        return f"The key has no access to {spec.model_id!r} here."
    advice: Mapping[Event, str] = {
        "no_credit": "The account has no credit left.",
        "auth": key,
        "unknown_model": f"Does this API have a model {spec.model_id!r}?{root}",
        "context": "The conversation is too large for the API.",
        "rate_limit": "Run fewer trials at once (--concurrency), or raise the account's rate "
        "limit.",
    }
    return advice.get(event)


_OTHER_NAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Fields with a second name, which APIs accept where they refuse the first."""
_LEFT_OUT = ("temperature", "include", "store")
"""Fields that may be left out."""
_REFUSED = compile_late(
    r"unsupported|not supported|n[o']t support|unknown|unrecogni[sz]ed|unexpected|"
    r"extra (?:inputs|fields)|extra_forbidden|not permitted|not allowed|deprecated|"
    r"only the default|incompatible|not compatible|may only be|"
    r"only [\d.]+ is (?:allowed|supported)",
    re.IGNORECASE,
)
# Then the field is taken, and its value is the configuration's mistake.
_OF_THE_VALUE = compile_late(r"too (?:large|small|high|low)|exceed|at (?:most|least)|between|range")


class LearnedFields:
    """The changes to one model's requests, shared by all trials of a run."""

    def __init__(self, configured: Mapping[str, Any]) -> None:
        """``configured`` are the fields of the configuration's own ``body``."""
        # Somebody wants just these fields: to leave one out would test something else.
        self._configured = frozenset(configured)
        self._changes: dict[str, str | None] = {}  # field → its other name; None: left out

    def fit_body(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``body`` as the model takes it."""
        # The usual case, and the same object.
        if not self._changes.keys() & body.keys():
            return body
        return {
            self._changes.get(name, name) or name: value
            for name, value in body.items()
            if self._changes.get(name, name) is not None
        }

    def learn_from(self, fault: ModelFault, sent: Mapping[str, Any]) -> str | None:
        """Return what ``fault`` teaches about the request ``sent``, in words; ``None``: nothing.

        Another trial may have learned it meanwhile: then the request is to be sent again, too.
        """
        name = self._find_refused_field(fault, sent)
        # Both names are refused: without this the two would be exchanged for ever.
        if name is None or (name in self._changes.values()):
            return None
        other = _OTHER_NAMES.get(name)
        self._changes[name] = other
        if other is None:
            return f"{name} is not sent any more: the API does not take it"
        return f"{name} is sent as {other}: the API does not take {name}"

    def _find_refused_field(self, fault: ModelFault, sent: Mapping[str, Any]) -> str | None:
        """Return the field of ours that the API refuses as such, and not for its value."""
        error = fault.error
        # Only words that say so: 400 alone may mean a schema, a message or anything else.
        if fault.event != "bad_request" or error is None or not _REFUSED.search(error.words):
            return None
        if _OF_THE_VALUE.search(error.words):
            return None
        ours = sent.keys() - self._configured
        own = [name for name in (*_OTHER_NAMES, *_LEFT_OUT) if name in ours]
        # Exact where the API has a field for it; otherwise the first field that its words name.
        if error.field in own:
            return error.field
        found = ((name, re.search(rf"\b{name}\b", error.words)) for name in own)
        places = {name: match.start() for name, match in found if match}
        return min(places, key=places.__getitem__, default=None)
