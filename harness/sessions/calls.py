"""One tool call, sent at most once, and its record."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

from harness.base import (
    RequestRefused,
    ServerError,
    TokenPieces,
    Validation,
    find_shortcoming,
    matches_whole,
)
from harness.sessions.call_outcome import classify_error
from harness.sessions.call_record import (
    CallDraft,
    describe_required_input,
    explain_block,
    explain_malformed,
    format_error_data,
)
from harness.sessions.client import McpClient
from harness.sessions.list_changes import ListedTools
from harness.sessions.questions import MOST_QUESTIONS, collect_input
from harness.sessions.refusals import (
    build_rejection,
    has_refusal_code,
    is_refusal_body,
    is_rejection,
)
from harness.sessions.result_content import limit_text, render_result
from harness.sessions.session import (
    LISTEN,
    TRACEPARENT,
    AskableRequest,
    ForeignClient,
    ForwardedRequest,
    Introduction,
    ScrubbedClient,
)
from harness.sessions.side_channels import iterate_side_channels
from harness.sessions.transports.frames import Noise, is_closed, is_no_answer, is_unrecorded
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.throttle import Throttle
from harness.types import (
    JsonObject,
    Outcome,
    ServerSpec,
    SideContent,
    ToolCall,
    ToolList,
    ToolRequest,
)

RECORD_S = 0.05
"""Seconds before the trial's deadline at which a call is abandoned, so that it is still recorded.
"""

_VALIDATED_S = 0.25
"""Seconds before the trial's deadline at which a validation is abandoned; it delays the event loop.
"""

_EXCERPT_CHARS = 500
_MAY_BE_NOISE: frozenset[Outcome] = frozenset({"timeout", "server_lost", "invalid_result"})
"""Outcomes of calls whose answer may have been lost in a server's own output."""
_STRICT = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class CallSender:
    """Makes and records the calls of one connection."""

    def __init__(
        self,
        client: McpClient,
        tools: ToolList,
        spec: ServerSpec,
        when_lost: Callable[[HttpFault | None], Awaitable[str]],
        shown: TokenPieces,
        turns: Throttle,
        noise: Noise,
    ) -> None:
        """Call ``tools`` through ``client``; ``when_lost`` returns why there is no answer.

        What the server writes as ``noise`` during a call is quoted if the call gets no answer.

        The tokens in ``shown`` are removed from every answer first.
        """
        self._shown = shown
        self.client = client
        self.listed = ListedTools(client, tools, spec, turns)
        """The tools that can be called."""
        self._blocked = frozenset(spec.guard.block)
        self._timeout_s = spec.call_timeout_s
        self._refusals = spec.refusals
        self._when_lost = when_lost
        self._turns = turns
        self._noise = noise

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send ``request`` unless a rule forbids it, and return its record."""
        draft = CallDraft(request, reply, anyio.current_time() - epoch)
        unsent = self._find_obstacle(request)
        if unsent is not None:
            return draft.build_record(*unsent)
        # Wrong arguments are sent, too: the server's answer to them is a result of the test.
        checked = self.listed.schemas.validate_arguments(request.tool, request.arguments)
        draft.arguments = await self._validate_in_time(checked)
        noise_before = self._noise.count
        with self.client.collect_messages() as draft.heard:
            made = await self._send_call(draft, epoch)
        if made.outcome not in _MAY_BE_NOISE:
            return made
        return replace(made, text=made.text + self._quote_noise(noise_before))

    def _quote_noise(self, count: int) -> str:
        """Return what the server wrote in place of MCP since it had written ``count`` such texts.

        With several calls at the same time, it may belong to another one.
        """
        return self._shown.redact_text(self._noise.quote_since(count))

    async def _send_call(self, draft: CallDraft, epoch: float) -> ToolCall:
        """Send a call in its turn and return its record, with the messages sent meanwhile."""
        own = {"name": draft.request.tool, "arguments": dict(draft.request.arguments)}
        more = draft.request.more if isinstance(draft.request, ForwardedRequest) else {}
        client = draft.request.client if isinstance(draft.request, AskableRequest) else None
        params: dict[str, Any] = {**more, **own}
        if draft.request.meta:
            params["_meta"] = dict(draft.request.meta)
        base = params
        seconds = self._timeout_s

        async def attempt() -> JsonObject:
            nonlocal seconds
            left = anyio.current_effective_deadline() - draft.record_send(epoch) - RECORD_S
            # Without time left, the trial's deadline has come and cancels the call itself.
            seconds = min(self._timeout_s, left) if left > 0 else self._timeout_s
            sent, progress = draft.exchange, getattr(draft.request, "progress", None)
            try:
                with anyio.fail_after(seconds):
                    return await self.client.request("tools/call", params, sent, progress)
            # However it ends, the way in which it was sent is recorded.
            finally:
                traced = TRACEPARENT in draft.request.meta
                draft.wire = self.client.build_wire(sent, traced=traced)
                frames = sent.request, sent.response
                sent.request, sent.response = map(self._shown.redact_json, frames)

        try:
            async with self.client.answer_during(client):
                result = await self._turns.run_attempt(attempt, draft.record_wait)
            while (given := await _collect_input(draft, result, client)) is not None:
                params = {**given, **base}
                result = await self._turns.run_attempt(attempt, draft.record_wait)
        except MCPError as error:
            return await self._record_error(draft, error, draft.compute_duration())
        except HttpFault as fault:
            return await self._record_fault(draft, fault, draft.compute_duration())
        except TimeoutError:
            why = f"no answer within {seconds:.3g} s"
            return draft.build_record("timeout", why, duration_s=draft.compute_duration())
        took = draft.compute_duration()
        raw, result = result, self._shown.redact_json(result)
        # Redaction returns the same object if it found no token in it.
        draft.echoed = result is not raw
        if isinstance(draft.request, ForwardedRequest):
            draft.request.answered(result)
        if self.client.is_watched:
            draft.came_with = tuple(iterate_side_channels(result))
        return await self._record_result(draft, result, took)

    async def watch(self, known: tuple[SideContent, ...] | None) -> tuple[SideContent, ...]:
        """Watch the session (see `harness.sessions.Session.watch`).

        The data beside tools are not read again if they are ``known``.
        """
        self.client.watch()
        return await self.client.read_side_channels() if known is None else known

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages, without tokens (see `harness.sessions.Session.forward_messages`)."""
        scrubbed = ScrubbedClient(foreign_client, self._shown.redact_json)
        return self.client.forward_messages(scrubbed)

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself, without tokens."""
        said = self.client.introduction
        return replace(
            said,
            instructions=said.instructions and self._shown.redact_text(said.instructions),
            capabilities=self._shown.redact_json(said.capabilities),
        )

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request other than a call, and return its result, without tokens.

        Raises:
            RequestRefused: the server answered with an error, or with HTTP 401, 403 or 407.
            RequestRejected: the server did not take the request as it was written.
            ServerError: there is no answer.
        """

        async def attempt() -> JsonObject:
            with anyio.fail_after(math.inf if method == LISTEN else self._timeout_s):
                return await self.client.request(method, params)

        turns = Throttle() if method == LISTEN else self._turns  # a subscription holds up nobody
        noise_before = self._noise.count
        try:
            result: JsonObject = self._shown.redact_json(await turns.run_attempt(attempt))
            return result  # noqa: TRY300 - as short as it can be
        except TimeoutError as error:
            why = f"server did not answer {method} within {self._timeout_s:g} s"
            raise ServerError(why + self._quote_noise(noise_before)) from error
        except HttpFault as fault:
            if fault.is_refusal and fault.status is not None:
                said = self._shown.redact_text(f"it {fault}")
                raise RequestRefused(
                    f"server refused {method}: {said}", code=fault.status, said=said, data=None
                ) from fault
            raise ServerError(await self._when_lost(fault)) from fault
        except MCPError as error:
            if is_closed(error):
                why = await self._when_lost(None)
                raise ServerError(why + self._quote_noise(noise_before)) from error
            said = self._shown.redact_json({"message": error.message, "data": error.data})
            if is_rejection(error, method):
                raise build_rejection(error, method, said["message"], said["data"]) from error
            raise RequestRefused(
                f"server refused {method}: {said['message']}",
                code=error.code,
                said=said["message"],
                data=said["data"],
            ) from error

    def _find_obstacle(self, request: ToolRequest) -> tuple[Outcome, str] | None:
        """Return the outcome and text of a call that must not be sent, or ``None``."""
        if request.tool in self._blocked:
            return "blocked", explain_block(request.tool)
        allowed = self.listed.allowed
        if allowed is not None and request.tool not in allowed:
            return "blocked", (
                "harness did not send this call: this server is used read-only, and "
                f"{request.tool!r} is not marked as a read-only tool"
            )
        if request.malformed is not None:
            said = f"{explain_malformed(request.malformed)}: {request.malformed[:_EXCERPT_CHARS]}"
            return "invalid_arguments", said
        if (why := find_shortcoming(request.arguments)) is not None:
            return "invalid_arguments", f"harness did not send the arguments: {why}"
        try:
            # The second `encode` finds half a surrogate pair, which UTF-8 cannot hold.
            _STRICT.encode((request.tool, dict(request.arguments))).encode()
        except (TypeError, ValueError, RecursionError) as error:
            return "invalid_arguments", f"the call cannot be written as JSON: {error}"
        return None

    async def _record_error(self, draft: CallDraft, error: MCPError, took: float) -> ToolCall:
        """Record a call that ended in a JSON-RPC error or with the connection.

        Raises:
            RequestRejected: the server did not take the call as it was written. A foreign client
                gets that as its answer.
        """
        if is_closed(error):
            return draft.build_record("server_lost", await self._when_lost(None), duration_s=took)
        if is_no_answer(error.data) or is_unrecorded(error.data):
            return draft.build_record("invalid_result", error.message, duration_s=took)
        said = self._shown.redact_json({"message": error.message, "data": error.data})
        if isinstance(draft.request, ForwardedRequest):
            draft.request.refused(error.code, said["message"], said["data"])
        if is_rejection(error, "tools/call"):
            rejected = build_rejection(error, "tools/call", said["message"], said["data"])
            if not isinstance(draft.request, ForwardedRequest):
                raise rejected
            facts: dict[str, Any] = {"error_code": error.code, "duration_s": took}
            return draft.build_record("server_lost", str(rejected), **facts)
        raw: Any = error.message
        if error.data not in (None, ""):
            raw += f": {format_error_data(error.data)}"
        text = self._shown.redact_text(raw)
        draft.echoed = text is not raw
        coded = has_refusal_code(error.data)
        outcome = self._classify_error(draft, text, code=error.code, coded=coded)
        return draft.build_record(
            outcome,
            limit_text(text),
            error_code=error.code,
            refusal="protocol_error" if outcome == "denied" else None,
            duration_s=took,
            result_bytes=len(text.encode()),
        )

    async def _record_fault(self, draft: CallDraft, fault: HttpFault, took: float) -> ToolCall:
        """Record a call that ended in an HTTP failure or without any answer."""
        said = self._shown.redact_text(f"the server {fault}")
        draft.echoed = self._shown.is_in(str(fault))
        if fault.is_refusal:
            return draft.build_record("denied", said, refusal="http_status", duration_s=took)
        if fault.blames_the_request:
            return draft.build_record("tool_error", said, duration_s=took)
        return draft.build_record("server_lost", await self._when_lost(fault), duration_s=took)

    async def _record_result(self, draft: CallDraft, result: JsonObject, took: float) -> ToolCall:
        """Record a call that was answered with a result, good or bad."""
        content, structured = render_result(result), result.get("structuredContent")
        text, problems = content.text, content.problems
        outcome: Outcome = "ok"
        checked = Validation()
        if result.get("resultType") == "input_required":
            may = isinstance(draft.request, ForwardedRequest)
            text = describe_required_input(result, may_answer=may, rounds=draft.rounds)
            outcome, problems = "tool_error", ()
        elif problems:
            text = f"the server's answer is not a valid MCP result: {'; '.join(problems)}"
            outcome = "invalid_result"
        elif result.get("isError") is True:
            coded = has_refusal_code(structured, text, result.get("_meta"))
            outcome = self._classify_error(draft, text, coded=coded)
        # A result that claims success, and is nothing but a refusal.
        elif is_refusal_body(structured, text) or any(
            matches_whole(pattern, text) for pattern in self._refusals
        ):
            outcome = "denied"
        else:
            # A part cannot be validated in place of the whole result.
            checked = Validation(gave_up=f"only a part of it was read, {content.cut}")
            if content.cut is None:
                checked = await self._validate_in_time(
                    self.listed.schemas.validate_output(
                        draft.request.tool, structured, content.size
                    )
                )
            problems = checked.errors
        return draft.build_record(
            outcome,
            text,
            structured=content.structured,
            media=content.media,
            cut=content.cut,
            refusal="tool_error" if outcome == "denied" else None,
            output_errors=problems,
            result_not_validated=checked.gave_up,
            duration_s=took,
            result_bytes=content.size,
            result_sha256=content.sha256,
        )

    async def _validate_in_time(self, validation: Awaitable[Validation]) -> Validation:
        """Wait for ``validation``, at most until shortly before the trial's deadline.

        So the call is always recorded.
        """
        seconds = anyio.current_effective_deadline() - anyio.current_time() - _VALIDATED_S
        with anyio.move_on_after(max(0.0, seconds)):
            return await validation
        return Validation(gave_up="the trial had no time left for it")

    def _classify_error(
        self, draft: CallDraft, text: str, code: int | None = None, *, coded: bool
    ) -> Outcome:
        tool = draft.request.tool
        return classify_error(
            text,
            tool=tool,
            listed=tool in self.listed.names,
            code=code,
            arguments_valid=not draft.arguments.errors,
            names=self.listed.schemas.collect_names(tool, draft.request.arguments),
            refusals=self._refusals,
            coded=coded,
        )


async def _collect_input(
    draft: CallDraft, result: JsonObject, client: ForeignClient | None
) -> JsonObject | None:
    """Return the input that ``result`` requests, for the next request; ``None``: it is the last."""
    if client is None or result.get("resultType") != "input_required":
        return None
    if draft.rounds > MOST_QUESTIONS:
        return None
    given = await collect_input(result, client)
    draft.rounds += given is not None
    return given
