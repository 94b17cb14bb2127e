"""Only suites are collected; whoever has none pays nothing for the plugin."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.pytest_plugin.options import OPTIONS, renamed
from harness.pytest_plugin.recognise import is_suite, python_suites
from tests.pytest_plugin.sessions import ROOT

SUITE = "suite: shop\ntests:\n  - name: a\n    prompt: Hello\n"
PYTHON = "class Shop:\n    name = 'shop'\n    def cases(self):\n        return []\n"


def config(root: Path, invoked_in: Path | None = None) -> Any:
    return SimpleNamespace(
        invocation_params=SimpleNamespace(dir=invoked_in or root),
        rootpath=root,
        getini=lambda _: ["test_*.py", "*_test.py"],
    )


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("evals/anything.yml", "services: {}", True),  # harness evals would take it for a suite, too
        ("evals/deep/er/data.csv", "a,b\n", True),
        ("evals/.hidden.yml", SUITE, False),
        ("evals/notes.md", SUITE, False),
        ("docs/shop.yaml", SUITE, True),
        ("docs/old.yml", "mxcp: 1\nsuite: shop\n", True),
        ("docs/quoted.yml", '"suite": shop\ntests:\n- {}\n  prompt: x', True),
        ("docs/data.csv", "test_id,query,expected_tool,expected_args,expected_response_contains\n", True),
        ("docs/other.csv", "id,query\n", False),
        ("docs/chart_test.yaml", "suite: deployment\ntemplates: [a.yaml]\ntests:\n  - it: works\n", False),
        ("docs/compose.yml", "services:\n  db: {image: postgres}\n", False),
        ("mxcp-site.yml", "mxcp: 1\nproject: x\n", False),
        ("docs/nested.yml", "other:\n  suite: shop\n  prompt: x\n", False),
    ],
)
def test_yaml_and_csv_are_suites_below_evals_or_if_they_look_like_one(
    tmp_path: Path, name: str, text: str, expected: bool
) -> None:
    assert is_suite(write(tmp_path / name, text), config(tmp_path)) is expected


@pytest.mark.parametrize("invoked_in", [".", "evals", "evals/deep", "docs"])
def test_what_lies_below_evals_is_a_suite_wherever_in_the_project_pytest_is_started(
    tmp_path: Path, invoked_in: str
) -> None:
    started = config(tmp_path, tmp_path / invoked_in)
    assert is_suite(write(tmp_path / "evals" / "deep" / "anything.yml", "services: {}"), started)
    assert not is_suite(write(tmp_path / "docs" / "compose.yml", "services: {}"), started)


def test_a_project_that_lies_below_a_folder_evals_is_not_all_suites(tmp_path: Path) -> None:
    project = tmp_path / "evals" / "project"
    assert not is_suite(write(project / "compose.yml", "services: {}\n"), config(project))


@pytest.mark.parametrize(
    ("name", "text", "named", "expected"),
    [
        ("evals/shop.py", PYTHON, False, ("Shop",)),
        ("evals/shop.py", PYTHON + "class Other:\n    name = 'other'\n", False, ("Shop",)),
        ("evals/broken.py", "class Shop(", False, ()),
        ("evals/test_shop.py", PYTHON, False, ()),
        ("bench/shop.py", PYTHON, False, ()),
        ("bench/shop.py", PYTHON, True, ("Shop",)),
        ("tests/test_shop.py", PYTHON, True, ()),
    ],
)
def test_python_suites_are_those_below_evals_and_those_that_are_named(
    tmp_path: Path, name: str, text: str, named: bool, expected: tuple[str, ...]
) -> None:
    parent: Any = SimpleNamespace(
        config=config(tmp_path), session=SimpleNamespace(isinitpath=lambda _: named), name="parent"
    )
    assert python_suites(write(tmp_path / name, text), parent) == expected


def test_the_plugin_loads_nothing_before_a_suite_is_found() -> None:
    script = (
        "import pytest, sys; before = set(sys.modules)\n"
        "import harness.pytest_plugin\n"
        "print(sorted(name for name in set(sys.modules) - before))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True, cwd=ROOT
    ).stdout
    assert set(ast.literal_eval(printed)) == {
        "harness",
        "harness.pytest_plugin",
        "harness.pytest_plugin.ending",
        "harness.pytest_plugin.options",
        "harness.pytest_plugin.recognise",
    }


def test_texts_of_harness_name_the_options_as_they_are_called_here() -> None:
    text = "name one with --model, for example --model claude; see --models, --report and -m"
    assert (
        renamed(text)
        == "name one with --harness-model, for example --harness-model claude; see --models, --report and -m"
    )


def test_every_option_is_one_of_the_command_lines() -> None:
    from harness.cli.evals import command

    known = {name for parameter in command.params for name in parameter.opts}
    assert {f"--{option.name}" for option in OPTIONS} <= known


def test_the_page_names_every_option() -> None:
    page = (ROOT / "docs" / "pytest.md").read_text("utf-8")
    for option in OPTIONS:
        assert (
            f"| `--harness-{option.name} {option.metavar}` | `{option.key}` |".replace("COMMAND|NAME", "COMMAND\\|NAME")
            in page
        )
