"""The files of the project's own suites, and what the page says of each.

``python -m harness.web.suite_files`` writes the latter as JSON: a suite may name code, which never
runs in the server's own process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.base import HarnessError, UsageError, did_you_mean, format_path, limit_text
from harness.judging import VOCABULARY
from harness.reports import clean_json, clean_name
from harness.runner import suite_roots
from harness.suites import MAX_CASES, list_suite_files, make_reader

_LONGEST = 2_000


def list_files(cwd: Path) -> dict[str, Path]:
    """Return the files of the project's own suites by the names that requests give them."""
    return {format_path(path): path for path in list_suite_files(suite_roots(cwd)[0])}


def require_files(names: Iterable[str], cwd: Path) -> tuple[str, ...]:
    """Return ``names`` if each is a file of the project's own suites.

    Raises:
        UsageError: one is not.
    """
    known = list_files(cwd)
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            folder = format_path(suite_roots(cwd)[0])
            raise UsageError(
                f"there is no suite {name!r} in {folder}/", meant=did_you_mean(name, known)
            )
    return wanted


def _describe_file(name: str, path: Path) -> dict[str, Any]:
    """Return what the list says of the suite in ``path``: its facts, or why it cannot be run."""
    try:
        suite = make_reader(MAX_CASES)(path, VOCABULARY)
    except HarnessError as error:
        problem = limit_text(str(error), _LONGEST)
        return {"file": name, "name": name, "cases": None, "variants": [], "problem": problem}
    return {
        "file": name,
        "name": clean_name(suite.name),
        "cases": len(suite.cases),
        "variants": [variant.name for variant in suite.variants],
        "model": clean_json(suite.model_name),
        "problem": None,
    }


def main() -> None:
    """Write what the list says of the project's suites to stdout, as JSON."""
    # A second handle on stdout, which the next line takes away from everybody else.
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a suite prints must not stand in the list
    json.dump([_describe_file(name, path) for name, path in list_files(Path.cwd()).items()], said)
    said.flush()


if __name__ == "__main__":
    main()
