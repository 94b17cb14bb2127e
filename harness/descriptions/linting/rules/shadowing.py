"""Rules on tools that stand in the way of another joined server's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from harness.base import LOOKALIKES, make_one_line, without_hidden
from harness.descriptions.linting.findings import Family, LintFinding, Rule, reported_evidence
from harness.descriptions.linting.model_texts import iterate_texts, list_own_names
from harness.sessions import SEPARATOR
from harness.types import Tool, ToolList

_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s"})
_TELLING = re.compile(r"[_-]|[a-z][A-Z]")
"""What a name has that is no word of everyday English."""


def fold_name(name: str) -> str:
    """Return ``name`` so that names which a reader takes for each other are equal."""
    plain = unicodedata.normalize("NFKC", without_hidden(name)).translate(LOOKALIKES).casefold()
    folded = re.sub(r"[\W_]+", "", plain).translate(_ALIKE)
    return folded.replace("rn", "m").replace("vv", "w")


def check_shadowing(tools: ToolList, homes: Mapping[str, str]) -> Iterator[LintFinding]:
    """Yield the tools with the name of another server's, and the texts that speak of one."""
    if len(set(homes.values())) > 1:
        yield from _check_names(tools, homes)
        yield from _check_references(tools, homes)


def _get_own_name(tool: Tool, homes: Mapping[str, str]) -> str:
    """Return the name that the server itself gives to ``tool``."""
    return tool.name.removeprefix(f"{homes[tool.name]}{SEPARATOR}")


def _check_names(tools: ToolList, homes: Mapping[str, str]) -> Iterator[LintFinding]:
    first: dict[str, Tool] = {}
    for tool in tools.tools:
        other = first.setdefault(fold_name(_get_own_name(tool, homes)), tool)
        if homes[other.name] != homes[tool.name]:
            own, its = _get_own_name(tool, homes), _get_own_name(other, homes)
            alike = "has the name of" if own == its else f"looks like {its!r},"
            yield LintFinding(
                rule="shadowed-tool",
                tool=tool.name,
                message=f"{make_one_line(own)!r} of {homes[tool.name]} {make_one_line(alike)} "
                f"a tool of {homes[other.name]}.",
            )


def _check_references(tools: ToolList, homes: Mapping[str, str]) -> Iterator[LintFinding]:
    names: dict[str, set[str]] = {server: set() for server in homes.values()}
    for tool in tools.tools:
        names[homes[tool.name]] |= {_get_own_name(tool, homes), *list_own_names(tool)}
    called = {_get_own_name(tool, homes): homes[tool.name] for tool in tools.tools}
    for one in iterate_texts(tools):
        at = homes.get(one.tool or "", one.place.removeprefix("The instruction text of "))
        for name, server in called.items():
            if server == at or name in names.get(at, ()) or not _speaks_of(one.text, name):
                continue
            yield LintFinding(
                rule="other-servers-tool",
                tool=one.tool,
                parameters=(one.parameter,) if one.parameter else (),
                message=f"{make_one_line(one.place)} speaks of {make_one_line(name)!r}, "
                f"a tool of {server}.",
            )


def _speaks_of(text: str, name: str) -> bool:
    quoted = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    if _TELLING.search(name) is None:
        # A plain word is a tool's name only if the text says so.
        quoted = rf"[`'\"“]{re.escape(name)}[`'\"”]|\b{re.escape(name)} tool\b"
    return re.search(quoted, text) is not None


FAMILY = Family(
    check=lambda _: (),
    check_joined=check_shadowing,
    rules={
        "shadowed-tool": Rule(
            severity="warning",
            why="A model, or a person who approves a call, takes one for the other.",
            instead="Connect only the server that you mean, or rename the tool.",
            evidence=reported_evidence(
                "name collisions of tools are an attack that works on ten models",
                "MCP Security Bench, arXiv 2510.15994",
            ),
            security=True,
        ),
        "other-servers-tool": Rule(
            severity="warning",
            why="A text of one server changes how a model uses the tools of another.",
            instead="Describe only this server's tools. If you did not write this text, do not "
            "connect the server.",
            evidence=reported_evidence(
                "a description changed the recipients of another server's e-mails",
                "Invariant Labs, MCP Security Notification: Tool Poisoning Attacks, April 2025",
            ),
            security=True,
        ),
    },
)
"""The rules on tools of several servers."""
