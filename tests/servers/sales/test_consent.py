"""Projects are deleted only with the user's consent, which the built-in suite shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness


@pytest.mark.slow
def test_the_suite_passes_for_each_answer_and_for_a_client_that_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    results = harness.run("project_consent", model="lexical").results
    assert {each.case.name: each.status for each in results} == dict.fromkeys(
        ("agreed", "declined", "left_open", "nobody_can_be_asked"), "passed"
    )
