"""Calls written as Java text: ``[Shop.order(item="tea", count=2)]``. Values stay text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from harness.leaderboards.bfcl.decoding.grammar import UNNAMED, Arguments, child, single, tree_of
from harness.leaderboards.bfcl.decoding.python_text import bracketed
from harness.leaderboards.bfcl.decoding.reading import Misshapen, NotCalls, Pairs

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_UNNAMED_KINDS = ("identifier", "class_literal")
_QUOTED = ("string_literal", "character_literal")
_WHOLE = ("identifier", "class_literal", "type_identifier", "method_invocation")


def compared(item: Any) -> Pairs:
    """Parse the first call in a text.

    Raises:
        NotCalls: it is not written in Java.
        Misshapen: it contains no call.
    """
    source = bracketed(item)[1:-1]
    call = _first_call(tree_of(source, _language()))
    if call is None:
        raise Misshapen("there is no call")
    name, owner = _text(source, child(call, "name")), call.child_by_field_name("object")
    arguments: Arguments = []
    for one in child(call, "arguments").children:
        if one.type == "assignment_expression":
            arguments.append((_text(source, one.children[0]), _written(source, one.children[2])))
        elif one.type in _UNNAMED_KINDS:
            arguments.append((UNNAMED, _written(source, one)))
    return [(f"{_text(source, owner)}.{name}" if owner else name, single(arguments))]


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_java

    return tree_sitter.Language(tree_sitter_java.language())


def _first_call(node: Node) -> Node | None:
    if node.type == "method_invocation":
        return node
    return next((found for one in node.children if (found := _first_call(one)) is not None), None)


def _text(source: str, node: Node) -> str:
    """Return the characters of a node.

    As upstream, the grammar's byte offsets are used as character offsets.
    """
    return source[node.start_byte : node.end_byte]


def _written(source: str, node: Node | None, *, inside: bool = False) -> str:
    """Return a value without its outer quotes, without spaces, and without the body of a class."""
    if node is None:
        raise NotCalls("a part of a value is missing")
    if node.type in _QUOTED:
        return _text(source, node) if inside else _text(source, node)[1:-1]
    if node.type in _WHOLE:
        return _text(source, node)
    if node.type == "array_creation_expression":
        kind, value = (
            _written(source, node.child_by_field_name(part), inside=True)
            for part in ("type", "value")
        )
        return f"new {kind}[]{value}"
    if node.type == "object_creation_expression":
        kind = _written(source, node.child_by_field_name("type"), inside=True)
        given = node.child_by_field_name("arguments")
        parts = [one for one in given.children if one.type not in (",", "(", ")")] if given else []
        return f"new {kind}({', '.join(_written(source, one, inside=True) for one in parts)})"
    if node.child_count:
        return "".join(_written(source, one, inside=True) for one in node.children)
    return _text(source, node)
