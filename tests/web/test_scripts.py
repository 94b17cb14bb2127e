"""The scripts of the pages: typed where they say so, and one scope in the report."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import web
from harness.descriptions.workbench import page as workbench
from harness.reports.comparing import page as comparing
from harness.reports.formats import html_report
from harness.reports.single_page import SinglePage
from harness.reports.viewer import ASSETS

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "viewer": ASSETS,
    "report": Path(html_report.__file__).parent,
    "comparison": Path(comparing.__file__).parent,
    "workbench": Path(workbench.__file__).parent,
    "page": Path(web.__file__).parent / "static",
}
STRANGERS = Path(os.environ.get("HARNESS_STRANGERS") or ROOT / "tests/strangers/node_modules")
TSC = STRANGERS / ".bin" / "tsc"


@pytest.mark.skipif(not TSC.exists(), reason="npm ci --prefix tests/strangers fetches tsc")
def test_types_of_the_scripts_agree() -> None:
    """Modules that begin with ``@ts-check`` are checked by the types in their comments."""
    command = [str(TSC), "-p", str(ROOT / "tests" / "jsconfig.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_every_module_is_checked(folder: Path) -> None:
    modules = list(folder.glob("*.js"))
    assert modules
    assert [path.name for path in modules if not path.read_text().startswith("// @ts-check")] == []


@pytest.mark.parametrize(
    "page",
    [html_report.REPORT_PAGE, comparing.COMPARISON_PAGE, workbench.WORKBENCH_PAGE],
    ids=["report", "comparison", "workbench"],
)
def test_no_two_modules_of_a_page_in_one_file_use_the_same_name(page: SinglePage) -> None:
    names = re.findall(
        r"^(?:async )?(?:const|let|function\*?|class) (\w+)", page.script, re.MULTILINE
    )
    assert len(names) > 40
    assert sorted(names) == sorted(set(names))
    assert not re.search(r"^(?:import|export) ", page.script, re.MULTILINE)
