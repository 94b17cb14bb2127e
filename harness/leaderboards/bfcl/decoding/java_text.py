"""Calls written as Java text: ``[Shop.order(item="tea", count=2)]``. Values stay text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from harness.leaderboards.bfcl.decoding.grammar import (
    UNNAMED,
    Arguments,
    get_child,
    map_arguments,
    parse_tree,
)
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, NotCalls, Pairs
from harness.leaderboards.bfcl.decoding.python_text import add_brackets

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_UNNAMED_KINDS = ("identifier", "class_literal")
_QUOTED = ("string_literal", "character_literal")
_WHOLE = ("identifier", "class_literal", "type_identifier", "method_invocation")


def parse_compared_calls(item: Any) -> Pairs:
    """Parse the first call in a text.

    Raises:
        NotCalls: it is not written in Java.
        Misshapen: it contains no call.
    """
    # Without fences and spaces, and without the brackets, which are no part of Java.
    source = add_brackets(item)[1:-1]
    call = _find_first_call(parse_tree(source, _load_language()))
    if call is None:
        raise MisshapenOutput("there is no call")
    name = _read_node_text(source, get_child(call, "name"))
    if owner := call.child_by_field_name("object"):
        name = f"{_read_node_text(source, owner)}.{name}"
    arguments: Arguments = []
    for child in get_child(call, "arguments").children:
        if child.type == "assignment_expression":
            key, value = child.children[0], child.children[2]
            arguments.append((_read_node_text(source, key), _format_value(source, value)))
        elif child.type in _UNNAMED_KINDS:
            arguments.append((UNNAMED, _format_value(source, child)))
    return [(name, map_arguments(arguments))]


@cache
def _load_language() -> Language:
    import tree_sitter
    import tree_sitter_java

    return tree_sitter.Language(tree_sitter_java.language())


def _find_first_call(node: Node) -> Node | None:
    if node.type == "method_invocation":
        return node
    return next(
        (found for child in node.children if (found := _find_first_call(child)) is not None), None
    )


def _read_node_text(source: str, node: Node) -> str:
    """Return the characters of a node.

    As upstream, the grammar's byte offsets are used as character offsets.
    """
    return source[node.start_byte : node.end_byte]


def _format_value(source: str, node: Node | None, *, inside: bool = False) -> str:
    """Return a value without its outer quotes, without spaces, and without the body of a class."""
    if node is None:
        raise NotCalls("a part of a value is missing")
    if node.type in _QUOTED:
        return _read_node_text(source, node) if inside else _read_node_text(source, node)[1:-1]
    if node.type in _WHOLE:
        return _read_node_text(source, node)
    if node.type == "array_creation_expression":
        kind, value = (
            _format_value(source, node.child_by_field_name(part), inside=True)
            for part in ("type", "value")
        )
        return f"new {kind}[]{value}"
    if node.type == "object_creation_expression":
        kind = _format_value(source, node.child_by_field_name("type"), inside=True)
        given = node.child_by_field_name("arguments")
        parts = [
            _format_value(source, child, inside=True)
            for child in (given.children if given else ())
            if child.type not in (",", "(", ")")
        ]
        return f"new {kind}({', '.join(parts)})"
    if node.child_count:
        return "".join(_format_value(source, child, inside=True) for child in node.children)
    return _read_node_text(source, node)
