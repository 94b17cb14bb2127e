"""The scripts of the pages: typed where they say so, and one scope in the report."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import web
from harness.reports.comparing import page as comparing
from harness.reports.formats.html_report import PAGE
from harness.reports.viewer import ASSETS

ROOT = Path(__file__).parents[2]
COMPARED, STATIC = Path(comparing.__file__).parent, Path(web.__file__).parent / "static"
STRANGERS = Path(os.environ.get("HARNESS_STRANGERS") or ROOT / "tests/strangers/node_modules")
TSC = STRANGERS / ".bin" / "tsc"


@pytest.mark.skipif(not TSC.exists(), reason="npm ci --prefix tests/strangers fetches tsc")
def test_types_of_the_scripts_agree() -> None:
    """Modules that begin with ``@ts-check`` are checked by the types in their comments."""
    command = [str(TSC), "-p", str(ROOT / "tests" / "jsconfig.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize("folder", [ASSETS, COMPARED, STATIC], ids=["viewer", "comparison", "page"])
def test_every_module_is_checked(folder: Path) -> None:
    assert [path.name for path in folder.glob("*.js") if "@ts-check" not in path.read_text()] == []


def test_no_two_modules_of_the_report_use_the_same_name() -> None:
    names = re.findall(
        r"^(?:async )?(?:const|let|function\*?|class) (\w+)", PAGE.script, re.MULTILINE
    )
    assert len(names) > 40
    assert sorted(names) == sorted(set(names))
