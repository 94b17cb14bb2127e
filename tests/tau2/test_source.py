"""``harness fetch tau2``: from a folder, a checkout, an archive or over HTTP, and only what is meant."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.errors import NothingToRun, UsageError
from harness.fetching import Fetched, Request
from harness.tau2.data import domain_folder
from harness.tau2.download import repository
from harness.tau2.pins import TREE
from harness.tau2.source import TAU2_SOURCE
from tests.tau2.support import recordings

NAMES = ("db.json", "policy.md", "tasks.json", "tools.json")


def fetch(root: Path, origin: Path | None, **more: Any) -> Fetched:
    return TAU2_SOURCE.fetch(Request(root=root, origin=origin, **more), lambda *_: None)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data as `fetch` leaves them, to be spoilt in copies."""
    root = tmp_path_factory.mktemp("plain")
    fetch(root, recordings())
    return root / "tau2"


def test_a_folder_is_verified_and_unpacked_once(plain: Path, tmp_path: Path) -> None:
    first = fetch(tmp_path, recordings())
    assert (first.new, first.summary) == (True, "50 tasks of airline and 114 tasks of retail")
    for domain in ("airline", "retail"):
        assert sorted(path.name for path in (tmp_path / "tau2" / domain).iterdir()) == sorted(NAMES)
    packed = gzip.decompress((recordings() / "airline" / "db.json.gz").read_bytes())
    assert (tmp_path / "tau2" / "airline" / "db.json").read_bytes() == packed
    assert "MIT License" in (tmp_path / "tau2" / "LICENSE").read_text()
    again = fetch(tmp_path, Path("/nowhere"))
    assert (again.new, again.folder) == (False, first.folder)


def test_one_domain_with_a_few_tasks_is_enough_and_the_other_may_follow(plain: Path, tmp_path: Path) -> None:
    found = fetch(tmp_path, plain, categories=("retail",), limit=3)
    assert found.summary == "3 tasks of retail"
    assert len(json.loads((tmp_path / "tau2" / "retail" / "tasks.json").read_text())) == 3
    assert not (tmp_path / "tau2" / "airline").exists()
    assert (
        fetch(tmp_path, plain, categories=("airline",), limit=3).summary == "3 tasks of airline and 3 tasks of retail"
    )


def test_fewer_tasks_than_are_there_take_none_away(plain: Path, tmp_path: Path) -> None:
    fetch(tmp_path, plain, categories=("airline",))
    assert not fetch(tmp_path, Path("/nowhere"), categories=("airline",), limit=3).new
    assert (
        fetch(tmp_path, plain, categories=("retail",), limit=3).summary == "50 tasks of airline and 114 tasks of retail"
    )


def test_data_that_an_earlier_release_was_pinned_to_count_for_nothing(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(tmp_path, plain, categories=("airline",))
    stamp = tmp_path / "tau2" / "fetched.json"
    stamp.write_text(stamp.read_text().replace(TREE, "another"))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(NothingToRun, match="harness fetch tau2"):
        domain_folder("airline")
    assert fetch(tmp_path, plain, categories=("airline",)).new
    assert domain_folder("airline") == tmp_path / "tau2" / "airline"
    with pytest.raises(NothingToRun, match="harness fetch tau2"):
        domain_folder("retail")


def test_a_checkout_and_an_archive_of_it_have_the_data_in_their_places(plain: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "tau2-bench-main"
    shutil.copytree(plain / "airline", checkout / "data" / "tau2" / "domains" / "airline")
    shutil.copytree(
        plain / "airline", checkout / "data" / "tau2" / "results" / "airline"
    )  # something else of that name
    (checkout / "data" / "tau2" / "results" / "airline" / "db.json").write_text("{}")
    assert fetch(tmp_path / "one", checkout, categories=("airline",)).summary == "50 tasks of airline"
    archive = tmp_path / "main.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(checkout.rglob("*")):
            file.write(path, path.relative_to(tmp_path))
    assert fetch(tmp_path / "two", archive, categories=("airline",)).summary == "50 tasks of airline"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_what_is_meant_is_refused_by_name(plain: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(plain / "airline", tmp_path / "airline")
    path = tmp_path / "airline" / name
    path.write_text("[]" if name == "tools.json" else path.read_text() + " ")
    with pytest.raises(UsageError, match=f"airline/{name} is not what the benchmark's figures were made with"):
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


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_files_are_downloaded_one_by_one_and_a_missing_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.json").write_text("{}")
    seen: list[tuple[str, int, int]] = []
    with served(tmp_path) as base:
        assert repository(["a/b.json"], lambda *step: seen.append(step), base) == {"a/b.json": b"{}"}
        with pytest.raises(UsageError, match=r"cannot be downloaded: .*404[\s\S]*--from FOLDER"):
            repository(["a/c.json"], lambda *_: None, base)
    assert seen == [("downloading", 0, 1)]
    with pytest.raises(UsageError, match="cannot be downloaded"):
        repository(["a/b.json"], lambda *_: None, base)
