"""The files of a workbench: what is in its folder, and how they are written."""

from __future__ import annotations

import re
from pathlib import Path

from harness.base import UsageError
from harness.descriptions.workbench.workbench_result import WorkbenchResult
from harness.reports import write_atomically


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
