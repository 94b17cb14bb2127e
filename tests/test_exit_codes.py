"""One table has the exit codes: the code, the README and docs/ci.md agree with it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from harness.judging import exit_codes
from tests.figures import nodes

ROOT = Path(__file__).parents[1]
_ROW = re.compile(r"^\| (\d+) +\| ", re.MULTILINE)
CODES = {
    value for name, value in vars(exit_codes).items() if name.startswith("EXIT_")
}  # fmt: skip


def test_the_readme_has_every_exit_code() -> None:
    assert codes_in("README.md") == CODES


def test_the_page_on_ci_has_every_code_with_which_a_run_ends_by_itself() -> None:
    assert codes_in("docs/ci.md") == CODES - {exit_codes.EXIT_INTERRUPTED}


def test_no_module_writes_an_exit_code_as_a_number() -> None:
    written = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "harness").rglob("*.py")
        if "_builtin" not in path.parts
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and any(map(_is_number, node.args))
        and ast.unparse(node.func).split(".")[-1] in {"Exit", "exit", "_exit"}
    }
    assert written == set()


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_number(value.body) or _is_number(value.orelse)
    return isinstance(value, ast.Constant) and type(value.value) is int


def codes_in(page: str) -> set[int]:
    """Return the numbers in the first column of a page's tables."""
    return {int(code) for code in _ROW.findall((ROOT / page).read_text("utf-8"))}
