"""The source keeps its shape: small folders and files, no import cycles; docs name all rooms.

And the docs name every room.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from statistics import median

import pytest

from tests.figures import MOST_FILES, MOST_LINES, Figures
from tests.figures.crossing import list_crossed_files

ROOT = Path(__file__).parents[1]
_CHANGE = re.compile(r"\| .* \| (?P<count>\d+) \| (?P<files>.*) \|$")
_ROOM = re.compile(r"^\| (?P<rooms>`[^|]+`) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def figures() -> Figures:
    return Figures(ROOT)


@pytest.mark.parametrize("top", ["harness", "tests"])
def test_no_folder_has_more_files_than_a_newcomer_can_survey(figures: Figures, top: str) -> None:
    crowded = {
        folder: count
        for folder, count in figures.files_by_folder(top).items()
        if count > MOST_FILES
    }
    assert crowded == {}


def test_no_file_of_the_source_is_longer_than_the_bound(figures: Figures) -> None:
    long = {path: lines for path, lines in figures.lines.items() if lines > MOST_LINES}
    assert long == {}


def test_the_largest_nouns_are_made_of_parts(figures: Figures) -> None:
    assert max(figures.fields.values()) <= 24
    assert figures.fields["Case"] <= 18
    assert figures.fields["ServerSpec"] <= 14


def test_no_function_branches_more_than_the_linter_allows(figures: Figures) -> None:
    assert len(figures.complex_functions) < figures.functions / 100


def test_no_module_imports_itself_by_way_of_others(figures: Figures) -> None:
    assert figures.cycles == []


def test_contributing_names_every_room_and_no_other() -> None:
    named = [
        room
        for line in _ROOM.finditer((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
        for room in re.findall(r"`harness/([^`/]*)/`", line["rooms"])
    ]
    rooms = {path.parent.name for path in (ROOT / "harness").glob("*/__init__.py")}
    assert sorted(named) == sorted(rooms)


def test_every_folder_says_what_it_is_for(figures: Figures) -> None:
    silent = [
        name
        for name, module in figures.modules.items()
        if name.endswith("/__init__.py") and not ast.get_docstring(module)
    ]
    assert silent == []


def test_circles_are_found_where_an_import_stands_inside_a_function(tmp_path: Path) -> None:
    room = tmp_path / "harness"
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "one.py").write_text("from harness.two import b\n")
    (room / "two.py").write_text("def b():\n    from harness import one\n")
    (room / "three.py").write_text("from harness import one\n")
    assert Figures(tmp_path).cycles == [["harness.one", "harness.two"]]


def test_the_files_that_a_change_touches_exist_and_are_few() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = page.partition("## Changes and the files they touch")[2].splitlines()
    counts = []
    for row in rows:
        if found := _CHANGE.match(row):
            files = re.findall(r"`([\w/]+\.(?:py|js))`", found["files"])
            assert [name for name in files if not (ROOT / "harness" / name).exists()] == []
            assert len(files) == int(found["count"])
            counts.append(len(files))
    assert len(counts) == 12
    assert median(counts) <= 3


@pytest.mark.slow
def test_the_files_that_one_case_crosses_are_those_that_run_it(tmp_path: Path) -> None:
    crossed = list_crossed_files(ROOT, tmp_path)
    assert {"cli/commands/evals.py", "runner/model_conversation.py", "sessions/calls.py"} <= {
        *crossed
    }
    assert not any(name.startswith(("probing/", "leaderboards/")) for name in crossed)
