"""``python -m tests.pictures [NAME …]``: takes all pictures, or those that are named."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.browser import a_browser
from tests.end_to_end.harness_process import Project
from tests.pictures.looking import picture
from tests.pictures.runs import DOCS, Runs
from tests.pictures.taken import PICTURES
from tests.web.support import served


def main(names: list[str]) -> int:
    """Take them; return the exit code."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        sys.stderr.write(f"There is no picture {unknown[0]}; there are {', '.join(PICTURES)}.\n")
        return 2
    with tempfile.TemporaryDirectory() as root:
        folder, profile, own = (Path(root, name) for name in ("project", "browser", "runs"))
        folder.mkdir()
        own.mkdir()
        with served(Project(folder, {})) as page, a_browser(profile) as browser:
            runs = Runs(own, page)
            for name in names or PICTURES:
                PICTURES[name](browser, runs)
                (DOCS / "images" / name).write_bytes(picture(browser))
                sys.stdout.write(f"{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
