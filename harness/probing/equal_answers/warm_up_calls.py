"""Makes each call twice before anything is compared: the first answers of a server may be others.

It has just started, has an index to build, or fills a cache: such an answer leaves out what the
next one has, or is an error, and would be taken for a policy. So what a first answer leaves out is
no evidence; nor is what a second one leaves out, for a server may need two calls of each identity.
What they give is: an answer that gives its caller more than the next one is judged like any other
(a policy that is loaded late opens the first answers).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack
from functools import partial
from itertools import product

from harness.base import HarnessError
from harness.judging import Result
from harness.probing.call_facts import Lines, get_result, judge_call
from harness.probing.caller_sessions import ROUNDS, Prober
from harness.probing.caller_views import get_caller_name, get_facts
from harness.probing.equal_answers.mixed_callers import gives_more
from harness.probing.repeated_calls import RepeatReason, Suspicion
from harness.probing.stability import CallerAnswer, depends_on_previous, extract_traits
from harness.sessions import Session
from harness.types import ToolList

_TURNS = ("to warm up", "to warm up again")
"""What stands behind the name of each call."""


async def warm_up(prober: Prober) -> Lines:
    """Make each call that changes nothing, as one identity of the suite after the other."""
    lines: Lines = []
    for turn, caller in product(_TURNS, prober.plan.callers):
        trials = [
            (call, prober.build_trial(caller, call, 1, RepeatReason(turn), {"warm_up": call.label}))
            for call in prober.reads
        ]
        lines += await prober.run_trials(trials, partial(prober.open_session, caller))
    return lines


async def add_verdicts(prober: Prober, first: Lines, answers: Iterable[CallerAnswer]) -> Lines:
    """Return the lines of ``first``, of which those are judged that gave more than ``answers``.

    ``answers`` are what the suite's identities were told since then.
    """
    later: dict[tuple[str, str], list[Result]] = {}
    for one in answers:
        if one.result is not None:
            later.setdefault((one.name, one.call), []).append(one.result)
    calls = {call.label: call for call in prober.calls}
    callers = {caller.name: caller for caller in prober.plan.callers}
    lines: Lines = []
    for place, (line, tools) in enumerate(first):
        name, label = get_caller_name(line.run), get_facts(line.run)["warm_up"]
        gave, since = get_result(line), later.get((name, label), [])
        gave_more = since and gave and all(gives_more(gave, one) for one in since)
        if gave_more and line.transcript is not None:
            # A number beyond the rounds: with an equal one it would be the same trial in the log.
            trial = prober.build_trial(callers[name], calls[label], ROUNDS + 1 + place)
            line = await judge_call(trial, line.transcript, tools or ToolList(tools=()))  # noqa: PLW2901
        lines.append((line, tools))
    return lines


async def confirm_suspicion(prober: Prober, suspicion: Suspicion) -> tuple[bool, Lines]:
    """Repeat a suspicious call right after other callers' calls.

    Return whether its answer depended on the previous caller in every round, and the lines.
    All sessions are opened beforehand: a server may remember whoever opened one last.
    """
    callers = {caller.name: caller for caller in prober.plan.callers}
    call = next(call for call in prober.calls if call.label == suspicion.call)
    lines: Lines = []
    after: dict[str, list[frozenset[str]]] = {}
    async with AsyncExitStack() as stack:
        sessions: dict[str, Session] = {}
        for name in dict.fromkeys((*suspicion.preceding_callers, suspicion.name)):
            try:
                opened = prober.open_session(callers[name])
                sessions[name] = await stack.enter_async_context(opened)
            except HarnessError as error:
                again = RepeatReason(f"to confirm {suspicion.name}")
                trial = prober.build_trial(callers[name], call, 1, again)
                return False, [(prober.build_failed_line(error, trial), None)]
        for number, order in enumerate(suspicion.iterate_orders(), start=1):
            for before in order:
                for name, again in suspicion.list_steps(before):
                    trial = prober.build_trial(callers[name], call, number, again)
                    line = await prober.make_call(sessions[name], call, trial)
                    lines.append((line, sessions[name].tools))
                    # A missing answer neither confirms nor refutes, so there is no finding.
                    if line.run.error is not None:
                        return False, lines
                after.setdefault(before, []).append(extract_traits(get_result(line)))
            # One round without the difference is enough, and spares the others.
            if not depends_on_previous(after):
                return False, lines
    return True, lines
