"""The API ``/evaluations/{id}/reviews``: a person accepts or overrules a verdict."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.base import HarnessError, InvalidValue, UsageError, strict_json
from harness.judging import Decision, KnownStatus, add_review
from harness.reports import clean_json, encode_reviews
from harness.runlog import being_written, find_last_line
from harness.web import history
from harness.web.run_view import ensure_view, find_settled, find_view
from harness.web.settings import Settings

_MOST_BYTES = 65_536
_FIELDS = ("key", "decision", "by", "note")
_DECISIONS = ("accept", "overrule")


class Reviews:
    """The endpoint, over the runs of a folder."""

    def __init__(self, settings: Settings) -> None:
        """Review the runs of ``settings``."""
        self._settings = settings

    def routes(self) -> list[Route]:
        """Return it."""
        return [Route("/evaluations/{id}/reviews", self.post_review, methods=["POST"])]

    async def post_review(self, request: Request) -> Response:
        """Append a review to the run's log, and return all of its reviews."""
        path = history.find_run(request.path_params["id"], self._settings.runs)
        if path is None:
            raise HTTPException(404, "There is no such run, or it has no log.")
        fields = await _read_fields(request)
        if await anyio.to_thread.run_sync(being_written, path):
            raise HTTPException(409, "The run is still under way: review it when it has ended.")
        # `run_sync` passes on no keywords.
        add = partial(
            _append_review,
            path,
            fields["key"],
            cast("Decision", fields["decision"]),
            by=fields.get("by", ""),
            note=fields.get("note", ""),
        )
        try:
            await anyio.to_thread.run_sync(add)
        except UsageError as error:
            raise HTTPException(
                422, clean_json(f"{error.message[0].upper()}{error.message[1:]}.")
            ) from error
        except HarnessError as error:
            raise HTTPException(409, clean_json(str(error))) from error
        return JSONResponse(await anyio.to_thread.run_sync(_read_reviews, path))


def _append_review(path: Path, key: str, decision: Decision, *, by: str, note: str) -> None:
    add_review(path, key, decision, by=by, note=note, known=_known_status(path, key))


def _known_status(path: Path, key: str) -> KnownStatus | None:
    """Return the status of a trial from the view of the run, if there is one."""
    # Before the status is read: if the log grows meanwhile, `add_review` sees it by the size, and
    # reads the log itself.
    facts = path.stat()
    # A view is not made for this: `add_review` reads the log once, which takes less.
    if find_view(path) is None:
        return None
    found = find_last_line(path, key)
    if found is None:
        return None
    offset, line = found
    return KnownStatus(status=(find_settled(path, offset) or line.run).status, size=facts.st_size)


def _read_reviews(path: Path) -> dict[str, Any]:
    return encode_reviews(ensure_view(path).read_reviews())


async def _read_fields(request: Request) -> dict[str, str]:
    """Return the fields of a review.

    Raises:
        HTTPException: the body is too large, is no JSON, or has other fields.
    """
    # A form of another site cannot send this type without asking first, and it is never allowed.
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "Send the review as JSON (Content-Type: application/json).")
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise HTTPException(413, "A review is smaller than 64 KB.")
    except ClientDisconnect:
        raise HTTPException(400, "The review was broken off.") from None
    try:
        found: Any = strict_json(body.decode("utf-8", "replace"))
    except InvalidValue as error:
        raise HTTPException(400, clean_json(f"The review is not JSON: {error.message}.")) from error
    known = isinstance(found, dict) and all(
        name in _FIELDS and isinstance(value, str) for name, value in found.items()
    )
    if not known or "key" not in found or found.get("decision") not in _DECISIONS:
        raise HTTPException(
            400, "A review has the texts key, decision (accept or overrule), by and note."
        )
    return dict(found)
