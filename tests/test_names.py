"""Names say what a thing is or does: no bare participle, pronoun or preposition, no class twice."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.figures import Figures

ROOT = Path(__file__).parents[1]

IRREGULAR = frozenset(
    [
        "begun",
        "bent",
        "bound",
        "broken",
        "brought",
        "built",
        "bought",
        "caught",
        "chosen",
        "come",
        "cut",
        "done",
        "drawn",
        "driven",
        "dug",
        "fallen",
        "fed",
        "felt",
        "flown",
        "forgotten",
        "fought",
        "found",
        "frozen",
        "given",
        "gone",
        "gotten",
        "grown",
        "heard",
        "held",
        "hidden",
        "hung",
        "kept",
        "known",
        "laid",
        "learnt",
        "led",
        "left",
        "lent",
        "lit",
        "lost",
        "made",
        "meant",
        "met",
        "paid",
        "proven",
        "put",
        "run",
        "said",
        "seen",
        "sent",
        "sewn",
        "shaken",
        "shown",
        "shut",
        "sold",
        "spent",
        "split",
        "spoken",
        "spread",
        "stolen",
        "stood",
        "stuck",
        "sunk",
        "sworn",
        "taken",
        "taught",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "undone",
        "withheld",
        "woken",
        "won",
        "worn",
        "wound",
        "written",
    ]
) - {"bound", "cut", "lead", "left", "put", "run", "split", "spread", "come", "lit", "shut"}
"""Participles without ``-ed``; words that are a verb or a noun as well are left out."""

VERBS_IN_ED = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})

POINTERS = frozenset(
    [
        "about",
        "above",
        "after",
        "again",
        "against",
        "ahead",
        "alike",
        "all",
        "alone",
        "along",
        "always",
        "among",
        "anybody",
        "anyone",
        "anything",
        "anywhere",
        "apart",
        "around",
        "as",
        "aside",
        "at",
        "before",
        "behind",
        "below",
        "beside",
        "besides",
        "between",
        "beyond",
        "both",
        "by",
        "during",
        "each",
        "either",
        "else",
        "elsewhere",
        "everybody",
        "everyone",
        "everything",
        "everywhere",
        "few",
        "for",
        "from",
        "here",
        "how",
        "in",
        "inside",
        "into",
        "it",
        "its",
        "itself",
        "many",
        "more",
        "most",
        "much",
        "neither",
        "never",
        "nobody",
        "none",
        "nothing",
        "now",
        "of",
        "off",
        "often",
        "on",
        "once",
        "one",
        "ones",
        "only",
        "onto",
        "other",
        "others",
        "otherwise",
        "out",
        "outside",
        "over",
        "own",
        "past",
        "same",
        "several",
        "since",
        "so",
        "some",
        "somebody",
        "someone",
        "something",
        "somewhere",
        "such",
        "that",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "together",
        "too",
        "toward",
        "under",
        "until",
        "up",
        "upon",
        "upwards",
        "us",
        "we",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whole",
        "whom",
        "whose",
        "why",
        "with",
        "within",
        "without",
        "yet",
    ]
)
"""Pronouns, prepositions and adverbs: they point at something that the name should say."""

EXCEPTIONS = {
    "denied": "an outcome of calls, and its count, beside `ok` and `errors`",
    "recorded": "the provider of ``recorded:FILE``; a provider's file has its name",
}
"""Bare names that stand, and why."""


def is_bare(name: str) -> bool:
    """Whether ``name`` is one word that only points at, or only qualifies, something."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip("_")).lower()
    return word not in EXCEPTIONS and (
        word in POINTERS
        or word in IRREGULAR
        or (word.isalpha() and word.endswith("ed") and word not in VERBS_IN_ED)
    )


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return dict(Figures(ROOT).modules)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_flag(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a property that is true, false or unknown: an adjective is its right name."""
    if not any("property" in ast.unparse(mark) for mark in function.decorator_list):
        return False
    return function.returns is not None and ast.unparse(function.returns).startswith("bool")


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
    files = defaultdict(set)
    for path, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files[node.name].add(path)
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
