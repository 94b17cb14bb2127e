"""``--last-failed``: what counts as failed in the latest run."""

from __future__ import annotations

from pathlib import Path

from harness.cli.last_failed import last_failed
from tests.judging.test_access import FULL, LEAKING, a_log, a_run


def test_a_case_that_only_other_identities_show_to_leak_has_failed(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "20260101T000000Z-shop-abcdef"
    folder.mkdir(parents=True)
    a_log(folder, (a_run("admin"), FULL), (a_run("clerk"), LEAKING))
    assert last_failed(["shop"], tmp_path / "runs") == ("shop::mail [clerk]",)
