"""Checks a collector's answer, because the exporter treats every status below 400 as success."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

_SUCCESS = range(200, 300)


class CollectorSession(requests.Session):
    """Sends to one collector without redirects, and records whether it accepted the spans."""

    def __init__(self) -> None:
        super().__init__()
        self.problem: str | None = None
        """Why spans were rejected although the exporter believes they were accepted; the first
        reason counts."""

    def send(self, request: requests.PreparedRequest, **settings: Any) -> requests.Response:
        """Send one request; a redirect would turn it into a GET, or lead it to another server."""
        response = super().send(request, **{**settings, "allow_redirects": False})
        self.problem = self.problem or _problem(response)
        return response


def _problem(response: requests.Response) -> str | None:
    status = response.status_code
    if status not in _SUCCESS:
        if status >= 400:  # noqa: PLR2004 - the exporter's own to tell
            return None
        to = urlsplit(response.headers.get("location", ""))
        where = (
            f" to {to.scheme}://{to.netloc.rpartition('@')[2]}{to.path}"
            if to.netloc
            else f" to {to.path}"
        )
        return f"HTTP {status}: a redirect{where}, which is not followed"
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        return "a web page answered, and no collector"
    return _rejected(response.content) if kind == "application/x-protobuf" else None


def _rejected(content: bytes) -> str | None:
    """Return the collector's reason for spans that it rejected."""
    answer = ExportTraceServiceResponse()
    try:
        answer.ParseFromString(content)
    except DecodeError:
        return "the answer is none of a collector"
    partial = answer.partial_success
    if not partial.rejected_spans:
        return None
    return (
        f"the collector refused {partial.rejected_spans} spans: "
        f"{partial.error_message or 'it does not say why'}"
    )
