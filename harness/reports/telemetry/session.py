"""Checks a collector's answer, because the exporter treats every status below 400 as success."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import requests
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from harness.base import find_proxy, named_certificates

_SUCCESS = range(200, 300)
_MOST_UNANSWERED = 3
"""Attempts to reach a collector that has never answered. The exporter itself tries twice at once
and again a second later; six more would take half a minute."""
_ERRNO = re.compile(r"\[Errno -?\d+\] (?P<words>[^'\")]+)")


class CollectorSession(requests.Session):
    """Sends to one collector without redirects, and records whether it accepted everything."""

    def __init__(self, what: str = "spans") -> None:
        """``what`` is what it receives, in a word."""
        super().__init__()
        self._what = what
        self.problem: str | None = None
        """Why something was rejected although the exporter counts it as accepted; the first
        reason."""
        self.status: int | None = None
        """The status of the last answer; ``None`` without any."""
        self._unanswered = 0

    def merge_environment_settings(self, url: Any, *settings: Any) -> Any:
        """Return the settings of a request to ``url``: the proxy and certificates of `network`."""
        merged = dict(super().merge_environment_settings(url, *settings))
        proxy = find_proxy(str(url), socks="socks")
        merged["proxies"] = {} if proxy is None else {urlsplit(str(url)).scheme: proxy.url}
        # Anything else was named by a variable of OpenTelemetry or of requests.
        if merged["verify"] is True:
            merged["verify"] = named_certificates() or True
        return merged

    def send(self, request: requests.PreparedRequest, **settings: Any) -> requests.Response:
        """Send one request without redirects, which could turn it into a GET or lead elsewhere.

        Raises:
            requests.RequestException: there is no answer; a `requests.ConnectionError` is worth
                another attempt.
        """
        try:
            response = super().send(request, **{**settings, "allow_redirects": False})
        except requests.ConnectionError as error:
            self._unanswered += 1
            if self.status is not None or self._unanswered < _MOST_UNANSWERED:
                raise
            self.problem = f"nobody answers there: {_format_reason(error)}"
            # Of another class than before, since the exporter tries again after a
            # `ConnectionError`.
            raise requests.RequestException(self.problem) from error
        self.status = response.status_code
        self.problem = self.problem or _format_problem(response, self._what)
        return response


def _format_reason(error: requests.ConnectionError) -> str:
    """Return the reason alone: the message has the address separately, without its password."""
    if isinstance(error, requests.Timeout):
        return "no connection in time"
    found = _ERRNO.search(str(error))
    return found["words"] if found else "no connection"


def _format_problem(response: requests.Response, what: str) -> str | None:
    status = response.status_code
    if status not in _SUCCESS:
        if status >= 400:  # noqa: PLR2004 - the exporter's own to tell
            return None
        to = urlsplit(response.headers.get("location", ""))
        host = f"{to.scheme}://{to.netloc.rpartition('@')[2]}" if to.netloc else ""
        return f"HTTP {status}: a redirect to {host}{to.path}, which is not followed"
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        return "a web page answered, and no collector"
    return _format_rejection(response.content, what) if kind == "application/x-protobuf" else None


def _format_rejection(content: bytes, what: str) -> str | None:
    """Return the collector's reason for what it rejected."""
    # the answer for metrics has the same fields, with the same numbers
    answer = ExportTraceServiceResponse()
    try:
        answer.ParseFromString(content)
    except DecodeError:
        return "the answer is none of a collector"
    partial = answer.partial_success
    reason = partial.error_message or "it does not say why"
    refused = f"the collector refused {partial.rejected_spans} {what}: {reason}"
    return refused if partial.rejected_spans else None
