"""Temporary folders of agents: removed when their owner is dead, and by nobody else before."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.agents.workplace import TemporaryFolder, remove_abandoned

OWNER = """
import sys
from harness.agents.workplace import TemporaryFolder
print(TemporaryFolder().path, flush=True)
sys.stdin.read()
"""
LOCK = ".owner.lock"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put temporary folders below the test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def owner(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process with a folder; return it and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_of_a_killed_process_is_removed_with_the_next_one_and_not_before(
    temporary: Path,
) -> None:
    process, left = owner(temporary)
    (left / "work").mkdir()
    (left / "work" / "file.txt").write_text("of the agent")
    with TemporaryFolder() as mine:
        assert (left / "work" / "file.txt").exists()  # its owner lives
        assert mine.path.is_dir()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with TemporaryFolder() as mine:
        assert [*temporary.iterdir()] == [mine.path]
    assert [*temporary.iterdir()] == []


def test_a_folder_of_this_process_stays_until_it_is_removed() -> None:
    with TemporaryFolder() as first, TemporaryFolder() as second:
        remove_abandoned()
        assert first.path.is_dir()
        assert second.path.is_dir()
    assert not first.path.exists()


def abandoned(temporary: Path, name: str = "harness-agent-x") -> Path:
    """Make a folder like that of a process that has ended."""
    folder = temporary / name
    folder.mkdir()
    (folder / LOCK).touch()
    (folder / "content").touch()
    return folder


def link_to_a_folder(temporary: Path) -> Path:
    (temporary / "harness-agent-link").symlink_to(abandoned(temporary, "precious"))
    return temporary / "precious"


def folder_without_a_lock(temporary: Path) -> Path:
    folder = abandoned(temporary)
    (folder / LOCK).unlink()
    return folder


def folder_with_a_link_for_a_lock(temporary: Path) -> Path:
    folder = folder_without_a_lock(temporary)
    (temporary / "file").touch()
    (folder / LOCK).symlink_to(temporary / "file")
    return folder


def folder_with_a_pipe_for_a_lock(temporary: Path) -> Path:
    folder = folder_without_a_lock(temporary)
    os.mkfifo(folder / LOCK)
    return folder


def folder_of_another_name(temporary: Path) -> Path:
    return abandoned(temporary, "somebody-else")


@pytest.mark.parametrize(
    "made",
    [
        link_to_a_folder,
        folder_without_a_lock,
        folder_with_a_link_for_a_lock,
        folder_with_a_pipe_for_a_lock,
        folder_of_another_name,
    ],
)
def test_what_is_not_surely_of_a_dead_process_stays(
    temporary: Path, made: Callable[[Path], Path]
) -> None:
    kept = made(temporary)
    remove_abandoned()
    assert (kept / "content").exists()


def test_a_folder_of_another_user_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = abandoned(temporary)
    monkeypatch.setattr("os.geteuid", lambda: folder.stat().st_uid + 1)
    remove_abandoned()
    assert (folder / "content").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root needs no permission to remove a file")
def test_what_a_link_in_a_folder_leads_to_keeps_its_content_and_its_mode(temporary: Path) -> None:
    outside = temporary / "file"
    outside.write_text("precious")
    outside.chmod(0o640)
    folder = abandoned(temporary)
    inner = folder / "work" / "locked"
    inner.mkdir(parents=True)
    (inner / "link").symlink_to(outside)
    inner.chmod(stat.S_IRUSR | stat.S_IXUSR)
    remove_abandoned()
    assert outside.read_text() == "precious"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o640
    assert not folder.exists()
