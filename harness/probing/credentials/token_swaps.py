"""Calls with another token than the one that opened their session, or with none.

On the wire that is also the session id of another caller. A server that checks a token once, or
keeps the identity of who opened a session, answers as to that one. The newest revision of MCP has
no sessions; a server that also takes the handshake of older ones has them there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.base import HarnessError
from harness.judging import judge_trial
from harness.probing.call_facts import Lines
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials, get_label
from harness.probing.callers import ANONYMOUS, ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Identity, delivery_of
from harness.types import ServerSpec, ToolRequest, Trial

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
        shown = self.then.damage or (
            f"the token of {self.then.name}" if self.then.user_context else "no token"
        )
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
        for then in prober.plan.callers:
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
