"""Calls of every identity with values that a suite, an identity or an answer has elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, product

from harness.models import is_read_only, may_call
from harness.probing.arguments.shared_values import SharedValues, propose_shared_calls
from harness.probing.call_facts import Lines
from harness.probing.caller_sessions import Prober
from harness.probing.evidence import is_telling
from harness.probing.planned_calls import ProbeCall, iterate_stated_calls
from harness.probing.stability import CallerAnswer, RepeatReason

MOST_SHARED = 80
"""Maximum number of calls of one probe, which every identity makes."""


async def try_shared_values(prober: Prober, answers: Sequence[CallerAnswer]) -> Lines:
    """Make calls with values known from elsewhere, as each of the suite's identities.

    ``answers`` are those to the regular calls. All are made twice: what comes once is chance.
    """
    calls = [*islice(_choose_shared_calls(prober, answers), MOST_SHARED)]
    lines: Lines = []
    again = RepeatReason("with a value known from elsewhere")
    calls = [*prober.effort.choose_affordable(calls, 2 * len(prober.suspects))]
    for number, caller in product((1, 2), prober.suspects if calls else ()):
        sent = {"caller": dict(caller.user_context or {})}
        trials = []
        for call in calls:
            facts = {"shared": call.label, "brought": sent}
            trials.append((call, prober.build_trial(caller, call, number, again, facts)))
        lines += await prober.run_trials(trials, partial(prober.open_session, caller))
    return lines


def _choose_shared_calls(prober: Prober, answers: Sequence[CallerAnswer]) -> Iterator[ProbeCall]:
    values, guard = SharedValues(), prober.plan.server.guard
    for caller in prober.plan.callers:
        values.add_arguments("", caller.user_context or {})
    for tool, arguments in iterate_stated_calls(prober.plan.cases):
        values.add_arguments(tool, arguments)
    results = [answer.result for answer in answers if answer.result is not None]
    for result in results:
        if result.call.outcome == "ok":
            values.add_leaves(result.call.tool, result.leaves)
    # The values are our own choice, so only the mark of a tool shows that a call changes nothing.
    tools = [
        tool
        for tool in prober.tools.values()
        if may_call(tool, invented=True)
        and is_read_only(tool)
        and tool.name not in guard.block
        and (tool.read_only or not guard.read_only)
    ]
    telling = {result.key for result in results if is_telling(result)}
    return propose_shared_calls(tools, values, prober.calls, telling)
