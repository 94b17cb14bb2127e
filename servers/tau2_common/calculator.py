"""Arithmetic in Python's own syntax, and nothing else of Python.

Python's parser reads the expression, so that what it says of a wrong one is what Python says; the
tree is then walked here, and every operation that could grow beyond bounds is looked at first.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

_ALLOWED: Final = frozenset("0123456789+-*/(). ")
_MOST_BITS: Final = 200_000
"""Size of the largest integer that is computed; a float ends at 1,024."""
_MOST_CHARACTERS: Final = 10_000

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculate(expression: str) -> str:
    """Return the value of ``expression`` to two places, as Python prints a float.

    ``2 + 2`` is ``4.0``.

    Raises:
        ValueError, SyntaxError, ArithmeticError, TypeError: it has none; the message is Python's.
    """
    if not all(character in _ALLOWED for character in expression):
        raise ValueError("Invalid characters in expression")
    if len(expression) > _MOST_CHARACTERS:
        raise ValueError("Expression is too long")
    # Blanks in front are nothing to an evaluator and an indentation to a parser.
    tree = ast.parse(expression.lstrip(" "), "<string>", "eval")
    return str(round(float(_value(tree.body)), 2))


def _value(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=[]):
            return ()
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right):
            return _operated(op, _value(left), _value(right))
        case ast.Call(func=function, args=arguments):
            called = _value(function)
            for argument in arguments:
                _pass(called, argument)
            raise TypeError(f"'{type(called).__name__}' object is not callable")
        case _:
            raise SyntaxError("invalid syntax (<string>, line 1)")


def _pass(called: Any, argument: ast.expr) -> None:
    """Raise what the only argument of a call raises before ``called`` is found not callable."""
    if not isinstance(argument, ast.Starred):
        _value(argument)
    elif (value := _value(argument.value)) != ():
        kind = type(value).__name__
        raise TypeError(f"{called} argument after * must be an iterable, not {kind}")


def _operated(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        if isinstance(op, ast.Pow) and right > 0 and bits > 1:
            bits *= right
        elif isinstance(op, ast.Mult):
            bits += right.bit_length()
        if bits > _MOST_BITS:
            raise OverflowError("int too large to convert to float")
    return _BINARY[type(op)](left, right)
