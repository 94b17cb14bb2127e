"""Reads the records of the suite's identities themselves: what leaks is often theirs.

A server that shows the first employee to everybody, or names whom to ask with address and salary,
is found only if somebody has asked for that record. So each identity reads the record of each, by
tools that take an argument with the name of an attribute (``employee_id``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.base import canonical_json, is_valid
from harness.judging import fold_text
from harness.probing.arguments.ids import names_id
from harness.probing.call_facts import Lines
from harness.probing.caller_sessions import Prober
from harness.probing.planned_calls import ProbeCall
from harness.probing.repeated_calls import RepeatReason

MOST_RECORDS = 12
"""Maximum number of calls of one probe, which every identity makes."""


async def read_own_records(prober: Prober) -> Lines:
    """Make the calls as each of the suite's identities, and return their lines."""
    calls = [*_choose_calls(prober)][:MOST_RECORDS]
    lines: Lines = []
    again = RepeatReason("for the identities' own records")
    for caller in prober.plan.callers if calls else ():
        trials = [
            (call, prober.build_trial(caller, call, 1, again, {"record": call.label}))
            for call in calls
        ]
        lines += await prober.run_trials(trials, partial(prober.open_session, caller))
    return lines


def _choose_calls(prober: Prober) -> Iterator[ProbeCall]:
    known = {(call.tool, canonical_json(call.arguments)) for call in prober.calls}
    # The argument is our own, so only the mark of a tool shows that a call changes nothing.
    readable = {call.tool for call, _ in prober.pair_with_tools()}
    for tool in prober.tools.values():
        needed = tool.input_schema.get("required")
        if tool.name not in readable or not isinstance(needed, list):
            continue
        # Further required arguments would have to be made up.
        if len(needed) != 1 or not names_id(needed[0]):
            continue
        for caller in prober.plan.callers:
            for name, value in (caller.user_context or {}).items():
                arguments = {needed[0]: value}
                key = tool.name, canonical_json(arguments)
                if (
                    fold_text(name) == fold_text(needed[0])
                    and key not in known
                    and is_valid(arguments, tool.input_schema)
                ):
                    known.add(key)
                    yield ProbeCall(tool=tool.name, arguments=arguments, changes=False)
