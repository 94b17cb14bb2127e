"""The input of an ended run for running it again: suite as text, choices, and failed cases.

The suite is the file beside the log, if the run was started on the page; else the file that the log
names, as long as it is below the project's folder. It goes through the same checks as any upload.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.base import MARK
from harness.judging import case_results, judge_log
from harness.runlog import Header, read_header, read_log
from harness.runner import case_label, texts_of
from harness.types import JsonObject
from harness.web import history
from harness.web.settings import Settings
from harness.web.uploads import SUFFIXES


class RerunEndpoint:
    """The endpoint ``/evaluations/{id}/suite``."""

    def __init__(self, settings: Settings) -> None:
        """Read the runs of ``settings``."""
        self._settings = settings

    def routes(self) -> list[Route]:
        """Return it."""
        return [Route("/evaluations/{id}/suite", self.get_suite, methods=["GET"])]

    async def get_suite(self, request: Request) -> Response:
        """Return the suite of a run and what was chosen for it."""
        log = history.find_run(request.path_params["id"], self._settings.runs)
        if log is None:
            raise HTTPException(404, "There is no such run, or it has no log.")
        header = await anyio.to_thread.run_sync(read_header, log)
        file = _find_suite_file(log, header, self._settings.max_bytes)
        if file is None and request.query_params.get("if_any") == "1":
            return JSONResponse({"name": None})  # whoever offers to run it again asks by the way
        if file is None:
            raise HTTPException(404, "The suite of this run is no file that this page can read.")
        name = next(iter(header.suites))
        return JSONResponse(
            {
                "name": f"{name}{file.suffix}",
                "text": file.read_text("utf-8", "replace"),
                "choice": _choices_of(header),
            }
        )


def _choices_of(header: Header) -> JsonObject:
    """Return what was chosen for a run: the page asks it again with the same limits and guards.

    Raises:
        HTTPException: a secret was chosen, which the log does not contain.
    """
    settings = header.settings
    recorded = {**(settings.get("request") or {}), **(settings.get("budget") or {})}
    choices = texts_of("page", recorded) | {
        "model": _get_single(header.models),
        "server": _get_single(header.servers),
        "judge_model": _get_single(settings.get("judge_models") or {}),
        "concurrency": str(settings.get("concurrency") or ""),
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
    log = history.find_run(run_id, runs)
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
