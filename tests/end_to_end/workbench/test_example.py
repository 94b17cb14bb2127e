"""The worked example of docs/workbench.md: a server with bad words, made better and proven."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project
from tests.end_to_end.warm import warm_python

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "workbench.md").read_text("utf-8")


@pytest.fixture
def desk(project: Project) -> Project:
    shutil.copytree(DOCS / "workbench_example", project.folder, dirs_exist_ok=True)
    suite = project.folder / "evals" / "library.yml"
    text = suite.read_text("utf-8")
    suite.write_text(text.replace("command: python", f"command: {warm_python()}"))
    return project


@pytest.mark.slow
def test_the_words_written_by_hand_are_as_much_better_as_the_page_says(desk: Project) -> None:
    finished = desk.run(
        *("workbench", "library", "--model", "lexical", "--studies", "ab"),
        *("--variant", "better.yml", "--json-output"),
    )
    assert finished.code == 0, finished.stderr
    study: dict[str, Any] = finished.document["result"]["models"][0]["studies"]["ab"]
    [found] = study["variants"]
    assert found["verdict"] == "better"
    told = re.search(r"by_hand: (\d+) % → (\d+) % of 100 cases", PAGE)
    assert told is not None
    assert (f"{100 * found['before']:.0f}", f"{100 * found['after']:.0f}") == told.groups()


@pytest.mark.slow
def test_the_server_with_better_words_is_as_much_better_as_the_page_says(desk: Project) -> None:
    server = {"command": warm_python(), "args": ["library_2.py"]}
    desk.configure(servers={"library_2": server})
    finished = desk.run(
        *("workbench", "library", "--model", "lexical", "--studies", "ab"),
        *("--against", "library_2"),
    )
    assert finished.code == 0, finished.stderr
    said = [line.strip() for line in finished.stdout.partition("\nab: ")[2].splitlines()]
    shown = PAGE.partition("\nab: library_2")[2].partition("```")[0]
    told = [line.strip() for line in f"library_2{shown}".splitlines()]
    assert [line for line in said if line][: len(told)] == told


@pytest.mark.slow
def test_the_rules_find_better_words_that_hold_on_questions_they_never_saw(desk: Project) -> None:
    finished = desk.run(
        *("workbench", "library", "--model", "lexical", "--studies", "improve", "--json-output")
    )
    assert finished.code == 0, finished.stderr
    study = finished.document["result"]["models"][0]["studies"]["improve"]
    assert study["headline"] in PAGE
