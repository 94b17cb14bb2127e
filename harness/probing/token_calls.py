"""Calls with tokens that expired some minutes ago, and with those of somebody else.

Clocks differ, so a verifier may accept a token that has just expired. Bisection in whole minutes
finds for how long, by one call of one caller: it works with a valid token, nobody gets its answer
without one, and it is refused with a token that expired an hour ago. Of joined servers, each that
takes tokens of harness is measured by itself, with valid tokens at the others: one that refuses a
token closes the session to all of them.

In a swap, a call has another token than the one that opened its session, or none: on the wire that
is also the session id of another caller. A server that checks a token once, or keeps the identity
of who opened a session, answers as to that one. The newest revision of MCP has no sessions; a
server that also takes the handshake of older ones has them there.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

import anyio

from harness.base import HarnessError
from harness.judging import Result, judge_trial
from harness.probing.call_facts import Lines, add_facts, get_result
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials, get_bases, get_facts, get_label, is_flawed
from harness.probing.callers import ANONYMOUS, ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.report import LATELY_MIN, LONGEST_MIN
from harness.probing.tokens import accepts_token
from harness.runlog import TrialLine
from harness.sessions import Identity, JoinedSession, Session, delivery_of
from harness.types import (
    JsonObject,
    ServerSpec,
    ToolList,
    ToolRequest,
    Trial,
    TrialResult,
    dataclass,
)

SLACK_S = 10.0
"""Seconds by which a token expired later than its minutes say: a server with a leeway of exactly
two minutes accepts a token of two minutes, though the answer takes a moment."""


MOST_TRIED = 6
"""Calls of one identity that are tried without a token at one of several joined servers."""


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
    open_session: Callable[[Identity], AbstractAsyncContextManager[Session]]
    """Opens a session of its owner with another token."""
    server: str | None = None
    """Which of several joined servers is shown that token."""


def aging_call(prober: Prober, probed: ProbedTrials) -> AgingCall | None:
    """Return a call that shows which tokens are accepted, by the answers so far, if there is one.

    A server that accepts a token of an hour ago is not measured.
    """
    server = prober.plan.server
    if not delivery_of(server.identity).is_signed:
        return None
    flawed = {
        (get_bases(run)[0], get_label(run), get_facts(run)["credential"]): run
        for run in filter(is_flawed, probed.runs)
    }
    for owner in filter(lambda caller: caller.user_context, prober.plan.callers):
        for call in prober.reads:
            gained = probed.find_answer(owner.name, call.label)
            if gained is None or gained.call.outcome != "ok":
                continue
            if (ANONYMOUS, call.label) not in probed.first_answers:
                continue
            without = probed.find_answer(ANONYMOUS, call.label)
            hour, lately = (
                _accepts_token(probed, flawed.get((owner.name, call.label, age)), without)
                for age in ("expired", "expired_lately")
            )
            if accepts_token(gained, without) and hour is False and lately is not None:
                # A token of whole minutes is a bit younger than those two: one minute more.
                bounds = (LATELY_MIN, LONGEST_MIN + 1) if lately else (0, LATELY_MIN + 1)
                opens = partial(prober.pool.lend_new_connection, server)
                return AgingCall(owner, call, without, *bounds, opens)
    return None


def _accepts_token(
    probed: ProbedTrials, run: TrialResult | None, nobody: Result | None
) -> bool | None:
    if run is None:
        return None
    return accepts_token(probed.get_result(run), nobody, refused=probed.is_refused(run))


async def measure_ages(prober: Prober, one: AgingCall) -> Lines:
    """Make the call with tokens of different ages, until the longest that is accepted is known.

    An answer that does not show it ends the measurement.
    """
    # If it does not open, the calls below do not either, and each says so.
    with suppress(HarnessError):
        # The process stays for all calls as long as this session of its owner does.
        async with prober.pool.lend_session(prober.plan.server, one.owner.user_context):
            pass
    return await _narrow_bounds(prober, one)


async def _narrow_bounds(prober: Prober, one: AgingCall) -> Lines:
    lines: Lines = []
    accepted, refused = one.accepted_min, one.refused_min
    while refused - accepted > 1:
        minutes = (accepted + refused) // 2
        found, line, tools = await _try_age(prober, one, minutes, (accepted, refused))
        lines.append((line, tools))
        if found is None:
            break
        accepted, refused = (minutes, refused) if found else (accepted, minutes)
    return lines


async def measure_member_ages(prober: Prober, probed: ProbedTrials) -> Lines:
    """Measure each of several joined servers whose tokens harness signs."""
    members, lines, measured = prober.plan.server.members, Lines(), set[int]()
    takers = {place for place, one in enumerate(members) if delivery_of(one.identity).is_signed}
    for owner in filter(lambda caller: caller.user_context, prober.plan.callers):
        if takers == measured:
            break
        with suppress(HarnessError):
            async with prober.open_session(owner) as session:
                assert isinstance(session, JoinedSession), "the server has members"
                for place in sorted(takers - measured):
                    made, found = await _measure_member(prober, probed, owner, session, place)
                    lines += made
                    measured |= {place} if found else set()
    return lines


async def _measure_member(
    prober: Prober, probed: ProbedTrials, owner: ProbeCaller, session: JoinedSession, place: int
) -> tuple[Lines, bool]:
    """Measure the server at ``place``; return the lines, and whether a call of ``owner`` served."""
    lines: Lines = []
    for call, gained in _find_working_calls(prober, probed, owner, session, place)[:MOST_TRIED]:
        one = AgingCall(
            owner,
            call,
            nobody=None,
            accepted_min=0,
            refused_min=LONGEST_MIN + 1,
            open_session=partial(_open_with_token, prober, session, place),
            server=prober.plan.server.members[place].name,
        )
        who = Identity(owner.user_context, "none")
        fact: JsonObject = {"minutes": None, "between": None}
        line, tools = await _make_call(prober, one, who, f"no token at {one.server}", fact)
        lines.append((line, tools))
        if line.run.error is not None or not accepts_token(gained, get_result(line)):
            # The answer does not depend on the token: another call may show more.
            continue
        one = replace(one, nobody=get_result(line))
        # One minute more, since a token of whole minutes is a bit younger (`SLACK_S`).
        between = (0, LONGEST_MIN + 2)
        found, line, tools = await _try_age(prober, one, LONGEST_MIN + 1, between)
        lines.append((line, tools))
        # Beyond the longest nothing is measured.
        return [*lines, *(await _narrow_bounds(prober, one) if found is False else [])], True
    return lines, False


def _find_working_calls(
    prober: Prober, probed: ProbedTrials, owner: ProbeCaller, session: JoinedSession, place: int
) -> list[tuple[ProbeCall, Result]]:
    """Return the calls of the server at ``place`` that work for ``owner``, and their answers."""
    answers = ((call, probed.find_answer(owner.name, call.label)) for call in prober.reads)
    return [
        (call, gained)
        for call, gained in answers
        if gained is not None and gained.call.outcome == "ok"
        if session.get_server_index(call.tool) == place
    ]


@asynccontextmanager
async def _open_with_token(
    prober: Prober, session: JoinedSession, place: int, who: Identity
) -> AsyncGenerator[Session]:
    """Open ``session`` with the token of ``who`` at one server; the others keep theirs."""
    member = prober.plan.server.members[place]
    async with prober.pool.lend_new_connection(member, who) as connection:
        yield session.replace_session(place, connection)


async def _try_age(
    prober: Prober, one: AgingCall, minutes: int, between: tuple[int, int]
) -> tuple[bool | None, TrialLine, ToolList | None]:
    """Return whether a token that expired ``minutes`` ago is accepted, if that is clear."""
    unit = "minute" if minutes == 1 else "minutes"
    words = f"a token that expired {minutes} {unit} ago"
    who = Identity(one.owner.user_context, "expired", expired_s=60.0 * minutes - SLACK_S)
    began = anyio.current_time()
    fact: JsonObject = {"minutes": minutes, "between": list(between)}
    line, tools = await _make_call(prober, one, who, words, fact)
    found = accepts_token(get_result(line), one.nobody, refused=line.run.stop == "not_admitted")
    if anyio.current_time() - began >= SLACK_S:
        found = None  # the token is older by now than the call was to show
    expired = {**get_facts(line.run)["expired"], "accepted": found}
    return found, replace(line, run=add_facts(line.run, expired=expired)), tools


async def _make_call(
    prober: Prober, one: AgingCall, who: Identity, words: str, fact: JsonObject
) -> tuple[TrialLine, ToolList | None]:
    """Make the call with the token of ``who``, which is called ``words``."""
    caller = replace(
        one.owner,
        name=f"{one.owner.name}: {words}",
        credential=who.credential,
        bases=(one.owner.name,),
        damage=words,
    )
    fact = fact if one.server is None else {**fact, "server": one.server}
    # 'harness call' makes no token of this age, nor one for a single joined server.
    call, name = one.call, f"{one.call.label} [{caller.name}]"
    trial = prober.build_named_trial(caller, call, name, call.label, None, expired=fact)
    [(line, tools)] = await prober.run_trials([(call, trial)], lambda: one.open_session(who))
    return line, tools


MOST_SWAPS = 24
"""Sessions of one probe in which the token is swapped."""
_ENDED = re.compile(r"\bHTTP 4(?:0[0134]|10)\b|\bno longer knows the session\b")
"""What a call says of a session that its server has ended."""


@dataclass(frozen=True, slots=True)
class TokenSwap:
    """A call in somebody's session with another token."""

    opener: ProbeCaller
    """Who opened the session, and made the call in it."""
    then: ProbeCaller
    """Whose token is shown then; without attributes, none."""
    call: ProbeCall
    """What is called, both times."""

    @property
    def description(self) -> str:
        """What is done, in words."""
        token = f"the token of {self.then.name}" if self.then.user_context else "no token"
        shown = self.then.damage or token
        return f"with {shown} in a session of {self.opener.name}"


