"""``python -m docs.site``: builds the site, or says what is wrong in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from docs.site.links import faults
from docs.site.pages import ROOT, copy_pages
from docs.site.reference import write_reference
from harness.base.manual import SITE

BUILD = ROOT / "build" / "manual"
GENERATOR = ROOT / ".venv" / "docs" / "bin" / "zensical"
OWN = Path(__file__).parent


def write_sources(to: Path) -> None:
    """Write everything that the generator reads into the empty folder ``to``."""
    settings = (OWN / "zensical.toml").read_text("utf-8")
    address = "" if SITE is None else f'site_url = "{SITE}"\n'
    (to / "zensical.toml").write_text(
        settings.replace("[project]\n", f"[project]\n{address}", 1), "utf-8"
    )
    copy_pages(to / "docs")
    write_reference(to / "docs")
    shutil.copyfile(OWN / "style.css", to / "docs" / "style.css")


def main() -> int:
    """Build it into ``build/manual/site``; return the exit code."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    write_sources(BUILD)
    command = [str(GENERATOR), "build", "--strict", "--clean"]
    built = subprocess.run(command, cwd=BUILD, check=False, timeout=300)  # noqa: S603 - our own
    found = [*faults(BUILD / "site", BUILD / "docs")] if built.returncode == 0 else []
    sys.stderr.writelines(f"{fault}\n" for fault in found)
    if built.returncode or found:
        return 1
    sys.stdout.write("To read it: python -m http.server --directory build/manual/site\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
