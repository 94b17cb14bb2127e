"""Mistakes in a module, one at a time.

Each is the source with one expression or statement replaced.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_FUNCTIONS = {"any": "all", "all": "any", "min": "max", "max": "min"}
_TELLING = frozenset({"brief", "clip", "describe", "line", "show"})
"""Functions that shorten texts for readers: how far is no judgement."""
_FORMS = frozenset({"frozen", "kw_only", "maxsize", "slots", "strict"})
"""Arguments about the form of records (`tests/test_architecture.py` asks it of all), the size of
caches, and what holds anyway (`zip` of lists of one length)."""
_TOLD = 80
"""Characters of code that still read well in a name."""
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mistake."""

    path: str
    """The module's file."""
    function: str
    """Name of the innermost function that it is in, ``""`` outside of all."""
    starts: int | None
    """Line in which that function begins; ``None`` where it runs at import, or not each time that
    it is called."""
    line: int
    """Line of the mistake, from 1."""
    before: str
    """What stands there."""
    after: str
    """What stands there now."""
    place: int
    """How many of the same function make the same of the same before it."""
    source: str
    """The whole module with the mistake."""

    @property
    def name(self) -> str:
        """``harness/a.py f: x < 1 → x <= 1``, with ``#2`` for a second.

        The same wherever it moves in its module.
        """
        again = f" #{self.place + 1}" if self.place else ""
        return f"{self.path} {self.function or '(module)'}: {self.before} → {self.after}{again}"


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a module."""
    raw = path.read_bytes()
    ahead = [0]
    for line in raw.splitlines(keepends=True):
        ahead.append(ahead[-1] + len(line))
    found, seen = [], Counter[tuple[str, str, str]]()
    for mistake in _mistakes(ast.parse(raw), None, None):
        node, function = mistake.node, mistake.function
        start = ahead[node.lineno - 1] + node.col_offset
        end = ahead[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        name, before, after = function.name if function else "", *mistake.told()
        found.append(
            Mutant(
                path=str(path),
                function=name,
                starts=function.lineno if function and not function.decorator_list else None,
                line=node.lineno,
                before=before,
                after=after,
                place=seen[name, before, after],
                source=(raw[:start] + mistake.code().encode() + raw[end:]).decode(),
            )
        )
        seen[name, before, after] += 1
    return found


@dataclass(frozen=True, slots=True)
class _Mistake:
    node: ast.expr | ast.stmt
    wrong: ast.expr | ast.stmt
    parent: ast.AST | None
    function: _Function | None

    def code(self) -> str:
        wrong = ast.unparse(self.wrong)
        return f"({wrong})" if isinstance(self.wrong, ast.expr) else wrong

    def told(self) -> tuple[str, str]:
        """Return what stands there and what will.

        A number alone says little, so with what is around it.
        """
        before, after = ast.unparse(self.node), ast.unparse(self.wrong)
        if isinstance(self.node, ast.Constant) and isinstance(self.parent, ast.expr | ast.keyword):
            around = ast.unparse(self.parent)
            if around.count(before) == 1 and len(around) <= _TOLD:
                return around, around.replace(before, after)
        return before, after


def _mistakes(
    node: ast.AST, parent: ast.AST | None, function: _Function | None
) -> Iterator[_Mistake]:
    if isinstance(node, ast.JoinedStr | ast.Assert) or _is_form(node):
        return
    if isinstance(node, ast.expr | ast.stmt):
        for wrong in _wrong(node, parent):
            yield _Mistake(node, wrong, parent, function)
    for test in _tests(node):
        yield _Mistake(test, ast.UnaryOp(ast.Not(), test), node, function)
    inner = node if isinstance(node, _Function) else function
    for child in _judging(node):
        yield from _mistakes(child, node, inner)


def _judging(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node without its types."""
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            yield from (
                part
                for part in (value if isinstance(value, list) else [value])
                if isinstance(part, ast.AST)
            )


def _is_form(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg in _FORMS


def _tests(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions in a node that are no comparison: those have mistakes of their own."""
    tests = node.ifs if isinstance(node, ast.comprehension) else []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    for test in tests:
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.Constant) and not _is_not(test):
            yield test


def _is_not(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _wrong(node: ast.expr | ast.stmt, parent: ast.AST | None) -> Iterator[ast.expr | ast.stmt]:
    """Yield what may stand in the place of a node by mistake."""
    match node:
        case ast.Compare():
            yield from _wrong_comparisons(node)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in _ARITHMETIC:
            yield ast.AugAssign(node.target, _ARITHMETIC[type(node.op)](), node.value)
        case ast.Constant():
            yield from _wrong_constants(node, parent)
        case ast.Name() if node.id in _FUNCTIONS:
            yield ast.Name(_FUNCTIONS[node.id])
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Continue() | ast.Break():
            yield ast.Break() if isinstance(node, ast.Continue) else ast.Continue()


def _wrong_comparisons(node: ast.Compare) -> Iterator[ast.Compare]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)]:
            yield ast.Compare(
                node.left, [*node.ops[:place], other(), *node.ops[place + 1 :]], node.comparators
            )


def _wrong_constants(node: ast.Constant, parent: ast.AST | None) -> Iterator[ast.Constant]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float) and not _is_width(parent):
        yield ast.Constant(node.value + 1)


def _is_width(parent: ast.AST | None) -> bool:
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in _TELLING
    )
