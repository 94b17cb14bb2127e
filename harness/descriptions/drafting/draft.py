"""Makes a suite from a tool list: a case for each tool, and safety cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.base import InvalidValue, UsageError, parse_single_line
from harness.descriptions.drafting.cases import DraftCase, DraftSuite
from harness.descriptions.drafting.safety import safety_cases
from harness.descriptions.drafting.wording import flatten_text, write_prompt
from harness.judging import MUST_CALL, VOCABULARY
from harness.models import ExampleArguments, build_example_arguments, is_marked, may_call
from harness.types import JsonObject, ServerSpec, Tool, ToolList

MOST_TOOLS = 200
"""Most tools that get a case; nobody would edit a longer draft."""

_LONGEST_NAME = 60
_CHANGES = (
    "The server does not mark this tool as read-only, so no call is sent to it. Once the server "
    "runs on test data, take {tool} out of 'block:' and uncomment this case."
)
_UNMARKED = (
    "The server does not say whether this tool changes something, so no call is sent to it, and "
    "this case fails. If the tool only reads, take {tool} out of 'block:'."
)


def draft_suite(
    name: str, server: ServerSpec | str, tools: ToolList, user_context: JsonObject | None = None
) -> DraftSuite:
    """Return a first suite for ``server``, whose tools are ``tools`` as ``user_context`` sees them.

    The suite blocks every tool that the server does not mark as read-only. Cases about tools that
    seem to change something are commented out, unless no other case is left.

    Raises:
        UsageError: no tool can get a case.
    """
    drafted = [tool for tool in tools.tools if _can_be_asserted(tool)][:MOST_TOOLS]
    if not drafted:
        raise UsageError(
            f"the server {name!r} lists no tool that a case could be about",
            meant="If it shows its tools only to some users, name a user: --user-context "
            '\'{"role": "admin"}\'',
        )
    withheld = [tool for tool in tools.tools if not _is_sent(tool)]
    blocked = tuple(tool.name for tool in withheld if _is_line(tool.name))
    nothing_else = all(is_marked(tool) and not _is_sent(tool) for tool in drafted)
    cases = [
        _draft_case(tool, is_live=_is_sent(tool) or not is_marked(tool) or nothing_else)
        for tool in drafted
    ]
    safety = safety_cases(drafted)
    # Together, since names are unique over both parts of a suite.
    named = _make_names_unique([*cases, *safety])
    return DraftSuite(
        name=name,
        server=server,
        cases=tuple(named[: len(cases)]),
        safety=tuple(named[len(cases) :]),
        blocked=blocked,
        # A tool whose name cannot be written cannot be blocked by it either.
        read_only=len(blocked) < len(withheld),
        user_context=user_context,
        notes=tuple(_build_notes(tools, drafted)),
        marks=any(map(is_marked, drafted)),
        unmarked=tuple(
            tool.name for tool in withheld if _is_line(tool.name) and not is_marked(tool)
        ),
    )


def _is_sent(tool: Tool) -> bool:
    """Whether a drafted suite may call ``tool``, whose arguments are made up."""
    return may_call(tool, invented=True)


def _draft_case(tool: Tool, *, is_live: bool) -> DraftCase:
    arguments = build_example_arguments(tool)
    return DraftCase(
        name=tool.name,
        prompt=write_prompt(tool, arguments.examples),
        must_succeed=((tool.name, arguments.values),),
        comments=tuple(_build_comments(tool, arguments, is_live=is_live)),
        is_live=is_live,
    )


def _build_comments(tool: Tool, arguments: ExampleArguments, *, is_live: bool) -> Iterable[str]:
    if not tool.description.strip():
        yield (
            "This tool has no description: a model can only guess what it is for, and so can this "
            "prompt."
        )
    if guessed := [
        example.param.name for example in arguments.examples if example.source == "guess"
    ]:
        yield (
            f"Guessed: {', '.join(guessed)}. Put in what exists on your server, in the prompt and "
            "below it."
        )
    if arguments.gave_up:
        yield (
            "Its schema is too large to check fully for a draft: the prompt's arguments may be "
            "incomplete or invalid."
        )
    if arguments.missing:
        yield (
            f"No value could be made up for {', '.join(arguments.missing)}: put one into the "
            "prompt and below it."
        )
    if not _is_sent(tool):
        yield (_CHANGES if not is_live else _UNMARKED).format(tool=flatten_text(tool.name))


def _can_be_asserted(tool: Tool) -> bool:
    """Whether a suite can write the tool's name."""
    try:
        VOCABULARY.parse(MUST_CALL.name, [tool.name])
        # A lone surrogate cannot be written to a file.
        tool.name.encode()
    except (InvalidValue, UnicodeEncodeError):
        return False
    return True


def _is_line(name: str) -> bool:
    try:
        parse_single_line(name)
    except InvalidValue:
        return False
    return True


def _make_names_unique(cases: Sequence[DraftCase]) -> list[DraftCase]:
    """Return the cases with unique names of plain characters."""
    taken: set[str] = set()
    named = []
    for case in cases:
        base = re.sub(r"\W+", "_", case.name, flags=re.ASCII).strip("_")[:_LONGEST_NAME] or "tool"
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        named.append(replace(case, name=name))
    return named


def _build_notes(tools: ToolList, drafted: Sequence[Tool]) -> Iterable[str]:
    for problem in tools.problems:
        if not problem.usable:
            yield f"No case for {flatten_text(problem.tool)}: {flatten_text(problem.problem)}."
    unnamed = sum(not _can_be_asserted(tool) for tool in tools.tools)
    if unnamed:
        yield f"No case for {unnamed} of the tools: a suite cannot write their names."
    if left := len(tools.tools) - unnamed - len(drafted):
        yield f"No case for the last {left} tools: a draft holds {MOST_TOOLS} at most."
