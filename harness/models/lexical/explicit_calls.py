"""Calls that a prompt spells out: ``Use the tool get_order with {"id": 7}.``

Such a prompt names its call, so there is nothing to choose. It comes from a person who tries out a
tool, or from the workbench, which tells a failing case what to call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from harness.models.lexical.arguments import Filling, fill_arguments
from harness.models.lexical.goals import Goal, Permission
from harness.models.lexical.prompt_requests import PromptRequest
from harness.models.lexical.text_parsing import LONGEST_TEXT, parse_text
from harness.models.tool_text.instructions import find_instructions
from harness.models.tool_text.permission import NO_LEAVE, Leave
from harness.models.tool_text.ranking import IndexedTool, ToolIndex

_TOLD = re.compile(r"\bUse the tool ([^\s\"'`]{1,128}?)(?: with (?=\{)|[.!]?(?=\s|$))")
_DECODER = json.JSONDecoder()


def explicit_calls(
    prompt: str, index: ToolIndex, today: date, leave: Leave = NO_LEAVE
) -> tuple[Goal, ...]:
    """Return a goal for each call that ``prompt`` spells out, in its order.

    Unknown tools are left out. If a call has no arguments, they are taken from the rest of the
    prompt. A tool that may change something is not called if the sentence is quoted, or no order.
    """
    # The same bound as for reading: places in both texts have to agree.
    prompt = prompt[:LONGEST_TEXT]
    # What stands before the first such sentence: the question that it was added to.
    said = PromptRequest(reading=parse_text(_TOLD.split(prompt)[0], today))
    # Without orders: only the sentence that names a call can order it.
    may = Permission(leave=leave, orders=())
    ordered = {order.start for order in find_instructions(prompt) if order.verb == "use"}
    goals = []
    for tool, arguments, start in _named_calls(prompt):
        entry = index.find_tool(tool)
        if entry is None:
            continue
        # The sentence itself is the order, unless it is quoted or only talked about.
        if start in ordered or may.is_allowed(entry):
            goals.append(_build_goal(entry, said, arguments, may))
        else:
            goals.append(Goal(request=said, held_back=entry, may=may))
    return tuple(goals)


def _named_calls(prompt: str) -> Iterator[tuple[str, dict[str, Any] | None, int]]:
    for told in _TOLD.finditer(prompt):
        try:
            arguments, _ = _DECODER.raw_decode(prompt, told.end())
        # No JSON behind it, or too deep: the arguments are taken from the question.
        except (ValueError, RecursionError):
            arguments = None
        yield told[1], arguments if isinstance(arguments, dict) else None, told.start()


def _build_goal(
    entry: IndexedTool, said: PromptRequest, arguments: dict[str, Any] | None, may: Permission
) -> Goal:
    filling = (
        fill_arguments(entry, said.reading, ())
        if arguments is None
        else Filling(arguments=(arguments,), said=({},))
    )
    return Goal(request=said, entry=entry, filling=filling, may=may)
