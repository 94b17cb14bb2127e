"""The lists of a server itself, by pages: its tools, resources, templates and prompts.

They are asked for like tools whose argument is a cursor. Of each page only the names are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import HarnessError, RequestRefused, ServerError, utc_now
from harness.judging import Result
from harness.probing.call_facts import judge_call
from harness.probing.caller_sessions import Prober
from harness.probing.cursors.arguments import LISTS
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Session
from harness.types import ToolCall, Transcript, Trial, TrialError

CURSOR = "cursor"
"""The parameter that takes a cursor."""
_NEXT = "nextCursor"
_NAMING = ("uri", "uriTemplate", "name")


async def find_owners(prober: Prober) -> Mapping[str, list[str]]:
    """Return the methods whose first page has a cursor, and the identities that were given it."""
    found: dict[str, list[str]] = {method: [] for method in LISTS}
    for caller in prober.plan.callers:
        try:
            async with prober.open_session(caller) as session:
                for method, given in found.items():
                    if await _has_more(session, method):
                        given.append(caller.name)
        except HarnessError:
            continue  # who is not let in is given nothing
    return found


async def _has_more(session: Session, method: str) -> bool:
    try:
        return bool((await session.send_request(method, {})).get(_NEXT))
    except ServerError:
        return False  # most servers have not all of the lists


async def list_line(session: Session, call: ProbeCall, trial: Trial) -> TrialLine:
    """Ask for one page, and return its line."""
    fault: TrialError | None = None
    try:
        page = await session.send_request(call.tool, call.arguments)
        made = ToolCall(
            tool=call.tool,
            arguments=call.arguments,
            outcome="ok",
            reply=1,
            structured=_collect_names(call.tool, page),
        )
    except ServerError as error:
        made = ToolCall(
            tool=call.tool,
            arguments=call.arguments,
            # A refusal is an answer, like an error of a tool; anything else is a lost server.
            outcome="tool_error" if isinstance(error, RequestRefused) else "server_lost",
            reply=1,
            text=str(error),
        )
        if made.is_unanswered:
            fault = TrialError(kind=error.fault, message=f"{call.tool}: {error}")
    transcript = Transcript(
        tool_calls=(made,),
        replies=1,
        started_at=utc_now(),
        tools=tuple(tool.name for tool in session.tools.tools),
        tools_digest=session.tools.digest,
        error=fault,
        stop="answer" if fault is None else "error",
    )
    return await judge_call(trial, transcript, session.tools)


def _collect_names(method: str, page: Mapping[str, Any]) -> dict[str, Any]:
    items = page.get(LISTS[method])
    rows = [
        {key: item[key]}
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
        for key in _NAMING
        if isinstance(item.get(key), str)
    ]
    return {LISTS[method]: rows, **({_NEXT: page[_NEXT]} if page.get(_NEXT) else {})}


def iterate_names(result: Result) -> Iterator[str]:
    """Yield the names and addresses on a page that `list_line` has recorded."""
    return (str(leaf.value) for leaf in result.leaves if leaf.name in _NAMING)
