"""Writes the result to files: the page, the JSON document, and the files of the studies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TextIO, TypeAlias

from harness.base import UsageError
from harness.descriptions.workbench.page import write_page
from harness.descriptions.workbench.workbench_result import (
    WorkbenchResult,
    build_workbench_document,
)
from harness.reports import ReportRequest, write_atomically


def collect_files(result: WorkbenchResult) -> dict[str, str]:
    """Return name → text of the studies' files; with several models, one file for each."""
    several = len(result.models) > 1
    return {
        f"{_file_name(model.model)}-{name}" if several else name: text
        for model in result.models
        for study in model.studies
        for name, text in study.files.items()
    }


def write_files(result: WorkbenchResult, folder: Path) -> None:
    """Write all files of ``result`` into ``folder``."""
    for name, text in collect_files(result).items():
        write_text(folder / name, text)


def write_text(path: Path, text: str) -> None:
    """Write a file of `collect_files`, without secrets.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_atomically(path, lambda stream: print(text, end="", file=stream))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _file_name(model: str) -> str:
    # Names of models may have slashes and colons, which file names cannot have.
    return re.sub(r"[^A-Za-z0-9.]+", "-", model)


_Writer: TypeAlias = Callable[[WorkbenchResult, TextIO], None]


def _write_json(result: WorkbenchResult, stream: TextIO) -> None:
    json.dump(build_workbench_document(result), stream, ensure_ascii=False)
    stream.write("\n")


FORMATS: Mapping[str, _Writer] = {"html": write_page, "json": _write_json}
"""Format → its writer; the default file is ``workbench.FORMAT``."""


def parse_report_request(text: str) -> ReportRequest:
    """Read ``html``, ``html:out/page.html`` or ``page.html``.

    Raises:
        UsageError: the workbench has no such format.
    """
    request = ReportRequest.parse(text)
    if request.format not in FORMATS:
        raise UsageError(
            f"--report {text!r}: a workbench is not written as {request.format}",
            meant=f"Formats: {', '.join(FORMATS)}.",
        )
    return request


def write_file(request: ReportRequest, result: WorkbenchResult) -> Path:
    """Write the requested file and return its path.

    Raises:
        UsageError: the file cannot be written.
    """
    if request.path is None and not result.logs:
        raise UsageError(
            "nothing was run, so the report has no folder of its own",
            meant=f"Name the file: --report {request.format}:PATH.",
        )
    path = request.path or result.logs[0].parent / f"workbench.{request.format}"
    try:
        write_atomically(path, partial(FORMATS[request.format], result))
    except OSError as error:
        raise UsageError(f"the report {path} cannot be written: {error.strerror}") from error
    return path
