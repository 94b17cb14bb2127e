"""Java and JavaScript source text, parsed by the grammar of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from harness.leaderboards.bfcl.decoding.parsing import NotCalls

if TYPE_CHECKING:
    from tree_sitter import Language, Node

UNNAMED = "(unnamed)"
"""Key of an argument without a name: no parameter has this name."""

Arguments: TypeAlias = list[tuple[str, str]]
"""Name and value of each argument, as written."""

_DEEPEST = 200
"""Levels of nesting that are parsed; a call in the data has a handful."""


def parse_tree(source: str, language: Language) -> Node:
    """Return the syntax tree of ``source``.

    Raises:
        NotCalls: it is not in that language, or nested too deeply.
    """
    # Loaded late, since only cases in Java and JavaScript need it.
    from tree_sitter import Parser

    try:
        root = Parser(language).parse(source.encode()).root_node
    except UnicodeEncodeError as problem:
        raise NotCalls(str(problem)) from None
    # Without recursion, since an output may be nested at any depth.
    nodes = [(root, 0)]
    while nodes:
        node, depth = nodes.pop()
        if node.type == "ERROR" or depth > _DEEPEST:
            raise NotCalls("this is not written in the language of the case")
        nodes += [(child, depth + 1) for child in node.children]
    return root


def get_child(node: Node, name: str) -> Node:
    """Return the part of ``node`` that the grammar calls ``name``.

    Raises:
        NotCalls: there is no such part.
    """
    found = node.child_by_field_name(name)
    if found is None:
        raise NotCalls(f"a call has no {name}")
    return found


def map_arguments(arguments: Arguments) -> dict[str, Any]:
    """Return arguments by name.

    Raises:
        NotCalls: a name occurs twice.
    """
    if len(dict(arguments)) < len(arguments):
        raise NotCalls("an argument occurs twice")
    return dict(arguments)
