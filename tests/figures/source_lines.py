"""Lines of code: those that are left without blank, comment, docstring and import lines."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True)
class SourceLines:
    """What the lines of a module are."""

    code: int
    """Lines of code."""
    comments: int
    """Lines that are a comment alone."""


def count_source_lines(source: str, tree: ast.AST) -> SourceLines:
    """Return how many lines of a module are code, and how many are comments."""
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        lines = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comments.update(lines)
        elif token.type not in _NO_CODE:
            code.update(lines)
    for node in ast.walk(tree):
        if _is_left_out(node):
            assert isinstance(node, ast.stmt)
            code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    written = {number for number, line in enumerate(source.splitlines(), start=1) if line.strip()}
    code &= written  # a text over several lines may have blank ones
    return SourceLines(code=len(code), comments=len(comments - code))


def _is_left_out(node: ast.AST) -> bool:
    """Whether it is an import or a docstring, that of an attribute included."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.Import | ast.ImportFrom)
