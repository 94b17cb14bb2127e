"""Makes each call twice before anything is compared: the first answers of a server may be others.

It has just started, has an index to build, or fills a cache: such an answer leaves out what the
next one has, or is an error, and would be taken for a policy. So what a first answer leaves out is
no evidence; nor is what a second one leaves out, for a server may need two calls of each identity.
What they give is: an answer that gives its caller more than the next one is judged like any other
(a policy that is loaded late opens the first answers).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TypeAlias

from harness.judging import Result
from harness.probing.call_facts import get_result, judge_call
from harness.probing.caller_sessions import ROUNDS, Prober
from harness.probing.caller_views import get_caller_name, get_facts
from harness.probing.callers import ProbeCaller
from harness.probing.equal_answers.mixed_callers import gives_more
from harness.probing.planned_calls import ProbeCall
from harness.probing.repeated_calls import RepeatReason
from harness.probing.stability import CallerAnswer
from harness.runlog import TrialLine
from harness.types import ToolList, Trial

_TURNS = ("to warm up", "to warm up again")
"""What stands behind the name of each call."""
Lines: TypeAlias = list[tuple[TrialLine, ToolList | None]]


async def warm_up(prober: Prober) -> Lines:
    """Make each call that changes nothing, as one identity of the suite after the other."""
    lines: Lines = []
    calls = [call for call in prober.calls if not call.changes]
    for turn, caller in product(_TURNS, prober.plan.callers):
        trials = [(call, _build_trial(prober, caller, call, turn)) for call in calls]
        lines += await prober.run_trials(
            trials, partial(prober.open_session, caller), watched=False
        )
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
        name, label, gave = (
            get_caller_name(line.run),
            get_facts(line.run)["warm_up"],
            get_result(line),
        )
        since, kept = later.get((name, label), []), line
        gave_more = since and gave and all(gives_more(gave, one) for one in since)
        if gave_more and line.transcript is not None:
            # An index beyond the rounds, since equal indices would make it the same trial in the
            # log.
            trial = prober.build_trial(callers[name], calls[label], ROUNDS + place)
            kept = await judge_call(trial, line.transcript, tools or ToolList(tools=()))
        lines.append((kept, tools))
    return lines


def _build_trial(prober: Prober, caller: ProbeCaller, call: ProbeCall, turn: str) -> Trial:
    trial = prober.build_trial(caller, call, 0, RepeatReason(turn))
    facts = {
        key: value
        for key, value in trial.case.metadata["probe"].items()
        if key not in ("call", "after")
    }
    facts["warm_up"] = call.label
    return replace(trial, case=replace(trial.case, metadata={"probe": facts}))
