"""Members of a registry: those that come with harness, and those of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.registry import Registry, _find_entry_points


def installed(folder: Path, groups: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package whose entry points are ``groups`` (group → lines), as pip would."""
    info = folder / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n", "utf-8")
    text = "".join(f"[{group}]\n{lines}\n" for group, lines in groups.items())
    (info / "entry_points.txt").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_the_packages_are_searched_once_for_all_registries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, {"things": "new = math:tau", "stuff": "old = math:pi"}, monkeypatch)
    before = _find_entry_points.cache_info().misses
    assert Registry[float]("things", "thing", {}).list_names() == ("new",)
    assert Registry[float]("stuff", "thing", {}).list_names() == ("old",)
    assert _find_entry_points.cache_info().misses == before + 1
