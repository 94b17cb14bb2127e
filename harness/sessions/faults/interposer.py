"""Faults in the calls of one trial: `FaultySession` is the one place where they stand.

Every call of a model or of an agent passes it, whatever transport, revision of the protocol or
number of servers lies behind it; the calls that the case itself makes do not. What the server did
stays in the record of the call; what the caller was shown instead stands in `ToolCall.injected`.

Which call a fault hits depends on seed, case, tool and the number of the call in its trial alone:
not on times, and not on other trials. Numbers are given when a call begins, in the order of the
reply that asked for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import anyio

from harness.sessions.call_record import build_unanswered_call
from harness.sessions.faults.alterations import alter_answer, falls_below
from harness.sessions.session import ForeignClient, ForwardedRequest, Session, SessionWrapper
from harness.types import (
    INJECTED,
    UNASKED,
    FaultRule,
    FaultSet,
    Injection,
    JsonObject,
    ToolCall,
    ToolRequest,
)

_INTERNAL_ERROR = -32603
_INVALID_PARAMS = -32602
_RETRY_S = 2.0
"""When a limit of the rate asks to try again, if the fault does not say it."""
_LATE = 0.8
"""Share of the call's limit after which a slow answer comes, if the fault does not say it."""
_CHANGED = "notifications/tools/list_changed"
_NOT_SENT = "harness did not send this call: a fault answered it"


class FaultInjector:
    """The faults of one trial; its sessions share them."""

    def __init__(self, faults: FaultSet, case: str, limit_s: float) -> None:
        """Let ``faults`` happen in a trial of ``case`` whose calls may take ``limit_s`` seconds."""
        self._faults = faults.faults
        self._case = case
        self.limit_s = limit_s
        """Seconds that a call may take."""
        self.gone: set[str] = set()
        """The tools that have disappeared."""
        self.pass_time: Callable[[float], None] = lambda _: None
        """Is told of seconds that count against the limits of the trial, and that nobody waited."""
        self._matching = Counter[int]()  # number of a fault → the calls that it is about, so far
        self._of_tool = Counter[str]()
        self._answers: list[ToolCall] = []

    def choose_fault(self, tool: str) -> FaultRule | None:
        """Return the fault that hits the call of ``tool`` that begins now."""
        self._of_tool[tool] += 1
        found: FaultRule | None = None
        for place, fault in enumerate(self._faults):
            if not fnmatchcase(tool, fault.on):
                continue
            # Also where an earlier one hits: which call is the n-th does not depend on others.
            self._matching[place] += 1
            if found is None and self._hits(fault, place, tool):
                found = fault
        return found

    def _hits(self, fault: FaultRule, place: int, tool: str) -> bool:
        if fault.nth is not None and self._matching[place] != fault.nth:
            return False
        key = (fault.seed, self._case, tool, self._of_tool[tool], place)
        return fault.rate is None or falls_below(fault.rate, key)

    def keep_answer(self, call: ToolCall) -> None:
        """Keep a good answer, for faults that repeat one."""
        if call.outcome == "ok":
            self._answers.append(call)

    def list_earlier(self, reply: int) -> Sequence[ToolCall]:
        """Return the answers to earlier replies; those to the same one may come in any order."""
        earlier = [call for call in self._answers if call.reply < reply]
        return sorted(earlier, key=lambda call: call.reply)


