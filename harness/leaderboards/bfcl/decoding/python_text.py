"""Calls written as Python text: ``[area(side=2), area(side=3)]``.

No part of the text is ever evaluated.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from harness.leaderboards.bfcl.decoding.parsing import NotCalls, Pairs
from harness.leaderboards.bfcl.transcript_steps import encode_python_value

_UNNAMED = "**"
"""Key of unpacked arguments: no parameter has this name."""


def add_brackets(item: Any) -> str:
    """Return the text of an output in brackets, without fences and spaces around it.

    Raises:
        NotCalls: it is not a string.
    """
    if not isinstance(item, str):
        raise NotCalls("this is not a string")
    text = item.strip("`\n ")
    return f"{'' if text.startswith('[') else '['}{text}{'' if text.endswith(']') else ']'}"


def parse_call_list(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that a bracketed text lists, with Python values.

    A nested call becomes ``{function: arguments}``, a name becomes a string, and positional
    arguments are ignored.

    Raises:
        NotCalls: it is not a list of calls.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for invalid escapes in the text
            # As upstream, without quotation marks around the whole text.
            body = ast.parse(text.strip().strip("'"), mode="eval").body
        listed = [body] if isinstance(body, ast.Call) else getattr(body, "elts", None)
        if listed is None or not all(isinstance(one, ast.Call) for one in listed):
            raise NotCalls("this is not a list of calls")
        return [_parse_call(one) for one in listed]
    except (
        SyntaxError,
        TypeError,
        ValueError,
        ArithmeticError,
        RecursionError,
        MemoryError,
    ) as problem:
        raise NotCalls(str(problem)) from None


def parse_compared_calls(item: Any) -> Pairs:
    """Parse a text whose calls are compared with the expected ones."""
    return [
        (name, {key: encode_python_value(value) for key, value in arguments.items()})
        for name, arguments in parse_call_list(add_brackets(item))
    ]


def parse_executed_calls(item: Any) -> Pairs:
    """Parse a text whose calls are executed; a nested call is executed first."""
    return [
        (name, {key: _prepare_argument(value) for key, value in arguments.items()})
        for name, arguments in parse_call_list(add_brackets(item))
    ]


def _parse_call(node: ast.Call) -> tuple[str, dict[str, Any]]:
    return _read_dotted_name(node.func), {
        keyword.arg or _UNNAMED: _evaluate_node(keyword.value) for keyword in node.keywords
    }


def _read_dotted_name(node: ast.expr) -> str:
    """Return a dotted name without a beginning that is not a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _evaluate_node(node: ast.expr | None) -> Any:
    if isinstance(node, ast.BinOp):
        return _evaluate_arithmetic(node)
    reader = _READERS.get(type(node))
    if reader is None:
        raise NotCalls("an argument is neither a literal nor a call")
    return reader(node)


def _evaluate_dict(node: ast.Dict) -> dict[Any, Any]:
    return {
        _evaluate_node(key): _evaluate_node(value)
        for key, value in zip(node.keys, node.values, strict=True)
    }


def _read_nested_call(node: ast.Call) -> Any:
    if not node.keywords:
        return ast.unparse(node)
    name, arguments = _parse_call(node)
    return {name: arguments}


def _negate_operand(node: ast.UnaryOp) -> Any:
    """Return the negative of the operand, whatever the sign: the official parser knows no other."""
    if not isinstance(node.operand, ast.Constant):
        raise NotCalls("a sign stands before something that is not a literal")
    return operator.neg(node.operand.value)  # type: ignore[arg-type]  # a text raises TypeError


_READERS: Mapping[type, Callable[[Any], Any]] = {
    ast.Constant: lambda node: "..." if node.value is Ellipsis else node.value,
    ast.UnaryOp: _negate_operand,
    ast.List: lambda node: [_evaluate_node(elt) for elt in node.elts],
    ast.Tuple: lambda node: tuple(_evaluate_node(elt) for elt in node.elts),
    ast.Dict: _evaluate_dict,
    ast.Name: lambda node: node.id,
    ast.Call: _read_nested_call,
    ast.Subscript: lambda node: f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]",
}

# ── Arithmetic ───────────────────────────────────────────────────────────────────────────────

_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_SIGNS: Mapping[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_LARGEST = 10_000
"""Bits of the largest number that arithmetic may produce; no number in the data has more."""


def _evaluate_arithmetic(node: ast.expr) -> Any:
    """Return the result of an operation on numbers, or of a concatenation of texts."""
    match node:
        case ast.Constant(value=int() | float() | str()):
            return node.value
        case ast.UnaryOp() if type(node.op) in _SIGNS:
            return _SIGNS[type(node.op)](_evaluate_arithmetic(node.operand))
        case ast.BinOp() if type(node.op) in _OPERATIONS:
            left, right = _evaluate_arithmetic(node.left), _evaluate_arithmetic(node.right)
            if isinstance(left, str) and not isinstance(node.op, ast.Add):
                raise NotCalls("texts can only be concatenated")
            # Before it is computed, which could take for ever.
            if isinstance(node.op, ast.Pow) and _count_bits(left) * abs(right) > _LARGEST:
                raise NotCalls("a power is too large")
            result = _OPERATIONS[type(node.op)](left, right)
            if isinstance(result, int) and result.bit_length() > _LARGEST:
                raise NotCalls("a number is too large")
            return result
    raise NotCalls("this is not arithmetic with literals")


def _count_bits(number: Any) -> int:
    return number.bit_length() if isinstance(number, int) else 1


# ── Execution ────────────────────────────────────────────────────────────────────────────────


def _prepare_argument(value: Any) -> Any:
    """Return a value for execution: objects that contain only objects count as calls."""
    if not isinstance(value, dict):
        return encode_python_value(value)
    return encode_python_value(value, written=_format_argument(value))


def _format_argument(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    if not value:
        raise NotCalls("an empty object names no function")
    if all(isinstance(one, dict) for one in value.values()):
        name, arguments = next(iter(value.items()))
        pairs = ", ".join(f"{key}={_format_argument(one)}" for key, one in arguments.items())
        return f"{name}({pairs})"
    return "{" + ", ".join(f"'{key}': {_format_argument(one)}" for key, one in value.items()) + "}"
