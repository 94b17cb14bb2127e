"""Every message of an error, from the places in the code that raise it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import TypeAlias

import harness
from docs.site.reference.markdown import as_code, fenced, plain, table

HEAD = """# Messages

{example}
The messages that harness gives, from the code that gives them; `…` stands for what differs: a name,
a path, a number. [Troubleshooting](../troubleshooting.md) explains those that people meet most.

"""

_SECTIONS = {
    "The command or the configuration is invalid": ("UsageError",),
    "A file is invalid": (
        "InvalidValue",
        "Problem",
        "add_problem",
        "add_key_problem",
        "_add_problem",
        "make_problem",
    ),
    "There is nothing to run": ("NothingToRun",),
    "A server could not be used": ("ServerError", "NotAdmitted", "OutOfResources"),
    "A model or an agent gave no usable reply": ("ModelError", "AgentError"),
    "A judge gave no verdict": ("JudgeError",),
}
"""Title → the names by which such an error is made."""
_DEEPEST, _MOST_VARIANTS = 4, 8
"""Steps from a message to the texts that it is made of, and messages of one place in the code."""
_LEAST_WORDS = 3
"""A message with fewer words of its own says nothing to somebody who looks for it."""


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """What an error says."""

    said: str
    """The message."""
    advice: str
    """What to do, if it says so."""


def messages_page() -> str:
    """Return the page."""
    example = fenced("sh", "harness evals no_such_suite")
    parts = (
        f"## {title}\n\n{table(('message', 'and what to do'), _rows(kinds))}"
        for title, kinds in _SECTIONS.items()
    )
    return HEAD.format(example=example) + "\n".join(parts)


def messages(kinds: tuple[str, ...]) -> list[Message]:
    """Return the messages of the errors of ``kinds``, sorted."""
    found = {message for kind, message in _all() if kind in kinds}
    return sorted(found, key=lambda one: (one.said.lstrip("… '").lower(), one))


@cache
def _all() -> frozenset[tuple[str, Message]]:
    """Return every message with the name by which its error is made."""
    return frozenset(
        found
        for path in Path(harness.__file__).parent.rglob("*.py")
        if "_builtin" not in path.parts
        for found in _in_module(path.read_text("utf-8"))
    )


def _rows(kinds: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for message in messages(kinds):
        yield as_code(message.said), plain(message.advice)


def _in_module(text: str) -> Iterator[tuple[str, Message]]:
    kinds = {kind for kinds in _SECTIONS.values() for kind in kinds}
    if not any(kind in text for kind in kinds):
        return
    for scope in _scopes(ast.parse(text)):
        texts = _assigned_texts(scope)
        for node in _own_nodes(scope):
            if isinstance(node, ast.Call) and (kind := _name(node.func)) in kinds:
                for said, advice in _told(node, texts):
                    if len(said.replace("…", " ").split()) >= _LEAST_WORDS:
                        yield kind, Message(said, advice)


Texts: TypeAlias = Mapping[str, Sequence[ast.expr]]
"""Name → the values that a function assigns to it."""


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in ``scope`` and not in a function inside of it."""
    left = list(ast.iter_child_nodes(scope))
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += ast.iter_child_nodes(node)


def _assigned_texts(scope: ast.AST) -> Texts:
    texts: dict[str, list[ast.expr]] = {}
    for node in _own_nodes(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts.setdefault(node.targets[0].id, []).append(node.value)
    return texts


def _told(call: ast.Call, texts: Texts) -> Iterator[tuple[str, str]]:
    """Yield every message of ``call`` with its advice: a message may be chosen from several."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = dict(enumerate(call.args))
    # A function that adds a problem may take the place of the mistake before the message.
    at = next((place for place, text in given.items() if any(_templates(text, texts))), 0)
    # Of several values of one name, the last before the call is meant.
    before = {
        name: [value for value in values if value.lineno < call.lineno]
        for name, values in texts.items()
    }
    advice = (_templates(named.get("meant", given.get(at + 1)), before) or [""])[-1]
    for said in _templates(named.get("message", given.get(at)), texts):
        yield said, advice


def _name(function: ast.expr) -> str:
    return getattr(function, "id", "") or getattr(function, "attr", "")


def _templates(text: ast.expr | None, texts: Texts) -> list[str]:
    """Return the texts that ``text`` may be, with ``…`` for what is only known when it is said.

    Empty if all of it is.
    """
    found = (re.sub("…+", "…", " ".join(words.split())) for words in _words(text, texts))
    return [words for words in dict.fromkeys(found) if words.replace("…", "").strip()]


def _words(text: ast.expr | None, texts: Texts, depth: int = 0) -> list[str]:
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return [text.value]
    # Bounded: a text may be built from itself in a loop.
    if text is None or depth == _DEEPEST:
        return ["…"]
    found: list[str] = []
    if isinstance(text, ast.JoinedStr | ast.BinOp):
        joined = text.values if isinstance(text, ast.JoinedStr) else [text.left, text.right]
        parts = [_words(part, texts, depth + 1) for part in joined]
        found = ["".join(each) for each in islice(product(*parts), _MOST_VARIANTS)]
    elif isinstance(text, ast.FormattedValue):
        found = _words(text.value, texts, depth + 1)
    elif isinstance(text, ast.IfExp):
        found = [*_words(text.body, texts, depth + 1), *_words(text.orelse, texts, depth + 1)]
    elif isinstance(text, ast.Name):
        values = texts.get(text.id, ())
        found = [words for value in values for words in _words(value, texts, depth + 1)]
    return found or ["…"]
