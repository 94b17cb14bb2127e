"""Figures of the source's shape: ``python -m tests.figures [CHECKOUT]`` prints them.

`docs/architecture.md` shows them, and `tests/test_figures.py` holds their bounds.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from tests.figures.source_lines import SourceLines, count_source_lines

MOST_FILES = 25
"""Python files in one folder."""
MOST_LINES = 400
"""Lines of one file of ``harness/``."""
MOST_COMPLEXITY = 12
"""Branches of one function, as McCabe counts them."""

_ADDITION = re.compile(r"^### … (?P<what>.+?)\n(?P<text>.*?)(?=^##)", re.MULTILINE | re.DOTALL)
_TOUCHED = re.compile(r"^```diff\n--- (harness/\S+)$|^Example: \[`(\w+\.py)`\]", re.MULTILINE)
_COMPLEXITY = re.compile(r"\((\d+) > ")


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module; it is read once for all tests.

    The garbage collector never looks at it: the trees of all modules have a million nodes, each of
    its passes over them takes a second, and they stay as long as the tests run.
    """
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.freeze()
        gc.enable()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a module's syntax tree; it is walked once for all tests."""
    found: list[ast.AST] = [parsed(path)]
    for node in found:  # it grows: as `ast.walk`, in less time
        for value in map(node.__dict__.get, node._fields):
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
    return tuple(found)


class Figures:
    """What can be counted in one checkout."""

    def __init__(self, checkout: Path) -> None:
        """``checkout`` is the folder in which ``harness/`` and ``tests/`` stand."""
        self.checkout = checkout

    @cached_property
    def modules(self) -> Mapping[str, ast.Module]:
        """Path of each module of ``harness/``, from the checkout → its syntax tree."""
        found = sorted((self.checkout / "harness").rglob("*.py"))
        return {
            path.relative_to(self.checkout).as_posix(): parsed(path)
            for path in found
            if "_builtin" not in path.parts
        }

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """Path of each module of ``harness/`` → its lines."""
        return {
            name: len((self.checkout / name).read_text("utf-8").splitlines())
            for name in self.modules
        }

    @property
    def rooms(self) -> int:
        """Packages that stand directly in ``harness/``."""
        return len([*(self.checkout / "harness").glob("*/__init__.py")])

    @property
    def loose_modules(self) -> int:
        """Modules that stand beside them."""
        return len([*(self.checkout / "harness").glob("*.py")])

    @property
    def dependencies(self) -> int:
        """Packages that the base install asks for by name."""
        project = tomllib.loads((self.checkout / "pyproject.toml").read_text("utf-8"))
        return len(project["project"]["dependencies"])

    @cached_property
    def source_lines(self) -> SourceLines:
        """Lines of code and of comments of ``harness/``."""
        counted = [
            count_source_lines((self.checkout / name).read_text("utf-8"), tree)
            for name, tree in self.modules.items()
        ]
        return SourceLines(
            code=sum(one.code for one in counted), comments=sum(one.comments for one in counted)
        )

    @cached_property
    def longest_function(self) -> tuple[str, int]:
        """``path:name`` of the function with the most lines, and how many."""
        lengths = {
            f"{name}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
            for name, tree in self.modules.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        longest = max(lengths, key=lambda name: lengths[name])
        return longest, lengths[longest]

    def files_by_folder(self, top: str) -> Counter[str]:
        """Return how many Python files stand directly in each folder of ``top``."""
        installed = {"node_modules", ".venvs", "_builtin"}
        return Counter(
            path.parent.relative_to(self.checkout).as_posix()
            for path in (self.checkout / top).rglob("*.py")
            if installed.isdisjoint(path.parts)
        )

    @cached_property
    def fields(self) -> Counter[str]:
        """Fields of each dataclass of ``harness/types``."""
        return Counter(
            {
                node.name: sum(isinstance(part, ast.AnnAssign) for part in node.body)
                for name, tree in self.modules.items()
                if name.startswith(("harness/types.py", "harness/types/"))
                for node in tree.body
                if isinstance(node, ast.ClassDef) and node.decorator_list
            }
        )

    @cached_property
    def functions(self) -> int:
        """Functions and methods of ``harness/``, those inside others included."""
        return sum(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for tree in self.modules.values()
            for node in ast.walk(tree)
        )

    @cached_property
    def complex_functions(self) -> Mapping[str, int]:
        """``path:line`` of each function over `MOST_COMPLEXITY` → its complexity, as ruff counts
        it.
        """
        ruff = Path(sys.executable).with_name("ruff")
        command = [
            str(ruff),
            "check",
            "--isolated",
            "--ignore-noqa",
            "--select",
            "C901",
            "--exit-zero",
        ]
        limit = f"lint.mccabe.max-complexity = {MOST_COMPLEXITY}"
        told = subprocess.run(
            [*command, "--config", limit, "--output-format", "json", "--no-cache", "harness"],
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        found: dict[str, int] = {}
        for one in json.loads(told.stdout):
            measured = _COMPLEXITY.search(one["message"])
            assert measured, one["message"]
            path = Path(one["filename"]).relative_to(self.checkout.resolve()).as_posix()
            found[f"{path}:{one['location']['row']}"] = int(measured[1])
        return found

    @cached_property
    def imports(self) -> Mapping[str, frozenset[str]]:
        """Module → the modules of ours that it imports, inside functions too, except for the type
        checker alone.
        """
        names = {_dotted(name): name for name in self.modules}
        return {
            own: frozenset(_known(target, names) for target in _imported(self.modules[path]))
            - {"", own}
            for own, path in names.items()
        }

    @cached_property
    def cycles(self) -> list[list[str]]:
        """Groups of modules that import each other, directly or by way of others, each group
        sorted.
        """
        return [sorted(group) for group in _strongly_connected(self.imports) if len(group) > 1]

    @cached_property
    def any_per_thousand_lines(self) -> float:
        """How often ``Any`` is named per 1,000 lines of ``harness/``, imports not counted."""
        named = sum(
            isinstance(node, ast.Name) and node.id == "Any"
            for tree in self.modules.values()
            for node in ast.walk(tree)
        )
        return 1000 * named / sum(self.lines.values())

    @cached_property
    def files_by_addition(self) -> Mapping[str, int]:
        """What CONTRIBUTING.md shows can be added → the files that its example touches."""
        page = (self.checkout / "CONTRIBUTING.md").read_text("utf-8")
        found = {
            section["what"]: len(set(_TOUCHED.findall(section["text"])))
            for section in _ADDITION.finditer(page)
        }
        return {what: files for what, files in found.items() if files}


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _known(target: str, names: Mapping[str, str]) -> str:
    """Return the module that ``target`` is, or is defined in; empty if it is none of ours."""
    return next((one for one in (target, target.rpartition(".")[0]) if one in names), "")


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # imports are statements
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            yield from _imported(node)


def _strongly_connected(edges: Mapping[str, frozenset[str]]) -> Iterator[set[str]]:
    """Yield the strongly connected components of a graph (Tarjan)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    trail: list[str] = []

    def visit(name: str) -> Iterator[set[str]]:
        order[name] = lowest[name] = len(order)
        trail.append(name)
        for target in sorted(edges[name]):
            if target not in order:
                yield from visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in trail:
                lowest[name] = min(lowest[name], order[target])
        if lowest[name] == order[name]:
            place = trail.index(name)
            yield set(trail[place:])
            del trail[place:]

    for name in edges:
        if name not in order:
            yield from visit(name)
