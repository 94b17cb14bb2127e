from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.documents.files import format_path, read_bytes
from harness.base.errors import InvalidInput


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_bytes(path, max_bytes=2_000_000)
    return str(caught.value)


def test_a_file_is_read_up_to_its_bound_and_not_beyond(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 2_000_000)
    assert len(read_bytes(path, max_bytes=2_000_000)) == 2_000_000
    path.write_bytes(b"x" * 2_000_001)
    assert (
        refusal(path) == f"{path}: the file is larger than 2 MB.\n    Split it into several files."
    )


def test_what_cannot_be_read_is_told_with_its_name(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path / "nothing")
        == f"{tmp_path}/nothing: the file cannot be read: No such file or directory."
    )
    assert refusal(tmp_path) == f"{tmp_path}: the file cannot be read: Is a directory."
    assert "the file cannot be read: embedded null byte." in refusal(Path("a\0b"))


def test_a_path_is_shown_as_it_would_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert format_path(tmp_path / "below" / "a.csv") == "a.csv"
    assert format_path(tmp_path / "a.csv") == str(tmp_path / "a.csv")
    assert format_path(Path("a\udcff")) == "a\\udcff"
