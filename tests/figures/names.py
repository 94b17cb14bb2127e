"""Names: which only point at, or only qualify, what they should say; shares of them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

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


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_flag(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a property that is true, false or unknown: an adjective is its right name."""
    if not any("property" in ast.unparse(mark) for mark in function.decorator_list):
        return False
    return function.returns is not None and ast.unparse(function.returns).startswith("bool")


class Names:
    """The names of the functions and classes of some modules."""

    def __init__(self, modules: Mapping[str, ast.Module]) -> None:
        """``modules`` is path → syntax tree."""
        self._modules = modules

    @cached_property
    def _functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        found = (one for tree in self._modules.values() for one in functions(tree))
        return [one for one in found if not (one.name.startswith("__") and one.name.endswith("__"))]

    @cached_property
    def files_by_class(self) -> Mapping[str, set[str]]:
        """Name of each class → the files that define one of that name."""
        files = defaultdict(set)
        for path, tree in self._modules.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    files[node.name].add(path)
        return files

    @property
    def share_of_bare_functions(self) -> float:
        """Share of the functions whose names are a bare participle, pronoun or preposition."""
        return _share(is_bare(one.name) and not is_flag(one) for one in self._functions)

    @property
    def share_of_one_word_functions(self) -> float:
        """Share of the functions whose names are one word."""
        return _share("_" not in one.name.strip("_") for one in self._functions)

    @property
    def share_of_classes_in_two_files(self) -> float:
        """Share of the names of classes that stand in more than one file."""
        return _share(len(files) > 1 for files in self.files_by_class.values())

    @property
    def mean_letters_of_a_function(self) -> float:
        """Mean length of the functions' names, without underscores at their ends."""
        letters = [len(one.name.strip("_")) for one in self._functions]
        return sum(letters) / len(letters)


def _share(judged: Iterable[bool]) -> float:
    verdicts = list(judged)
    return sum(verdicts) / len(verdicts)
