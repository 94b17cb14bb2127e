"""The real runs that the pictures show, each made when a picture first needs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from tests.end_to_end.harness_process import HARNESS
from tests.web.support import Page

DOCS = Path(__file__).parents[2] / "docs"
TIMEOUT_S = 1800.0
"""Bound of a run; the workbench takes 7,500 trials."""
VAGUE = {
    "data_governance": {
        "get_customer_details": {"description": "Details."},
        "search_customers": {"description": "Find customers."},
        "search_orders": {"description": "Find orders."},
    },
    "hr_access": {
        "get_employee_profile": {"description": "Profile."},
        "get_leave": {"description": "Details."},
        "get_salary": {"description": "Details."},
        "get_salary_statistics": {"description": "Statistics."},
        "list_departments": {"description": "List."},
        "search_employees": {"description": "Find."},
    },
}
"""Suite → words of its tools that say less than the server's own."""


@dataclass(frozen=True)
class Runs:
    """Runs below a folder."""

    folder: Path
    """An empty folder."""
    page: Page
    """The page of a project in it, as it is served."""

    @cached_property
    def sample(self) -> str:
        """The address of the results of the sample, run on the page."""
        content = self.page.client.get("/evaluations/sample").content
        sent = self.page.client.post("/evaluations", files={"file": ("sample.csv", content)})
        run = str(sent.json()["id"])
        self.page.until(run, "summary")
        return f"{self.page.url}/evaluation?run={run}"

    @cached_property
    def mistaken(self) -> Path:
        """A dataset with two mistakes."""
        path = self.folder / "my_tests.csv"
        content = self.page.client.get("/evaluations/sample").text
        wrong = 'fast,"What does Apple cost?","Get Stock Price",{},\n'
        worse = 'slow,"What does Microsoft cost?","get_stock_price","{""ticker"":}",\n'
        path.write_text(content.rstrip("\n") + f"\n{wrong}{worse}", "utf-8")
        return path

    @cached_property
    def compared(self) -> Path:
        """The page of a comparison: a suite on the server's own words and on vague ones."""
        folder = self._worded("data_governance", "none", "vague.yml")
        self._harness(folder, "compare", "latest", "--report", "compared.html")
        return folder / "compared.html"

    @cached_property
    def report(self) -> Path:
        """The report of a suite on vague words and on the server's own; the first fails more."""
        folder = self._worded("hr_access", "vague.yml", "none")
        return folder / "report.html"

    @cached_property
    def workbench(self) -> Path:
        """The page of the worked example of docs/workbench.md."""
        folder = self._project("workbench")
        shutil.copytree(DOCS / "workbench_example", folder, dirs_exist_ok=True)
        self._harness(
            folder, *("workbench", "library", "--model", "lexical", "--report", "html:page.html")
        )
        return folder / "page.html"

    def repeat(self, suite: str, times: int) -> None:
        """Run a built-in suite in the project whose page is served, from a terminal."""
        for _ in range(times):
            self._harness(self.page.project.folder, "evals", suite)

    def _worded(self, suite: str, *variants: str) -> Path:
        """Run a copy of a built-in suite in ``variants``; return the folder with its report."""
        folder = self._project(suite)
        (folder / "evals").mkdir()
        shutil.copy(DOCS.parent / "evals" / f"{suite}.yml", folder / "evals")
        vague = {"variants": {"vague": {"tools": VAGUE[suite]}}}
        (folder / "vague.yml").write_text(yaml.safe_dump(vague), "utf-8")
        asked = [option for variant in variants for option in ("--variant", variant)]
        self._harness(folder, "evals", suite, *asked, "--report", "html:report.html")
        return folder

    def _project(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    def _harness(self, folder: Path, *arguments: str) -> None:
        """Run harness in ``folder``; cases may fail, everything else must not."""
        beside = Path(sys.executable).parent
        done = subprocess.run(
            [*HARNESS, *arguments],
            cwd=folder,
            env={"PATH": f"{beside}:{os.environ['PATH']}", "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
