"""The public Python API, from its signatures and docstrings."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator
from itertools import pairwise
from types import FunctionType
from typing import Any

import harness
from docs.site.reference.markdown import as_code, fenced, from_docstring, table

HEAD = """# Python API

{example}
Everything that can be imported from `harness`, from its signatures and docstrings; all else may
change from one version to the next. [Suites in Python](../python.md) shows how it is used.

"""
EXAMPLE = """
import harness

report = harness.run("data_governance")
print(report.counts.passed, "of", report.counts.planned)
"""


_STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def python_page() -> str:
    """Return the page."""
    members = {name: getattr(harness, name) for name in harness.__all__}
    return HEAD.format(example=fenced("python", EXAMPLE)) + "\n".join(
        f"## {name}\n\n{_told(name, member)}" for name, member in members.items()
    )


def _told(name: str, member: Any) -> str:
    if isinstance(member, FunctionType):
        signature = inspect.signature(member)
        begin = "async def" if inspect.iscoroutinefunction(member) else "def"
        lines = "".join(f"    {part},\n" for part in _parameters(signature))
        listing = f"{begin} {name}(\n{lines}) -> {_shown(signature.return_annotation)}"
        return fenced("text", listing) + "\n" + _docstring(member)
    if isinstance(member, type):
        own = [*_members(member)]
        return _docstring(member) + "\n" + table(("part", "type", "meaning"), own)
    return f"One of {', '.join(as_code(one.__name__) for one in member.__args__)}.\n"


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    keyword = False
    for one in signature.parameters.values():
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not keyword:
            keyword = True
            yield "*"
        default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
        yield f"{_STARS.get(one.kind, '')}{one.name}: {_shown(one.annotation)}{default}"


def _shown(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")


def _docstring(member: Any) -> str:
    """Return a docstring: paragraphs as text, and its sections as lists."""
    parts = (inspect.getdoc(member) or "").split("\n\n")
    return "\n".join(_part(part) for part in parts) + "\n"


def _part(part: str) -> str:
    head, *lines = part.split("\n")
    if head not in ("Args:", "Raises:", "Returns:", "Yields:"):
        return from_docstring(part) + "\n"
    items: list[str] = []
    for line in lines:
        name, colon, said = line.strip().partition(": ")
        if colon and line.startswith("    ") and not line.startswith("     ") and " " not in name:
            items.append(f"- {as_code(name)}: {from_docstring(said)}")
        elif items:
            items[-1] += f" {from_docstring(line)}"
    return f"{head}\n\n" + "\n".join(items) + "\n"


def _members(kind: type) -> Iterator[tuple[str, str, str]]:
    """Yield the fields, properties and methods of a class, each with its type and meaning."""
    if dataclasses.is_dataclass(kind):
        said = _said_below(kind)
        for field in dataclasses.fields(kind):
            yield as_code(field.name), as_code(str(field.type)), said.get(field.name, "")
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else member
        if isinstance(function, FunctionType) and function.__doc__:
            returned = _shown(inspect.signature(function).return_annotation)
            call = "" if isinstance(member, property) else "()"
            summary = function.__doc__.strip().split("\n\n")[0]
            yield as_code(name + call), as_code(returned), from_docstring(summary)


def _said_below(kind: type) -> dict[str, str]:
    """Return what stands below each field of a class, its bases' fields included."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        (tree,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for node, below in pairwise(tree.body):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                found[node.target.id] = from_docstring(str(below.value.value))
    return found