class FaultySession(SessionWrapper):
    """A session in one trial under faults."""

    def __init__(self, session: Session, injector: FaultInjector) -> None:
        """Send through ``session`` what no fault of ``injector`` keeps back."""
        super().__init__(session)
        self._injector = injector
        self._clients: list[ForeignClient] = []

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call, unless a fault answers it; and show what a fault makes of the answer."""
        injector, tool = self._injector, request.tool
        # The case's own calls prepare the trial; a name that no list has is the model's mistake.
        if reply == 0 or self._session.tools.get(tool) is None:
            return await self._session.call(request, reply=reply, epoch=epoch)
        fault = injector.choose_fault(tool)
        if tool in injector.gone:
            fault = FaultRule(do="gone", on=tool)
        if fault is None:
            made = await self._session.call(request, reply=reply, epoch=epoch)
            injector.keep_answer(made)
            return made
        if fault.do in UNASKED:
            made = build_unanswered_call(request, INJECTED, _NOT_SENT, reply=reply, epoch=epoch)
            shown = await self._refuse(fault, request)
            if isinstance(request, ForwardedRequest):
                forward_injection(request, shown)
            return replace(made, injected=shown)
        return await self._send_under(fault, request, reply, epoch)

    async def _refuse(self, fault: FaultRule, request: ToolRequest) -> Injection:
        """Return what the caller is shown of a call that is not sent."""
        words, code, simulated = fault.text, None, 0.0
        if fault.do == "timeout":
            words = words or self._describe_silence()
            simulated = await self._wait(self._injector.limit_s, request)
        elif fault.do == "gone":
            self._remove_tool(request.tool)
            words, code = words or f"Unknown tool: {request.tool}", _INVALID_PARAMS
        elif fault.do == "rate_limit":
            after = _RETRY_S if fault.seconds is None else fault.seconds
            words = words or f"Rate limit exceeded. Try again in {after:g} s."
        elif fault.do == "protocol_error":
            words, code = words or "Internal error", _INTERNAL_ERROR
        else:
            words = words or f"Error executing tool {request.tool}: upstream service unavailable"
        return _build_error(fault, words, error_code=code, simulated_s=simulated)

    async def _send_under(
        self, fault: FaultRule, request: ToolRequest, reply: int, epoch: float
    ) -> ToolCall:
        """Send one call, and show what ``fault`` makes of its answer, if it can."""
        made = await send_and_show(
            self._session,
            request,
            lambda made: self._alter(fault, request, made),
            reply=reply,
            epoch=epoch,
        )
        self._injector.keep_answer(made)
        return made

    async def _alter(
        self, fault: FaultRule, request: ToolRequest, made: ToolCall
    ) -> Injection | None:
        """Return what the caller is shown of ``made``; ``None`` if ``fault`` cannot fire in it."""
        if fault.do == "slow":
            return await self._delay(fault, request, made)
        if made.outcome != "ok":
            return None
        if fault.do == "lost_answer":
            words = "the connection was lost before the answer arrived"
            return _build_error(fault, fault.text or words)
        earlier = self._injector.list_earlier(made.reply)
        altered = alter_answer(fault.do, made, earlier, fault.seed)
        if altered is None:
            return None
        return Injection(
            fault=fault.do,
            rule=fault.words,
            text=altered.text,
            is_error=False,
            structured=altered.structured,
        )

    async def _delay(
        self, fault: FaultRule, request: ToolRequest, made: ToolCall
    ) -> Injection | None:
        """Return an answer as one that comes late; beyond the limit, none comes."""
        limit = self._injector.limit_s
        after = _LATE * limit if fault.seconds is None else fault.seconds
        if made.is_unanswered or made.duration_s >= min(after, limit):
            return None
        simulated = await self._wait(min(after, limit), request, made.duration_s)
        if after >= limit:
            return _build_error(fault, self._describe_silence(), simulated_s=simulated)
        return Injection(
            fault="slow",
            rule=fault.words,
            text=made.text,
            is_error=made.is_error,
            structured=made.structured,
            error_code=made.error_code,
            simulated_s=simulated,
        )

    async def _wait(self, seconds: float, request: ToolRequest, passed: float = 0.0) -> float:
        """Let ``seconds`` pass, of which some have ``passed``; return them if simulated, else 0.

        A program with a clock of its own really waits. A model has none: the trial's deadline comes
        nearer instead.
        """
        if isinstance(request, ForwardedRequest):
            await anyio.sleep(seconds - passed)
            return 0.0
        self._injector.pass_time(seconds - passed)
        # The whole, whatever the server took: equal runs say the same.
        return seconds

    def _describe_silence(self) -> str:
        return f"no answer within {self._injector.limit_s:.3g} s"

    def _remove_tool(self, tool: str) -> None:
        if tool not in self._injector.gone:
            self._injector.gone.add(tool)
            for client in self._clients:
                client.notify(_CHANGED, {})

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request; a list of tools comes back without those that are gone."""
        result = await super().send_request(method, params)
        listed = result.get("tools")
        if method != "tools/list" or not self._injector.gone or not isinstance(listed, list):
            return result
        kept = [tool for tool in listed if _get_name(tool) not in self._injector.gone]
        return {**result, "tools": kept}

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages to a client, which is also told when a tool disappears."""
        self._clients.append(foreign_client)
        return super().forward_messages(foreign_client)


def _get_name(tool: object) -> object:
    return tool.get("name") if isinstance(tool, dict) else None


def _build_error(fault: FaultRule, words: str, **facts: Any) -> Injection:
    return Injection(fault=fault.do, rule=fault.words, text=words, is_error=True, **facts)


async def send_and_show(
    session: Session,
    request: ToolRequest,
    show: Callable[[ToolCall], Awaitable[Injection | None]],
    *,
    reply: int,
    epoch: float,
) -> ToolCall:
    """Send one call by ``session``, and let its caller see of it what ``show`` returns, if any."""
    answers: list[JsonObject] = []
    refusals: list[tuple[int, str, object]] = []
    sent = request
    if isinstance(request, ForwardedRequest):
        # Held until it is known what the client is to get.
        sent = replace(
            request, answered=answers.append, refused=lambda *parts: refusals.append(parts)
        )
    made = await session.call(sent, reply=reply, epoch=epoch)
    shown = await show(made)
    if isinstance(request, ForwardedRequest):
        if shown is not None and (shown.fault != "slow" or shown.is_error):
            forward_injection(request, shown)
        else:
            for answer in answers:
                request.answered(answer)
            for refusal in refusals:
                request.refused(*refusal)
    return made if shown is None else replace(made, injected=shown)


def forward_injection(request: ForwardedRequest, shown: Injection) -> None:
    """Give an agent what it is shown."""
    if shown.error_code is None:
        request.answered(shown.as_result)
    else:
        request.refused(shown.error_code, shown.text, None)
