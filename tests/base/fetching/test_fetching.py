from __future__ import annotations

import gzip
import hashlib
import json
import re
import zipfile
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.fetching.cache import (
    cache_root,
    compute_sha256,
    read_stamp,
    replace_folder,
    tree_digest,
)
from harness.base.fetching.pypi import fetch_wheel, gunzip, read_members, write_files


def everything(_name: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HARNESS_CACHE": "/data/cache", "XDG_CACHE_HOME": "/elsewhere"}, Path("/data/cache")),
        ({"XDG_CACHE_HOME": "/elsewhere"}, Path("/elsewhere/harness")),
        ({"XDG_CACHE_HOME": "relative"}, Path.home() / ".cache" / "harness"),
        ({}, Path.home() / ".cache" / "harness"),
    ],
)
def test_the_cache_is_where_the_user_keeps_such_things(
    environ: dict[str, str], expected: Path
) -> None:
    assert cache_root(environ) == expected


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/evil", "a/../../evil", "a\\evil", "C:evil", "a//evil", "./evil", "a/./evil"],
)
def test_a_name_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("good", b"good")
        archive.writestr(name, b"evil")
    with pytest.raises(UsageError, match="could be written anywhere"):
        write_files(read_members(tmp_path / "bad.zip", everything), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="could be written anywhere"):
        write_files({name: b"evil"}, tmp_path / "out")


def test_a_link_out_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "data.json").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="leads out of"):
        read_members(tmp_path / "checkout", everything)


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.base.fetching.pypi.MAX_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"0" * 600)
        archive.writestr("b", b"0" * 600)
    with pytest.raises(UsageError, match="more than 1,000 bytes"):
        read_members(tmp_path / "bomb.zip", everything)


def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>Not found</p>")
    with pytest.raises(UsageError, match="not a readable archive"):
        read_members(tmp_path / "page.html", everything)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_archive_is_said_to_be_one(tmp_path: Path, method: int) -> None:
    whole, damaged = tmp_path / "whole.zip", tmp_path / "damaged.zip"
    refused = 0
    with zipfile.ZipFile(whole, "w", method) as archive:
        archive.writestr("a.json", bytes(range(256)) * 20)
    content = whole.read_bytes()
    start = content.index(b"a.json") + len("a.json")
    for place in range(start, content.index(b"PK\x01\x02"), 7):
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            assert read_members(damaged, everything) == {
                "a.json": bytes(range(256)) * 20
            }  # a bit that nothing reads
        except UsageError as error:
            assert re.search("not a readable archive|cannot be read", str(error))  # noqa: PT017 - either way will do
            refused += 1
    assert refused > 3
    gone = bytearray(content)
    at = content.index(b"PK\x01\x02") + 10
    gone[8:10] = gone[at : at + 2] = (99).to_bytes(2, "little")  # a method that nobody knows
    damaged.write_bytes(gone)
    with pytest.raises(UsageError, match="not a readable archive"):
        read_members(damaged, everything)


def test_a_folder_and_a_gzipped_file_have_the_same_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.base.fetching.pypi.MAX_BYTES", 1000)
    (tmp_path / "a").write_bytes(b"0" * 600)
    (tmp_path / "b").write_bytes(b"0" * 600)
    with pytest.raises(UsageError, match="more than 1,000 bytes"):
        read_members(tmp_path, everything)
    assert gunzip("a.gz", gzip.compress(b"0" * 1000)) == b"0" * 1000
    with pytest.raises(UsageError, match=r"a\.gz unpacks to more than 1,000 bytes"):
        gunzip("a.gz", gzip.compress(b"0" * 1001))
    with pytest.raises(UsageError, match=r"a\.gz is a damaged archive"):
        gunzip("a.gz", gzip.compress(b"0" * 1000)[:-1])


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, index: str) -> None:
    (tmp_path / "downloads").write_text("a file")
    with pytest.raises(UsageError, match="downloads cannot be written"):
        fetch_wheel("tiny-data", "1.0", index, tmp_path / "downloads", lambda *_: None)
    with pytest.raises(UsageError, match=r"nothing\.whl cannot be read: No such file"):
        compute_sha256(tmp_path / "nothing.whl")


def test_an_archive_and_a_folder_of_the_same_files_are_equal(tmp_path: Path) -> None:
    files = {"a.json": b"1", "deep/b.json": b"2", "c.txt": b"3"}
    write_files(files, tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in reversed(files.items()):
            archive.writestr(name, content)
    read = [
        read_members(origin, lambda name: name.endswith(".json"))
        for origin in (tmp_path / "folder", tmp_path / "a.zip")
    ]
    assert sorted(read[0]) == ["a.json", "deep/b.json"]
    assert tree_digest(read[0]) == tree_digest(read[1])
    assert tree_digest({**read[0], "a.json": b"0"}) != tree_digest(read[0])


def test_a_folder_is_replaced_only_when_its_successor_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "data"
    with replace_folder(target, {"release": 1}) as fresh:
        (fresh / "file").write_text("first")
        assert not target.exists()
    with pytest.raises(KeyboardInterrupt), replace_folder(target, {"release": 2}):
        raise KeyboardInterrupt
    assert (target / "file").read_text() == "first"
    assert read_stamp(target) == {"release": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_folder_without_its_stamp_is_not_whole(tmp_path: Path) -> None:
    assert read_stamp(tmp_path) is None
    (tmp_path / "fetched.json").write_text("{")
    assert read_stamp(tmp_path) is None


def _wheel(folder: Path) -> tuple[Path, str]:
    """Make a wheel that pip accepts, and return it with its digest."""
    path = folder / "tiny_data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_data/__init__.py", "")
        archive.writestr(
            "tiny_data-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-data\nVersion: 1.0\n",
        )
        archive.writestr(
            "tiny_data-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("tiny_data-1.0.dist-info/RECORD", "")
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder of wheels as the user's own index, by pip's own configuration.

    Returns the wheel's digest.
    """
    (tmp_path / "wheels").mkdir()
    path, digest = _wheel(tmp_path / "wheels")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return digest


def test_a_wheel_comes_from_the_index_that_the_user_configured_for_pip(
    tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    found = fetch_wheel(
        "tiny-data", "1.0", index, tmp_path / "downloads", lambda what, *_: told.append(what)
    )
    assert hashlib.sha256(found.read_bytes()).hexdigest() == index
    assert told
    monkeypatch.delenv("PIP_FIND_LINKS")  # whoever has it needs no index any more
    assert fetch_wheel("tiny-data", "1.0", index, tmp_path / "downloads", lambda *_: None) == found


def test_a_wheel_that_is_another_file_is_refused(tmp_path: Path, index: str) -> None:
    with pytest.raises(UsageError, match="is not the published file"):
        fetch_wheel("tiny-data", "1.0", "0" * 64, tmp_path / "downloads", lambda *_: None)
    assert list((tmp_path / "downloads").iterdir()) == []


@pytest.mark.slow
def test_without_the_wheel_pips_own_words_are_shown(tmp_path: Path, index: str) -> None:
    with pytest.raises(
        UsageError, match=r"(?s)could not download.*No matching distribution.*--from FILE"
    ):
        fetch_wheel("tiny-data", "2.0", index, tmp_path / "downloads", lambda *_: None)


def test_stamps_are_plain_json(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "data", {"categories": ["a"]}):
        pass
    assert json.loads((tmp_path / "data" / "fetched.json").read_text()) == {"categories": ["a"]}
