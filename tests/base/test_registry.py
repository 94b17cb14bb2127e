"""Members of a registry: those that come with harness, and those of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import UsageError
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


def test_a_member_of_another_package_must_be_what_the_registry_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, {"things": "new = math:tau\nodd = math:sin"}, monkeypatch)
    things = Registry[float]("things", "thing", {}, base=float)
    assert things.get("new") > 6
    with pytest.raises(UsageError, match=r"thing 'odd' \(math:sin\) is no builtins\.float"):
        things.get("odd")


def test_built_in_members_may_be_searched_for_when_one_is_needed() -> None:
    searched: list[str] = []

    def search() -> dict[str, str]:
        searched.append("once")
        return {"pi": "math:pi"}

    things = Registry[float]("nothings", "thing", search, unlisted=lambda: {"tau": "math:tau"})
    assert searched == []
    assert things.list_names() == things.built_in_names == ("pi",)
    assert things.get("tau") > things.get("pi")
    assert searched == ["once"]