def find_swaps(prober: Prober, probed: ProbedTrials) -> list[TokenSwap]:
    """Return the swaps to try, by the answers so far: with a call that works for its opener."""
    server = prober.plan.server
    # The refusal by one of several joined servers hides what the others do.
    if not delivery_of(server.identity).takes_tokens or server.members:
        return []
    works = {
        (run.case.identity, get_label(run))
        for run in probed.runs
        if (result := probed.get_result(run)) is not None and result.call.outcome == "ok"
    }
    return [*_iterate_swaps(prober, works)][:MOST_SWAPS]


def _iterate_swaps(prober: Prober, works: set[tuple[str | None, str]]) -> Iterator[TokenSwap]:
    # Of a token_command no expired token can be had: harness does not hold the key.
    by_command = not delivery_of(prober.plan.server.identity).is_signed
    for opener in filter(lambda caller: caller.user_context, prober.plan.callers):
        own = [call for call in prober.reads if (opener.name, call.label) in works]
        for then in prober.suspects:
            # A call that both may make does not show whose identity counts.
            call = next((call for call in own if (then.name, call.label) not in works), None)
            if call is None:
                continue
            yield TokenSwap(opener, then, call)
            if then.name == ANONYMOUS and not by_command:
                stale = replace(
                    then,
                    user_context=opener.user_context,
                    credential="expired",
                    damage="an expired token of their own",
                )
                yield TokenSwap(opener, stale, call)


