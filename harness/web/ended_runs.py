"""Actions on a past run: name it, review its verdicts, and run it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.base import MARK, HarnessError, InvalidValue, UsageError, strict_json
from harness.judging import Decision, KnownStatus, add_review, case_results, judge_log
from harness.reports import clean_json, encode_reviews
from harness.runlog import Header, being_written, find_last_line, read_header, read_log
from harness.runner import case_label, texts_of
from harness.types import JsonObject
from harness.web.catalog import find_run, require_log
from harness.web.labels import parse_label, write_label
from harness.web.run_view import ensure_view, find_settled, find_view
from harness.web.settings import Settings
from harness.web.suite_files import list_files
from harness.web.uploads import SUFFIXES

_MOST_BYTES = 65_536
_FIELDS = ("key", "decision", "by", "note")
_DECISIONS = ("accept", "overrule")


def make_routes(settings: Settings) -> list[Route]:
    """Return the endpoints, over the runs of ``settings``."""

    async def post_review(request: Request) -> Response:
        """Append a review to the run's log, and return all of its reviews."""
        path = require_log(request.path_params["id"], settings.runs)
        fields = await _read_fields(request)
        if await anyio.to_thread.run_sync(being_written, path):
            raise HTTPException(409, "The run is still under way: review it when it has ended.")
        try:
            await anyio.to_thread.run_sync(_append_review, path, fields)
        except UsageError as error:
            words = f"{error.message[0].upper()}{error.message[1:]}."
            raise HTTPException(422, clean_json(words)) from error
        except HarnessError as error:
            raise HTTPException(409, clean_json(str(error))) from error
        return JSONResponse(await anyio.to_thread.run_sync(_read_reviews, path))

    async def get_suite(request: Request) -> Response:
        """Return the suite of a run and what was chosen for it.

        ``suites`` are files of the project: they are run again as these, with their variants.
        """
        log = require_log(request.path_params["id"], settings.runs)
        header = await anyio.to_thread.run_sync(read_header, log)
        file = _find_suite_file(log, header, settings.max_bytes)
        own = await anyio.to_thread.run_sync(_list_own_files, header) if settings.is_local else []
        if own and file is None:
            return JSONResponse({"name": "", "suites": own, "choice": _choices_of(header, own)})
        if file is None and request.query_params.get("if_any") == "1":
            return JSONResponse({"name": None})  # whoever offers to run it again asks by the way
        if file is None:
            raise HTTPException(404, "The suite of this run is no file that this page can read.")
        name = f"{next(iter(header.suites))}{file.suffix}"
        text = file.read_text("utf-8", "replace")
        choice = _choices_of(header, own)
        return JSONResponse({"name": name, "text": text, "suites": own, "choice": choice})

    async def put_label(request: Request) -> Response:
        """Name a run and tag it, in place of the name and the tags that it had."""
        log = require_log(request.path_params["id"], settings.runs)
        label = parse_label(await _read_json(request, "label"))
        if label is None:
            raise HTTPException(
                400, "A label has a name of at most 100 letters and at most 10 tags of at most 30."
            )
        try:
            await anyio.to_thread.run_sync(write_label, log, label)
        except OSError as error:
            raise HTTPException(409, f"The label cannot be kept: {error.strerror}.") from error
        return JSONResponse(label.as_json())

    return [
        Route("/evaluations/{id}/label", put_label, methods=["PUT"]),
        Route("/evaluations/{id}/reviews", post_review, methods=["POST"]),
        Route("/evaluations/{id}/suite", get_suite, methods=["GET"]),
    ]


def _append_review(path: Path, fields: Mapping[str, str]) -> None:
    key, decision = fields["key"], cast("Decision", fields["decision"])
    by, note = fields.get("by", ""), fields.get("note", "")
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


async def _read_json(request: Request, what: str) -> Any:
    """Return the JSON of a body that is ``what``.

    Raises:
        HTTPException: the body is too large, or is no JSON.
    """
    # A form of another site cannot send this type without asking first, and it is never allowed.
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, f"Send the {what} as JSON (Content-Type: application/json).")
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise HTTPException(413, f"A {what} is smaller than 64 KB.")
    except ClientDisconnect:
        raise HTTPException(400, f"The {what} was broken off.") from None
    try:
        return strict_json(body.decode("utf-8", "replace"))
    except InvalidValue as error:
        raise HTTPException(400, clean_json(f"The {what} is not JSON: {error.message}.")) from error


async def _read_fields(request: Request) -> dict[str, str]:
    """Return the fields of a review.

    Raises:
        HTTPException: the body is too large, is no JSON, or has other fields.
    """
    found = await _read_json(request, "review")
    known = isinstance(found, dict) and all(
        name in _FIELDS and isinstance(value, str) for name, value in found.items()
    )
    if not known or "key" not in found or found.get("decision") not in _DECISIONS:
        raise HTTPException(
            400, "A review has the texts key, decision (accept or overrule), by and note."
        )
    return dict(found)


def _list_own_files(header: Header) -> list[str]:
    """Return the files of a run's suites if all of them are the project's own."""
    known = list_files(Path.cwd())
    files = [str(facts.get("file") or "") for facts in header.suites.values()]
    return files if all(file in known for file in files) else []


def _choices_of(header: Header, own: Sequence[str]) -> JsonObject:
    """Return what was chosen for a run: the page asks it again with the same limits and guards.

    The form chooses one model and one server; ``own`` suites are asked as they were.

    Raises:
        HTTPException: a secret was chosen, which the log does not contain.
    """
    settings = header.settings
    recorded = {**(settings.get("request") or {}), **(settings.get("budget") or {})}
    choices = texts_of("page", recorded) | {"concurrency": str(settings.get("concurrency") or "")}
    if own:
        choices["variant"] = list(recorded.get("variants") or ())
    else:
        choices |= {
            "model": _get_single(header.models),
            "server": _get_single(header.servers),
            "judge_model": _get_single(settings.get("judge_models") or {}),
        }
    # Without its end, since the marks of several identities are numbered.
    if MARK[:-1] in json.dumps(choices, ensure_ascii=False):
        raise HTTPException(422, "A secret was given for this run, which its log does not contain.")
    return choices


def failed_cases(run_id: str, runs: Path) -> tuple[str, ...]:
    """Return the cases of a run that failed or were errors, each as ``suite::case``.

    Raises:
        FileNotFoundError: there is no such run.
        InvalidInput: its log cannot be read.
    """
    log = find_run(run_id, runs)
    if log is None:
        raise FileNotFoundError(run_id)
    cases = case_results(judge_log(read_log(log)).results)
    labels = (
        case_label(case.suite, case.case) for case in cases if case.status in {"failed", "error"}
    )
    # A case may have failed with several models, and is run again with all that are chosen.
    return tuple(dict.fromkeys(labels))


def _find_suite_file(log: Path, header: Header, max_bytes: int) -> Path | None:
    if len(header.suites) != 1:
        return None
    beside = [log.with_name(f"suite.{suffix}") for suffix in SUFFIXES]
    (facts,) = header.suites.values()
    named = Path(str(facts.get("file") or ""))
    root = Path.cwd().resolve()
    for path in (*beside, named):
        if path.suffix.removeprefix(".") not in SUFFIXES or not path.is_file():
            continue
        # A log from elsewhere can name any file of this machine, which nobody must get to see.
        own = path in beside or path.resolve().is_relative_to(root)
        if own and path.stat().st_size <= max_bytes:
            return path
    return None


def _get_single(named: Mapping[str, Any]) -> str:
    """Return the only name; of several none can be chosen on the page."""
    return next(iter(named)) if len(named) == 1 else ""
