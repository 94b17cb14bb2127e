from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.fetching import FetchedData, FetchRequest
from harness.leaderboards.bfcl.data import BFCL_SOURCE, data_folder, read_fetched_facts


def fetch(root: Path, origin: Path, *categories: str, limit: int | None = None) -> FetchedData:
    return BFCL_SOURCE.fetch(
        FetchRequest(root=root, origin=origin, categories=categories, limit=limit), lambda *_: None
    )


@pytest.fixture
def checkout(bfcl_data: Path, tmp_path: Path) -> Path:
    """The fetched release, laid out as a checkout of the repository has it."""
    place = tmp_path / "gorilla" / "berkeley-function-call-leaderboard"
    place.mkdir(parents=True)
    (place / "bfcl_eval").symlink_to(bfcl_data)
    return tmp_path / "gorilla"


def lines(root: Path, name: str) -> int:
    return len(
        (data_folder(root) / "data" / f"BFCL_v4_{name}.json").read_text("utf-8").splitlines()
    )


def test_a_part_of_a_checkout_is_fetched_and_then_more_of_it(
    checkout: Path, tmp_path: Path
) -> None:
    root = tmp_path / "cache"
    assert fetch(root, checkout, "parallel", limit=3).summary == "3 cases in 1 categories"
    assert lines(root, "parallel") == 3
    assert not (data_folder(root) / "data" / "BFCL_v4_multiple.json").exists()
    assert not fetch(root, checkout, "parallel", limit=2).new
    assert fetch(root, checkout, "multiple").new
    noted = read_fetched_facts(root)
    assert noted is not None
    assert (noted["categories"], noted["limit"]) == (["multiple", "parallel"], None)
    assert (lines(root, "parallel"), lines(root, "multiple")) == (200, 200)


def test_a_checkout_of_another_release_is_refused(checkout: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "bfcl_eval"
    source = checkout / "berkeley-function-call-leaderboard" / "bfcl_eval"
    for path in sorted(source.resolve().rglob("*")):
        if path.is_file() and path.name != "fetched.json":
            target = copy / path.relative_to(source.resolve())
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    changed = copy / "data" / "possible_answer" / "BFCL_v4_parallel.json"
    changed.write_text(changed.read_text("utf-8").replace("1", "2", 1), "utf-8")
    with pytest.raises(UsageError, match="scores would not be comparable"):
        fetch(tmp_path / "cache", copy.parent)
    assert read_fetched_facts(tmp_path / "cache") is None


def test_another_file_than_the_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.whl").write_bytes(b"PK")
    with pytest.raises(UsageError, match="is not the wheel bfcl-eval"):
        fetch(tmp_path / "cache", tmp_path / "other.whl")


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a checkout"):
        fetch(tmp_path / "cache", tmp_path)
    with pytest.raises(UsageError, match="there is nothing at"):
        fetch(tmp_path / "cache", tmp_path / "nowhere")


def test_the_stamp_says_what_was_fetched(bfcl_data: Path) -> None:
    noted = json.loads((bfcl_data / "fetched.json").read_text())
    assert noted["package"] == "bfcl-eval"
    assert noted["release"] == bfcl_data.name
