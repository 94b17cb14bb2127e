"""The tools that a plan names: in checks, in calls of cases and servers, in blocked lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.base import Problem, did_you_mean
from harness.judging import tool_names
from harness.runner.planning.plan import Job
from harness.sessions import SEPARATOR
from harness.types import (
    THE_LIST,
    Case,
    Location,
    NamedTool,
    ScriptedCall,
    ServerSpec,
    Suite,
    ToolList,
    dataclass,
)

ON_COMMAND_LINE = Location(file="--block")
"""The place of tools that ``--block`` names for all suites of a request."""

Scope: TypeAlias = tuple[str | None, str | None]
"""Name of the suite and of the server, one of whose users must be offered the tool; ``None`` means
any."""
CaseKey: TypeAlias = tuple[str, str]
"""Name of a suite and of a case in it."""

_LIKE_A_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_./-][A-Za-z0-9]+)+")
"""Matches a text that looks like a tool's name, where any text is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A tool's name somewhere in a plan."""

    named: NamedTool
    """The name and its place."""
    scope: Scope
    """The users of whom one must be offered it."""
    may_say_absent: bool = False
    """Whether ``allow_absent: true`` is possible there."""
    by_own_name: bool = False
    """Whether a tool of joined servers may also have the name that its own server gives it, as in
    ``block``."""
    only_near: bool = False
    """Whether it is reported only if it is similar to a tool's name: otherwise it may not be meant
    as a tool."""


def collect_mentions(jobs: Sequence[Job]) -> dict[Mention, set[CaseKey]]:
    """Return every tool that ``jobs`` name, with its cases; a blocked tool has no cases."""
    found: dict[Mention, set[CaseKey]] = {}
    for key, job in {(job.suite.name, job.trial.case.name): job for job in jobs}.items():
        for mention in _iterate_case_mentions(job.trial.case, (job.suite.name, job.server.name)):
            found.setdefault(mention, set()).add(key)
    for job in {(job.suite.name, job.server.name): job for job in jobs}.values():
        found |= {mention: set() for mention in _iterate_server_mentions(job.suite, job.server)}
    varied = {(one.suite.name, one.server.name, one.trial.axes.get("variant")): one for one in jobs}
    for (suite, server, _), job in varied.items():
        if (variant := job.variant) is not None:
            # The tools that it changes, hides, puts first or copies.
            first = variant.order if isinstance(variant.order, tuple) else ()
            copied = (one.copied_tool for one in variant.add if one.copied_tool is not None)
            for tool in (*variant.tools, *variant.block, *first, *copied):
                named = NamedTool(tool=tool, at=variant.at)
                found[Mention(named=named, scope=(suite, server))] = set()
    return found


def iterate_named_tools(case: Case) -> Iterator[NamedTool]:
    """Yield every tool that ``case`` names, except texts that may not be tools."""
    recall = case.leaderboard.recall
    for call in (*case.setup, *case.calls, *case.teardown, *([] if recall is None else [recall])):
        yield _get_called_tool(call)
    for check in case.every_check:
        yield from tool_names(check)


def has_tools_per_case(case: Case) -> bool:
    """Whether the server gets the case with each request, and so may list other tools for each."""
    return case.leaderboard.routing is not None


def _iterate_case_mentions(case: Case, scope: Scope) -> Iterator[Mention]:
    if has_tools_per_case(case):
        return
    for named in iterate_named_tools(case):
        # A CSV table has no column for `allow_absent`, so the message must not advise it.
        in_table = named.at is not None and named.at.file.endswith(".csv")
        placed = named if named.at is not None else replace(named, at=case.at)
        yield Mention(named=placed, scope=scope, may_say_absent=not in_table)
    for text in case.user.transfer_when if case.user is not None else ():
        if _LIKE_A_NAME.fullmatch(text):
            yield Mention(named=NamedTool(tool=text, at=case.at), scope=scope, only_near=True)


def _iterate_server_mentions(suite: Suite, server: ServerSpec) -> Iterator[Mention]:
    """Yield tools that suite, server or command line block or allow, and each server's reset."""
    own, all_users = (suite.name, None), (None, server.name)
    for one in (server, *server.members):
        if one.reset is not None:
            # A server may accept its reset without listing it; a failed reset is reported, or
            # only costs a new process.
            reset = _get_called_tool(one.reset)
            yield Mention(named=reset, scope=all_users, only_near=True, by_own_name=True)
        placed = {named.tool for named in one.guard.blocked}
        at = one.at or Location(file=f"server {one.name}")
        rest = (NamedTool(tool=tool, at=at) for tool in one.guard.block if tool not in placed)
        for named in (*one.guard.blocked, *rest):
            # Who blocks a tool decides whose list must have it: a suite's own users, or anybody's.
            if named.at == ON_COMMAND_LINE and named not in suite.guard.blocked:
                yield Mention(named=named, scope=(None, None), by_own_name=True)
            else:
                scope = own if named in suite.guard.blocked else all_users
                yield Mention(named=named, scope=scope, may_say_absent=True, by_own_name=True)
    for named in suite.guard.allowed:
        yield Mention(named=named, scope=own, may_say_absent=True, by_own_name=True)


def _get_called_tool(call: ScriptedCall) -> NamedTool:
    return NamedTool(tool=call.tool, at=call.at, allow_absent=call.allow_absent)


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

    def get_place(problem: Problem) -> tuple[str, int, int]:
        return problem.at.file, problem.at.line or 0, problem.at.column or 0

    return sorted(dict.fromkeys(problems), key=get_place)
