"""Calls written as JavaScript text: ``[order(item="tea", count=2)]``. Values stay text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from harness.leaderboards.bfcl.decoding.grammar import UNNAMED, Arguments, single, tree_of
from harness.leaderboards.bfcl.decoding.python_text import bracketed
from harness.leaderboards.bfcl.decoding.reading import Misshapen, Pairs

if TYPE_CHECKING:
    from tree_sitter import Language, Node


def compared(item: Any) -> Pairs:
    """Parse the first call in a text.

    Raises:
        NotCalls: it is not written in JavaScript.
        Misshapen: it contains no call.
    """
    root = tree_of(bracketed(item)[1:-1], _language())
    statements = (one for one in root.children if one.type == "expression_statement")
    call = next(
        (one for each in statements for one in each.children if one.type == "call_expression"), None
    )
    if call is None:
        raise Misshapen("there is no call")
    arguments: Arguments = []
    for one in call.children[1].children:
        if one.type == "assignment_expression":
            arguments.append((_text(one.children[0]), _unquoted(_text(one.children[2]))))
        elif one.type in ("identifier", "true"):
            arguments.append((UNNAMED, _text(one)))
    return [(_text(call.children[0]), single(arguments))]


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_javascript

    return tree_sitter.Language(tree_sitter_javascript.language())


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _unquoted(text: str) -> str:
    quoted = any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")
    return text[1:-1] if quoted else text
