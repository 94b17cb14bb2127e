"""The owner of a folder, by the records of the file system and git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.base.builtin import builtin_suites
from harness.base.trust import find_project, why_not_own

NOBODY = "0" * 40
CLONED = (
    f"{NOBODY} {'1' * 40} Ada <ada@example.com> 1 +0000\tclone: from https://example.com/shop.git\n"
)
COMMITTED = f"{'1' * 40} {'2' * 40} Ada <ada@example.com> 2 +0000\tcommit: Ask more\n"
CHECKED_OUT = (
    f"{NOBODY} {'1' * 40} Ada <ada@example.com> 1 +0000\tcheckout: moving from master to main\n"
)


def cloned(folder: Path, reflog: str = CLONED) -> Path:
    """Make ``folder`` what git leaves behind, and return a suite in it."""
    (folder / ".git" / "logs").mkdir(parents=True)
    (folder / ".git" / "logs" / "HEAD").write_text(reflog)
    suite = folder / "evals" / "shop.yml"
    suite.parent.mkdir()
    suite.write_text("")
    return suite


def test_a_folder_of_ones_own_is_ones_own(tmp_path: Path) -> None:
    suite = tmp_path / "shop.yml"
    suite.write_text("")
    assert why_not_own(suite) is None
    assert find_project(suite) == tmp_path.resolve()


def test_a_file_that_is_not_there_is_nobodys(tmp_path: Path) -> None:
    assert why_not_own(tmp_path / "nothing.yml") is None
    assert why_not_own(Path("--server")) is None


def test_a_clone_in_which_one_has_committed_nothing_is_not_ones_own(tmp_path: Path) -> None:
    suite = cloned(tmp_path)
    assert find_project(suite) == tmp_path.resolve()
    assert "was cloned (from https://example.com/shop.git)" in str(why_not_own(suite))


@pytest.mark.parametrize("reflog", [CLONED + COMMITTED, CHECKED_OUT, COMMITTED, ""])
def test_a_clone_in_which_one_works_and_a_repository_that_was_not_cloned_are_ones_own(
    tmp_path: Path, reflog: str
) -> None:
    assert why_not_own(cloned(tmp_path, reflog)) is None


def test_a_submodule_is_looked_at_by_itself(tmp_path: Path) -> None:
    cloned(tmp_path, COMMITTED)
    inner = tmp_path / "third_party"
    (tmp_path / ".git" / "modules" / "third_party" / "logs").mkdir(parents=True)
    (tmp_path / ".git" / "modules" / "third_party" / "logs" / "HEAD").write_text(CLONED)
    inner.mkdir()
    (inner / ".git").write_text("gitdir: ../.git/modules/third_party\n")
    suite = inner / "shop.yml"
    suite.write_text("")
    assert "was cloned" in str(why_not_own(suite))


def test_a_worktree_is_as_much_ones_own_as_its_repository(tmp_path: Path) -> None:
    cloned(tmp_path / "main")
    own = tmp_path / "main" / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {own}\n")
    suite = side / "shop.yml"
    suite.write_text("")
    assert "was cloned" in str(why_not_own(suite))


def test_a_file_of_another_user_is_not_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "shop.yml"
    suite.write_text("")
    if os.geteuid() == 0:
        os.chown(suite, 54321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: suite.stat().st_uid + 1)
    assert "belongs to another user" in str(why_not_own(suite, {}))


def test_a_file_that_a_browser_has_fetched_is_not_ones_own(tmp_path: Path) -> None:
    suite = tmp_path / "shop.yml"
    suite.write_text("")
    try:
        os.setxattr(suite, "user.xdg.origin.url", b"https://example.com/shop.yml")
    except (OSError, AttributeError):
        pytest.skip("this file system keeps no attributes")
    assert "was downloaded (https://example.com/shop.yml)" in str(why_not_own(suite))


def test_what_harness_brings_and_what_the_user_has_configured_is_ones_own(tmp_path: Path) -> None:
    cloned(tmp_path)
    config = tmp_path / "config.yml"
    config.write_text("")
    assert why_not_own(config, {}) is not None
    assert why_not_own(config, {"HARNESS_CONFIG": str(config)}) is None
    assert why_not_own(next(builtin_suites().glob("*.yml"))) is None
