"""The files of a recipe in the documentation, so that tests run what people copy."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.end_to_end.harness_process import Project

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "recipes.md").read_text(encoding="utf-8")
_FILE = re.compile(
    r"^`([\w./-]+\.(?:yml|py))`(?:(?!\n\n).)*\n\n```\w+\n(.*?)^```",
    re.DOTALL | re.MULTILINE,
)
"""A paragraph that begins with a file's name, and the block after it."""


def files_of(title: str, page: str | None = None) -> dict[str, str]:
    """Return the files under the heading ``title`` of a page, or of that example, by name."""
    if page is None:
        folder = DOCS / "examples" / title.lower()
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}
    (section,) = (
        part for part in re.split(r"^## ", page, flags=re.MULTILINE) if part.startswith(title)
    )
    return dict(_FILE.findall(section))


def project_of(title: str, folder: Path, programs: Path) -> Project:
    """Write the files of a recipe into ``folder``; its programs are found in ``programs``."""
    for name, text in files_of(title).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Project(folder, env={"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"})
