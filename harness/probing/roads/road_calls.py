"""Make the calls that take another road, as each identity that something is kept from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from harness.base import HarnessError
from harness.judging import Result
from harness.models import is_read_only, may_call
from harness.probing.call_facts import Lines, get_result, make_request
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials, get_caller_name
from harness.probing.callers import ProbeCaller
from harness.probing.forged_calls import collect_withheld
from harness.probing.planned_calls import ProbeCall
from harness.probing.requests import (
    COMPLETE,
    PROMPT,
    READ,
    VARIABLE,
    ServerListings,
    read_all_listings,
    read_texts,
)
from harness.probing.roads.road_choice import RoadChoice
from harness.probing.roads.statements import KeptData, read_statements
from harness.probing.stability import RepeatReason
from harness.types import Tool, Trial

_ROAD = RepeatReason("by another road")
_AGAIN = RepeatReason("by another road, again")
_METHODS = (READ, PROMPT, COMPLETE)


def collect_kept(probed: ProbedTrials, *facts: str) -> KeptData:
    """Return what is kept from each identity, by its regular calls and those with ``facts``."""
    attributes = {get_caller_name(run): run.case.user_context or {} for run in probed.own}
    statements = read_statements(probed.settings)
    return KeptData(statements, list_answers(probed, *facts), attributes)


def list_answers(probed: ProbedTrials, *facts: str) -> list[tuple[str, Result]]:
    """Return the answers to the suite's identities: regular calls, and those with ``facts``."""
    runs = [*probed.own, *(run for fact in facts for run in probed.apart[fact])]
    pairs = [(get_caller_name(run), probed.get_result(run)) for run in runs]
    return [(name, result) for name, result in pairs if result is not None]


async def make_road_calls(prober: Prober, probed: ProbedTrials) -> Lines:
    """Make the calls and requests of each identity; what gives withheld data is asked again."""
    kept, answers = collect_kept(probed, "record"), list_answers(probed, "record")
    if not any(kept.list_refused(name) or kept.list_fields(name) for name in kept.statements):
        return []
    choice = RoadChoice(_select_tools(prober), kept, answers)
    withheld = collect_withheld(probed)
    shown = await read_all_listings(prober)
    narrowing = prober.plan.narrowing
    lines: Lines = []
    for caller in filter(lambda one: narrowing.has_identity(one.name), prober.plan.callers):
        calls = [*choice.choose_calls(caller.name), *_propose_requests(caller, kept, shown)]
        made = await _make_calls(prober, caller, calls)
        lines += made
        gained = [
            call
            for call, (line, _) in zip(calls, made, strict=False)
            if call.tool not in _METHODS
            and (result := get_result(line)) is not None
            and withheld.find_gain(caller.name, result.call, call.arguments, {}, same=False)
        ]
        lines += await prober.run_trials(
            [(call, _build_trial(prober, caller, call, _AGAIN)) for call in gained],
            partial(prober.open_session, caller),
        )
    return lines


def _select_tools(prober: Prober) -> list[Tool]:
    guard = prober.plan.server.guard
    return [
        tool
        for tool in prober.tools.values()
        if prober.plan.narrowing.has_tool(tool.name)
        and may_call(tool, invented=True)
        and is_read_only(tool)
        and tool.name not in guard.block
        and (tool.read_only or not guard.read_only)
    ]


def _build_trial(
    prober: Prober, caller: ProbeCaller, call: ProbeCall, reason: RepeatReason = _ROAD
) -> Trial:
    return prober.build_trial(caller, call, 1, reason, {"road": call.label})


async def _make_calls(prober: Prober, caller: ProbeCaller, calls: Sequence[ProbeCall]) -> Lines:
    reads = [call for call in calls if call.tool not in _METHODS]
    trials = [(call, _build_trial(prober, caller, call)) for call in reads]
    lines = await prober.run_trials(trials, partial(prober.open_session, caller))
    requests = [call for call in calls if call.tool in _METHODS]
    if not requests:
        return lines
    try:
        async with prober.open_session(caller) as session:
            for call in requests:
                words = f"{call.label} [{caller.name}] {_ROAD.words}"
                trial = prober.build_named_trial(
                    caller, call, words, call.label, None, road=call.label
                )
                line = await make_request(session, call, trial, read_texts)
                lines.append((line, session.tools))
                if session.loss_reason is not None:
                    break
    except HarnessError:
        pass  # who is not let in is told nothing
    return lines


def _propose_requests(
    caller: ProbeCaller, kept: KeptData, shown: ServerListings
) -> Iterator[ProbeCall]:
    """Yield the resources, prompts and completions of what is kept from an identity."""
    asked: dict[str, dict[str, None]] = {}
    for statement in kept.statements.get(caller.name, ()):
        if statement.is_refused or statement.fields:
            for name, value in (statement.arguments or {}).items():
                if isinstance(value, str) and value:
                    asked.setdefault(name, {})[value] = None
    for template in shown.templates:
        names = VARIABLE.findall(template)
        for value in asked.get(names[0], ()) if len(names) == 1 else ():
            uri = VARIABLE.sub(value, template)
            yield ProbeCall(tool=READ, arguments={"uri": uri}, changes=False)
        ref = {"type": "ref/resource", "uri": template}
        yield from _propose_completions(ref, names)
    for prompt, names_of in shown.prompts.items():
        for value in asked.get(names_of[0], ()) if len(names_of) == 1 else ():
            arguments = {"name": prompt, "arguments": {names_of[0]: value}}
            yield ProbeCall(tool=PROMPT, arguments=arguments, changes=False)
        yield from _propose_completions({"type": "ref/prompt", "name": prompt}, names_of)


def _propose_completions(ref: dict[str, str], names: Sequence[str]) -> Iterator[ProbeCall]:
    for name in names:
        sent = {"ref": ref, "argument": {"name": name, "value": ""}}
        yield ProbeCall(tool=COMPLETE, arguments=sent, changes=False)
