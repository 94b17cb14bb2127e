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
from harness.models import may_call
from harness.probing.arguments.ids import names_id
from harness.probing.call_facts import add_fact
from harness.probing.caller_sessions import Prober
from harness.probing.equal_answers.warm_up_calls import Lines
from harness.probing.planned_calls import ProbeCall
from harness.probing.repeated_calls import RepeatReason
from harness.types import Trial

MOST_RECORDS = 12
"""Maximum number of calls of one probe, which every identity makes."""


async def read_own_records(prober: Prober) -> Lines:
    """Make the calls as each of the suite's identities, and return their lines."""
    calls = [*_choose_calls(prober)][:MOST_RECORDS]
    lines: Lines = []
    for caller in prober.plan.callers if calls else ():
        trials = [
            (call, _build_trial(prober.build_trial(caller, call, 0, _AGAIN))) for call in calls
        ]
        lines += await prober.run_trials(
            trials, partial(prober.open_session, caller), watched=False
        )
    return lines


_AGAIN = RepeatReason("for the identities' own records")


def _choose_calls(prober: Prober) -> Iterator[ProbeCall]:
    tools = {tool.name: tool for listed in prober.lists.values() for tool in listed.tools}
    known = {(call.tool, canonical_json(call.arguments)) for call in prober.calls}
    called = {call.tool for call in prober.calls if not call.changes}
    for tool in tools.values():
        needed = tool.input_schema.get("required")
        # The argument is our own, so only the mark of a tool shows that a call changes nothing.
        if (
            tool.name not in called
            or not may_call(tool, invented=True)
            or not isinstance(needed, list)
        ):
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


def _build_trial(trial: Trial) -> Trial:
    label = trial.case.metadata["probe"]["call"]
    return add_fact(trial, "record", value=label, without=("call", "after"))
