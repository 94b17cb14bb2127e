"""The example of docs/faults.md does what the page says."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Project

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "faults.md").read_text("utf-8")


@pytest.mark.slow
def test_the_careless_guest_is_charged_twice_and_the_careful_one_once(tmp_path: Path) -> None:
    shutil.copytree(DOCS / "examples" / "faults", tmp_path, dirs_exist_ok=True)
    project = Project(tmp_path)
    command = re.search(r"^\$ harness (.*)$", PAGE, re.MULTILINE)
    assert command is not None
    # `python` of the page is the one that has the SDK.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = project.run(*command[1].split(), PATH=path)
    assert done.code == 1, done.stderr
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    for line in shown.splitlines():
        # The page leaves out columns, times and what a table's width decides.
        if not line.endswith("…"):
            assert line in done.stdout
    charged = {
        (one.model, one.axes.get("fault")): one.tool_calls
        for one in project.log().results
        if one.status == "failed"
    }
    assert charged == {("python:guests:careless", "book_room#1:lost_answer"): 2}
