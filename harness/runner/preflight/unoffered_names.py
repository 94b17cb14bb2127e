"""The message about a tool name that is in no tool list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.base import Problem, did_you_mean
from harness.sessions import SEPARATOR
from harness.types import THE_LIST, Location, NamedTool, ServerSpec, ToolList

_SHOWN = 12
"""Most tools that are listed if none has a similar name."""


def build_unoffered_problem(
    named: NamedTool, who: str, known: Mapping[str, str | None], *, may_say_absent: bool
) -> Problem:
    """Return the problem that no tool has the name ``named``.

    ``who`` begins the message: ``no identity of this suite is offered a``. ``known`` are the
    existing tools, with their titles.
    """

    def normalize(name: str | None) -> str:
        return (name or "").replace("_", " ").replace("-", " ").casefold()

    name, meant = named.tool, normalize(named.tool)
    titled = next((tool for tool, title in known.items() if normalize(title) == meant), None)
    # A title is often nothing like the name, so similarity would miss it.
    near = f"Did you mean {titled!r}, whose title that is?" if titled else did_you_mean(name, known)
    if near is None:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        near = f"There is {', '.join(list(known)[:_SHOWN]) or 'no tool at all'}{more}."
    if may_say_absent:
        near += f" If it is meant to be absent, write {{tool: {name}, allow_absent: true}}."
    at = named.at or Location(file="?")
    return Problem(at=at, message=f"{who} tool {name!r}.", meant=near)


def collect_titles(tools: ToolList) -> dict[str, str | None]:
    """Return the name and title of every listed tool, including unusable ones."""
    found: dict[str, str | None] = {
        problem.tool: None for problem in tools.problems if problem.tool != THE_LIST
    }
    return found | {tool.name: tool.title for tool in tools.tools}


def list_own_names(tools: ToolList, server: ServerSpec) -> set[str]:
    """Return the names that joined servers themselves give to their tools, for ``block``."""
    prefixes = [f"{member.name}{SEPARATOR}" for member in server.members]
    names = collect_titles(tools)
    return {name.removeprefix(one) for name in names for one in prefixes if name.startswith(one)}


def sorted_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Return each problem once, in the order of files and lines."""
    return sorted(
        dict.fromkeys(problems), key=lambda one: (one.at.file, one.at.line or 0, one.at.column or 0)
    )