async def try_swap(prober: Prober, swap: TokenSwap) -> Lines:
    """Try one swap in a session of its own; no line if its opener's call does not work in it."""
    server = prober.plan.server
    # Only the handshake of older revisions has sessions, so it is tried first.
    if server.transport.protocol == "auto":
        older = replace(server.transport, protocol="legacy")
        by_handshake = await _try_on_server(prober, swap, replace(server, transport=older))
        if by_handshake:
            return by_handshake
    return await _try_on_server(prober, swap, server)


async def _try_on_server(prober: Prober, swap: TokenSwap, server: ServerSpec) -> Lines:
    who = Identity(swap.opener.user_context)
    label, words = swap.call.label, swap.description
    trial = prober.build_named_trial(
        swap.then,
        swap.call,
        f"{label} {words} [{swap.then.name}]",
        label,
        None,  # no command of harness swaps tokens
        damage=None,
        opener=swap.opener.name,
        words=words,
        of=label,
    )
    try:
        # The process stays for the next swap as long as this session of its opener does.
        async with prober.pool.lend_session(server, swap.opener.user_context):
            pass
        async with prober.pool.lend_new_connection(server, who) as session:
            request = ToolRequest(id="probe", tool=swap.call.tool, arguments=swap.call.arguments)
            opened = await session.call(request, reply=1, epoch=0)
            if opened.outcome != "ok":
                return []
            assert session.bearer is not None, "the identity travels in tokens"
            session.bearer.impersonate(Identity(swap.then.user_context, swap.then.credential))
            line = await prober.make_call(session, swap.call, trial)
            return [(_mark_refused(line, trial), session.tools)]
    # The ordinary calls report a server that fails; here it only leaves nothing to compare.
    except HarnessError:
        return []


def _mark_refused(line: TrialLine, trial: Trial) -> TrialLine:
    """Return ``line``; a server that ends the session, and says so, has refused the token."""
    if line.run.error is None or line.transcript is None:
        return line
    (made,) = line.transcript.tool_calls
    if _ENDED.search(made.text) is None:
        return line
    denied = replace(made, outcome="denied", refusal="http_status")
    refused = replace(line.transcript, tool_calls=(denied,), error=None, stop="answer")
    return TrialLine(run=judge_trial(trial, refused, ()), transcript=refused)
