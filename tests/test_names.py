"""Names say what a thing is or does: no bare participle, pronoun or preposition, no class twice."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.figures import Figures
from tests.figures.names import EXCEPTIONS, Names, functions, is_bare, is_flag

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return dict(Figures(ROOT).modules)


def test_no_function_has_a_bare_participle_or_pronoun_as_its_name(
    modules: dict[str, ast.Module],
) -> None:
    bare = {
        f"{path}: {function.name}"
        for path, tree in modules.items()
        for function in functions(tree)
        if is_bare(function.name) and not is_flag(function)
    }
    assert bare == set()


def test_no_class_has_a_bare_participle_or_pronoun_as_its_name(
    modules: dict[str, ast.Module],
) -> None:
    bare = {
        f"{path}: {node.name}"
        for path, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and is_bare(node.name)
    }
    assert bare == set()


def test_no_module_has_a_bare_participle_or_pronoun_as_its_name(
    modules: dict[str, ast.Module],
) -> None:
    assert {path for path in modules if is_bare(Path(path).stem)} == set()


def test_no_class_name_stands_in_two_files(modules: dict[str, ast.Module]) -> None:
    files = Names(modules).files_by_class
    assert {name: sorted(where) for name, where in files.items() if len(where) > 1} == {}


def test_every_exception_is_needed(modules: dict[str, ast.Module]) -> None:
    names = Counter(function.name for tree in modules.values() for function in functions(tree))
    names.update(
        node.name
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    names.update(Path(path).stem for path in modules)
    words = {name.strip("_").lower() for name in names}
    assert set(EXCEPTIONS) - words == set()
    assert len(EXCEPTIONS) <= 20


@pytest.mark.parametrize("name", ["told", "_of", "Again", "__asked", "withheld", "beside"])
def test_a_bare_name_is_recognised(name: str) -> None:
    assert is_bare(name)


@pytest.mark.parametrize("name", ["run", "feed", "read_log", "as_told_by", "Budget", "split"])
def test_a_name_that_says_what_it_does_is_not_bare(name: str) -> None:
    assert not is_bare(name)
