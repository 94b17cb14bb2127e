"""What one caller's calls do to another's: quotas, lockouts and memories that callers share.

Two identities ask one process that nobody else has asked. The first makes its calls twice, which
shows what its own calls use up. The second makes each call many times, with wrong codes and a text
that is nowhere else. Then the first asks again. It is a finding if it is now told to wait or
locked out, if a counter that says what is left moved by the other's calls, or if it is told that
text. Only processes that the probe starts are asked so: elsewhere, real users would be locked out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.base import HarnessError, is_valid
from harness.judging import Result, fold_text
from harness.models import is_read_only, may_call, split_words
from harness.probing.arguments.argument_change import get_argument_schema, get_argument_type
from harness.probing.call_facts import Lines
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    get_caller_name,
    get_facts,
    group_by,
)
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.roads.road_calls import collect_kept, list_answers
from harness.probing.roads.road_choice import RoadChoice
from harness.probing.stability import RepeatReason
from harness.reports import ProbeFinding
from harness.runlog import TrialLine
from harness.sessions import Session, with_shared_process
from harness.types import Tool

CANARY = "harness zebra"
"""Begins the text that the second caller sends: nobody else has it."""
MOST_PAIRS = 3
"""Maximum number of pairs of callers."""
MOST_TOOLS = 24
"""Maximum number of tools that a pair asks."""
TIMES = 8
"""How often the second caller makes each call."""
_LEFT = frozenset({"left", "remaining", "quota", "attempts", "tries", "allowance", "credits"})
"""Words in the names of fields that count what is left."""
_LOCKED = re.compile(
    r"\block(?:ed|out)?\b|too many|rate.?limit|quota|exceed|attempts?\b|throttl|try again|used up|"
    r"blocked|suspended"
)


async def make_shared_calls(prober: Prober, probed: ProbedTrials) -> Lines:
    """Make the calls of some pairs of the suite's identities, each in a process of its own."""
    server = prober.plan.server
    share = with_shared_process(server).isolation == "none" and server.transport.command is not None
    answers = list_answers(probed)
    working = {name for name, result in answers if result.call.outcome == "ok"}
    callers = [
        one
        for one in prober.plan.callers
        if one.name in working and one.user_context and prober.plan.narrowing.has_identity(one.name)
    ]
    tools = [one for one in prober.tools.values() if _may_repeat(prober, one)][:MOST_TOOLS]
    if not share or not tools or prober.effort.is_spent():
        return []
    choice = RoadChoice(tools, collect_kept(probed), answers)
    lines: Lines = []
    for first, second in [*pairwise(callers)][:MOST_PAIRS]:
        await prober.pool.end_idle()
        lines += await _ask_as_two(prober, first, second, choice, tools)
    await prober.pool.end_idle()
    return lines


def _may_repeat(prober: Prober, tool: Tool) -> bool:
    guard = prober.plan.server.guard
    is_blocked = tool.name in guard.block or (guard.read_only and not tool.read_only)
    may_read = may_call(tool, invented=True) and is_read_only(tool) and not is_blocked
    return may_read and prober.plan.narrowing.has_tool(tool.name)


async def _ask_as_two(
    prober: Prober,
    first: ProbeCaller,
    second: ProbeCaller,
    choice: RoadChoice,
    tools: Sequence[Tool],
) -> Lines:
    one = prober.plan.server.with_isolation("none")
    pool = prober.pool
    lines: list[TrialLine] = []
    asked = [*_choose_calls(choice, first, second, tools)]
    try:
        async with (
            pool.lend_session(one, first.user_context) as ours,
            pool.lend_session(one, second.user_context) as theirs,
        ):
            for step in (1, 2):
                lines += [await _ask(prober, ours, first, second, mine, step) for mine, _ in asked]
            for number in range(TIMES):
                for _, other in asked:
                    lines.append(await _ask(prober, theirs, second, first, other, 10 + number))
            lines += [await _ask(prober, ours, first, second, mine, 3) for mine, _ in asked]
            return [(line, None) for line in lines]
    # Without both there is nothing to compare.
    except HarnessError:
        return []


async def _ask(
    prober: Prober,
    session: Session,
    caller: ProbeCaller,
    other: ProbeCaller,
    call: ProbeCall,
    step: int,
) -> TrialLine:
    facts = {"beside": {"of": call.label, "with": other.name, "step": step}}
    reason = RepeatReason(f"beside {other.name}")
    return await prober.make_call(
        session, call, prober.build_trial(caller, call, step, reason, facts)
    )


def _choose_calls(
    choice: RoadChoice, first: ProbeCaller, second: ProbeCaller, tools: Sequence[Tool]
) -> Iterator[tuple[ProbeCall, ProbeCall]]:
    """Yield a call of the first caller, and what the second one asks of the same record."""
    for tool in tools:
        base = choice.find_bases(first.name, tool)[0]
        marked = dict(base)
        for name, value in base.items():
            kind = get_argument_type(get_argument_schema(tool.input_schema, name))
            is_text = kind == "string" and isinstance(value, str)
            if is_text and not choice.list_visible_ids(first.name, tool, name):
                marked[name] = f"{CANARY} {second.name}"
        if is_valid(base, tool.input_schema) and is_valid(marked, tool.input_schema):
            mine = ProbeCall(tool=tool.name, arguments=base, changes=False)
            yield mine, ProbeCall(tool=tool.name, arguments=marked, changes=False)


def find_shared_state(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield what the calls of one identity did to those of another."""
    runs = group_by(
        lambda run: (get_caller_name(run), get_facts(run)["beside"]["with"]),
        probed.apart["beside"],
    )
    for (name, other), own in runs.items():
        steps: dict[str, dict[int, Result]] = {}
        for run in own:
            fact, result = get_facts(run)["beside"], probed.get_result(run)
            if result is not None:
                steps.setdefault(fact["of"], {})[fact["step"]] = result
        for call, results in steps.items():
            if not {1, 2, 3} <= results.keys():
                continue
            what = describe_change(results[1], results[2], results[3], other)
            if what is not None:
                words = f"{call} {what}"
                yield build_finding("shared_state", words.format(name=name), name, call)


def describe_change(one: Result, two: Result, three: Result, other: str) -> str | None:
    """Return what ``other`` changed between the first two answers and the third, if anything."""
    marked = fold_text(f"{CANARY} {other}")
    if marked in _read(three) and marked not in _read(two):
        return f"tells {{name}} what {other} sent"
    said = _LOCKED.search(_read(three)) if three.call.outcome != "ok" else None
    if said and not _LOCKED.search(_read(two)) and not _LOCKED.search(_read(one)):
        return f"is shut to {{name}} by the calls of {other} ({said[0]!r})"
    for name, numbers in _collect_left(one).items():
        before, after = _collect_left(two).get(name), _collect_left(three).get(name)
        if before is None or after is None:
            continue
        own = abs(before - numbers)
        # As many calls of their own would move it once.
        if abs(after - before) >= own + TIMES / 2 and own <= 1:
            return f"counts the calls of {other} against {{name}} ({name})"
    return None


def _collect_left(result: Result) -> dict[str, float]:
    if result.call.outcome != "ok":
        return {}
    return {
        leaf.path: leaf.value
        for leaf in result.leaves
        if isinstance(leaf.value, int | float)
        and not isinstance(leaf.value, bool)
        and not _LEFT.isdisjoint(split_words(leaf.name))
    }


def _read(result: Result) -> str:
    return fold_text(result.call.text)
