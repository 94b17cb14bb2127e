"""The example of docs/attacks.md does what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.pages import ROOT
from tests.docs.walkthrough import not_shown, steps
from tests.end_to_end.harness_process import Project


@pytest.mark.slow
def test_the_gullible_model_does_what_the_record_says_and_the_careful_one_does_not(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    _, *rest = steps((ROOT / "docs" / "attacks.md").read_text("utf-8"))
    for step in rest:
        if step.path:
            (tmp_path / step.path).write_text(step.text)
    command = rest[-1]
    done = project.run(*command.command.split()[1:])
    assert not_shown(command.shown, done.stdout) is None, done.stdout
