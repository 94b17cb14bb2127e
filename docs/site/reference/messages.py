"""Every message of an error, from the places in the code that raise it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import harness
from docs.site.reference.markdown import as_code, fenced, plain, table

HEAD = """# Messages

{example}
The messages that harness gives, from the code that gives them; `…` stands for what differs: a name,
a path, a number. [Troubleshooting](../troubleshooting.md) explains those that people meet most.

"""

_SECTIONS = {
    "The command or the configuration is invalid": ("UsageError",),
    "A file is invalid": ("InvalidValue", "Problem", "problem"),
    "There is nothing to run": ("NothingToRun",),
    "A server could not be used": ("ServerError", "NotAdmitted", "OutOfResources"),
    "A model or an agent gave no usable reply": ("ModelError", "AgentError"),
    "A judge gave no verdict": ("JudgeError",),
}
"""Title → the names by which such an error is made."""
_MESSAGE_AT = {"problem": 1}
"""Function → which of its arguments is the message, if not the first; the next is the advice."""
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
    for node in ast.walk(ast.parse(text)) if any(kind in text for kind in kinds) else ():
        if isinstance(node, ast.Call) and _name(node.func) in kinds:
            said, advice = _told(node)
            if len(said.replace("…", " ").split()) >= _LEAST_WORDS:
                yield _name(node.func), Message(said, advice)


def _told(call: ast.Call) -> tuple[str, str]:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    at = _MESSAGE_AT.get(_name(call.func), 0)
    given = dict(enumerate(call.args))
    return (
        _template(named.get("message", given.get(at))),
        _template(named.get("meant", given.get(at + 1))),
    )


def _name(function: ast.expr) -> str:
    return getattr(function, "id", "") or getattr(function, "attr", "")


def _template(text: ast.expr | None) -> str:
    """Return a text with ``…`` for what is only known when it is said; empty if all of it is."""
    if isinstance(text, ast.Constant):
        return " ".join(str(text.value).split()) if isinstance(text.value, str) else ""
    if isinstance(text, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "…" for part in text.values]
        return " ".join("".join(parts).split())
    return ""
