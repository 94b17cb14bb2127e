"""Calls with tokens that expired some minutes ago: how long after its expiry one is accepted.

Clocks differ, so a verifier may accept a token that has just expired. Bisection in whole minutes
finds for how long, by one call of one caller: it works with a valid token, nobody gets its answer
without one, and it is refused with a token that expired an hour ago.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import anyio

from harness.errors import HarnessError
from harness.judging.policy.views import Result
from harness.probing.caller_sessions import Prober, result_of, with_fact
from harness.probing.caller_views import ProbedTrials, bases_of, facts_of, is_flawed, label_of
from harness.probing.callers import ANONYMOUS, ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.report import LATELY_MIN, LONGEST_MIN
from harness.probing.tokens import lets_in
from harness.runlog import TrialLine
from harness.sessions.identity.delivery import Identity
from harness.types import JsonObject, ToolList, TrialResult

SLACK_S = 10.0
"""Seconds by which a token expired later than its minutes say: a server with a leeway of exactly
two minutes accepts a token of two minutes, though the answer takes a moment."""


@dataclass(frozen=True, slots=True)
class AgingCall:
    """A call whose answer shows whether a token is accepted."""

    owner: ProbeCaller
    """Whose valid token is accepted."""
    call: ProbeCall
    """The call that works with it."""
    nobody: Result | None
    """The answer to the call without a token; ``None`` if no session was opened."""
    accepted_min: int
    """Minutes since the expiry of a token that is accepted."""
    refused_min: int
    """Minutes since the expiry of a token that is refused."""


def aging_call(prober: Prober, probed: ProbedTrials) -> AgingCall | None:
    """Return a call that shows which tokens are accepted, by the answers so far, if there is one.

    A server that accepts a token of an hour ago is not measured.
    """
    server = prober.plan.server
    if server.members or server.identity.token_command is not None:
        return None
    answered = probed.answered()
    flawed = {
        (bases_of(run)[0], label_of(run), facts_of(run)["credential"]): run
        for run in filter(is_flawed, probed.runs)
    }
    for owner in filter(lambda caller: caller.user_context, prober.plan.callers):
        for call in (call for call in prober.calls if not call.changes):
            own, nobody = (answered.get((name, call.label)) for name in (owner.name, ANONYMOUS))
            gained = None if own is None else probed.result(own)
            if nobody is None or gained is None or gained.call.outcome != "ok":
                continue
            without = probed.result(nobody)
            hour, lately = (
                _lets_in(probed, flawed.get((owner.name, call.label, age)), without)
                for age in ("expired", "expired_lately")
            )
            if lets_in(gained, without) and hour is False and lately is not None:
                return AgingCall(owner, call, without, *_known(accepted_lately=lately))
    return None


def _lets_in(probed: ProbedTrials, run: TrialResult | None, nobody: Result | None) -> bool | None:
    if run is None:
        return None
    return lets_in(probed.result(run), nobody, refused=probed.refused(run))


def _known(*, accepted_lately: bool) -> tuple[int, int]:
    """Return minutes that are accepted, and minutes that are refused.

    A token of whole minutes is a bit younger than those two that were refused: one minute more.
    """
    return (LATELY_MIN, LONGEST_MIN + 1) if accepted_lately else (0, LATELY_MIN + 1)


async def aged(prober: Prober, one: AgingCall) -> list[tuple[TrialLine, ToolList | None]]:
    """Make the call with tokens of different ages, until the longest that is accepted is known.

    An answer that does not show it ends the measurement.
    """
    lines: list[tuple[TrialLine, ToolList | None]] = []
    accepted, refused = one.accepted_min, one.refused_min
    with suppress(HarnessError):
        # The process stays for all calls as long as this session of its owner does.
        async with prober.pool.session(prober.plan.server, one.owner.user_context):
            pass
    while refused - accepted > 1:
        minutes = (accepted + refused) // 2
        found, line, tools = await _tried(prober, one, minutes, (accepted, refused))
        lines.append((line, tools))
        if found is None:
            break
        accepted, refused = (minutes, refused) if found else (accepted, minutes)
    return lines


async def _tried(
    prober: Prober, one: AgingCall, minutes: int, between: tuple[int, int]
) -> tuple[bool | None, TrialLine, ToolList | None]:
    """Return whether a token that expired ``minutes`` ago is accepted, if that is clear."""
    unit = "minute" if minutes == 1 else "minutes"
    words = f"a token that expired {minutes} {unit} ago"
    caller = replace(
        one.owner,
        name=f"{one.owner.name}: {words}",
        credential="expired",
        bases=(one.owner.name,),
        damage=words,
    )
    fact: JsonObject = {"minutes": minutes, "between": list(between)}
    # 'harness call' makes no token of this age.
    trial = with_fact(prober.trial(caller, one.call, 0), "expired", value=fact, without={"command"})
    who = Identity(caller.user_context, "expired", expired_s=60.0 * minutes - SLACK_S)
    began = anyio.current_time()
    [(line, tools)] = await prober.made(
        [(one.call, trial)], lambda: prober.pool.lone(prober.plan.server, who), watched=False
    )
    found = lets_in(result_of(line), one.nobody, refused=line.run.stop == "not_admitted")
    if anyio.current_time() - began >= SLACK_S:
        found = None  # the token is older by now than the call was to show
    return found, _with_outcome(line, found), tools


def _with_outcome(line: TrialLine, found: bool | None) -> TrialLine:  # noqa: FBT001 - the outcome
    case = line.run.case
    facts: JsonObject = case.metadata["probe"]
    expired = {**facts["expired"], "accepted": found}
    told = replace(case, metadata={"probe": {**facts, "expired": expired}})
    return replace(line, run=replace(line.run, case=told))
