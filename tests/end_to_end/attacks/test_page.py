"""The example of docs/attacks.md does what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.pages import ROOT
from tests.docs.walkthrough import not_shown, steps
from tests.end_to_end.harness_process import Project


@pytest.mark.slow
def test_each_command_of_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    project = Project(tmp_path)
    _, *rest = steps((ROOT / "docs" / "attacks.md").read_text("utf-8"))
    for step in rest:
        if step.path:
            (tmp_path / step.path).write_text(step.text)
            continue
        done = project.run(*step.command.split()[1:])
        assert not_shown(step.shown, done.stdout) is None, done.stdout
