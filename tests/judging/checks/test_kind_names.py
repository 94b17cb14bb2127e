"""The name of a kind of check stands in its own file alone: others ask the kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.judging.checks.registry import KINDS

ROOT = Path(harness.__file__).parent

WRITERS = ("suites", "leaderboards", "descriptions/drafting", "descriptions/workbench/mutants")
"""Read or write suites, whose keys are the names of kinds."""
WORDS = {
    "consent",
    "decision",
    "expected_answer",
    "graded",
    "refuses",
    "remembers",
    "not",
    "python",
    "tool_result",
}
"""Names that are words of other things as well: they count where they are compared with a kind."""
LIMITS = {name for name in KINDS.list_names() if name.startswith("max_")}
"""Names that limits of a trial have as well."""


PLAIN = set(KINDS.list_names()) - WORDS - LIMITS
_MAY_NAME_ONE = re.compile(rf"[\"'](?:{'|'.join(sorted(PLAIN))})[\"']|\.kind\b|\bkind=")


def names_of_kinds(path: Path) -> Iterator[str]:
    """Yield each name of a kind of check in a file."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if _MAY_NAME_ONE.search(text) else ():
        if isinstance(node, ast.Constant) and node.value in PLAIN:
            yield f"{path}:{node.lineno} {node.value}"
        elif isinstance(node, ast.Compare | ast.keyword) and _is_about_a_kind(node):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and part.value in WORDS | LIMITS:
                    yield f"{path}:{part.lineno} {part.value}"


def _is_about_a_kind(node: ast.Compare | ast.keyword) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == "kind"
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == "kind"
        and isinstance(part.value, ast.Name)
        and part.value.id in {"check", "result", "one", "member"}
        for part in ast.walk(node)
    )


@pytest.mark.slow
def test_no_file_names_a_kind_of_check_but_its_own_and_those_that_read_or_write_suites() -> None:
    own = {
        f"{KINDS.get_reference(name).partition(':')[0].replace('.', '/')}.py"
        for name in KINDS.list_names()
    }
    named = [
        place
        for path in sorted(ROOT.rglob("*.py"))
        if str(path.relative_to(ROOT.parent)) not in own
        and not str(path.relative_to(ROOT)).startswith(WRITERS)
        for place in names_of_kinds(path)
    ]
    assert named == []


@pytest.mark.parametrize(
    "code",
    [
        'is_one = check.kind == "decision"',
        'GRADING = frozenset({"answer_judge"})',
        'made = Check(kind="not", params={})',
        'asks = check.kind in ("refuses", "python")',
    ],
)
def test_a_name_is_found_however_it_is_used(code: str, tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(code)
    assert list(names_of_kinds(tmp_path / "some.py"))
