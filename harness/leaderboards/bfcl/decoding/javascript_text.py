"""Calls written as JavaScript text: ``[order(item="tea", count=2)]``. Values stay text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from harness.leaderboards.bfcl.decoding.grammar import UNNAMED, Arguments, map_arguments, parse_tree
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, Pairs
from harness.leaderboards.bfcl.decoding.python_text import add_brackets

if TYPE_CHECKING:
    from tree_sitter import Language, Node


def parse_compared_calls(item: Any) -> Pairs:
    """Parse the first call in a text.

    Raises:
        NotCalls: it is not written in JavaScript.
        Misshapen: it contains no call.
    """
    root = parse_tree(add_brackets(item)[1:-1], _load_language())
    statements = (child for child in root.children if child.type == "expression_statement")
    parts = (child for statement in statements for child in statement.children)
    call = next((part for part in parts if part.type == "call_expression"), None)
    if call is None:
        raise MisshapenOutput("there is no call")
    arguments: Arguments = []
    for one in call.children[1].children:
        if one.type == "assignment_expression":
            name, value = _read_node_text(one.children[0]), _read_node_text(one.children[2])
            quoted = any(value.startswith(quote) and value.endswith(quote) for quote in "\"'")
            arguments.append((name, value[1:-1] if quoted else value))
        elif one.type in ("identifier", "true"):
            arguments.append((UNNAMED, _read_node_text(one)))
    return [(_read_node_text(call.children[0]), map_arguments(arguments))]


@cache
def _load_language() -> Language:
    import tree_sitter
    import tree_sitter_javascript

    return tree_sitter.Language(tree_sitter_javascript.language())


def _read_node_text(node: Node) -> str:
    return (node.text or b"").decode()
