"""One tool call, sent at most once, and its record."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

from harness.base import (
    RequestRefused,
    ServerError,
    TokenPieces,
    Validation,
    matches_whole,
    shortcoming,
)
from harness.sessions.beside import asides_of
from harness.sessions.call_draft import Draft
from harness.sessions.call_outcome import classify
from harness.sessions.call_words import input_required, text_of, why_malformed
from harness.sessions.client import McpClient
from harness.sessions.content import bounded, render
from harness.sessions.forwarding import (
    LISTEN,
    ForeignClient,
    ForwardedRequest,
    ScrubbedClient,
    TellProgress,
)
from harness.sessions.refusals.codes import has_refusal_code, is_refusal_body
from harness.sessions.session import Introduction
from harness.sessions.tool_schemas import ToolSchemas
from harness.sessions.trace_context import TRACEPARENT
from harness.sessions.transports.frames import is_closed, is_no_answer
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.noise import Noise
from harness.sessions.transports.rejected_requests import is_rejection, rejection
from harness.sessions.transports.turns import Turns
from harness.types import (
    Aside,
    JsonObject,
    Outcome,
    ServerSpec,
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
        turns: Turns,
        noise: Noise,
    ) -> None:
        """Call ``tools`` through ``client``; ``when_lost`` returns why there is no answer.

        What the server writes as ``noise`` during a call is quoted if the call gets no answer.

        The tokens in ``shown`` are removed from every answer first.
        """
        self._shown = shown
        self._client = client
        self._schemas = ToolSchemas(tools)
        self._listed = frozenset(tool.name for tool in tools.tools)
        self._allowed = (
            {tool.name for tool in tools.tools if tool.read_only} if spec.guard.read_only else None
        )
        self._blocked = frozenset(spec.guard.block)
        self._timeout_s = spec.call_timeout_s
        self._refusals = spec.refusals
        self._when_lost = when_lost
        self._turns = turns
        self._noise = noise

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send ``request`` unless a rule forbids it, and return its record."""
        draft = Draft(request, reply, anyio.current_time() - epoch)
        unsent = self._unsent(request)
        if unsent is not None:
            return draft.record(*unsent)
        checked = self._schemas.arguments(request.tool, request.arguments)
        draft.arguments = await self._before_the_end(checked)
        noise_before = self._noise.count
        with self._client.listening() as draft.heard:
            made = await self._sent(draft, epoch)
        if made.outcome not in _MAY_BE_NOISE:
            return made
        return replace(made, text=made.text + self._noise_since(noise_before))

    def _noise_since(self, count: int) -> str:
        """Return what the server wrote in place of MCP since it had written ``count`` such texts.

        With several calls at the same time, it may belong to another one.
        """
        return self._shown.text(self._noise.quote_since(count))

    async def _sent(self, draft: Draft, epoch: float) -> ToolCall:
        """Send a call in its turn and return its record, with the messages sent meanwhile."""
        params: dict[str, Any] = {
            "name": draft.request.tool,
            "arguments": dict(draft.request.arguments),
        }
        if isinstance(draft.request, ForwardedRequest):
            params = {**draft.request.more, **params}
        if draft.request.meta:
            params["_meta"] = dict(draft.request.meta)
        seconds = self._timeout_s

        async def attempt() -> JsonObject:
            nonlocal seconds
            left = anyio.current_effective_deadline() - draft.send(epoch) - RECORD_S
            # Without time left, the trial's deadline has come and cancels the call itself.
            seconds = min(self._timeout_s, left) if left > 0 else self._timeout_s
            with anyio.fail_after(seconds), self._noting_wire(draft):
                return await self._client.request(
                    "tools/call", params, draft.exchange, _progress_of(draft.request)
                )

        try:
            result = await self._turns.send(attempt, draft.wait)
        except MCPError as error:
            return await self._failed(draft, error, draft.took())
        except HttpFault as fault:
            return await self._unanswered(draft, fault, draft.took())
        except TimeoutError:
            why = f"no answer within {seconds:.3g} s"
            return draft.record("timeout", why, duration_s=draft.took())
        took = draft.took()
        clean = self._shown.json(result)
        draft.echoed = clean is not result
        result = clean
        if isinstance(draft.request, ForwardedRequest):
            draft.request.answered(result)
        if self._client.is_watched:
            draft.came_with = tuple(asides_of(result))
        return await self._answered(draft, result, took)

    @contextmanager
    def _noting_wire(self, draft: Draft) -> Iterator[None]:
        """Record how a call was sent, however it ends."""
        try:
            yield
        finally:
            sent = draft.exchange
            draft.wire = self._client.wire(sent, traced=TRACEPARENT in draft.request.meta)
            sent.request, sent.response = map(self._shown.json, (sent.request, sent.response))

    async def watch(self, known: tuple[Aside, ...] | None) -> tuple[Aside, ...]:
        """Watch the session (see `harness.sessions.Session.watch`).

        The data beside tools are not read again if they are ``known``.
        """
        self._client.watch()
        return await self._client.surroundings() if known is None else known

    def forwarding(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages, without tokens (see `harness.sessions.Session.forwarding`)."""
        return self._client.forwarding(ScrubbedClient(foreign_client, self._shown.json))

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself, without tokens."""
        said = self._client.introduction
        return replace(
            said,
            instructions=said.instructions and self._shown.text(said.instructions),
            capabilities=self._shown.json(said.capabilities),
        )

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request other than a call, and return its result, without tokens.

        Raises:
            RequestRefused: the server answered with an error, or with HTTP 401, 403 or 407.
            RequestRejected: the server did not take the request as it was written.
            ServerError: there is no answer.
        """

        async def attempt() -> JsonObject:
            with anyio.fail_after(math.inf if method == LISTEN else self._timeout_s):
                return await self._client.request(method, params)

        turns = Turns() if method == LISTEN else self._turns  # a subscription holds up nobody
        noise_before = self._noise.count
        try:
            result: JsonObject = self._shown.json(await turns.send(attempt))
            return result  # noqa: TRY300 - as short as it can be
        except TimeoutError as error:
            why = f"server did not answer {method} within {self._timeout_s:g} s"
            raise ServerError(why + self._noise_since(noise_before)) from error
        except HttpFault as fault:
            if fault.refuses and fault.status is not None:
                said = self._shown.text(f"it {fault}")
                raise RequestRefused(
                    f"server refused {method}: {said}", code=fault.status, said=said, data=None
                ) from fault
            raise ServerError(await self._when_lost(fault)) from fault
        except MCPError as error:
            if is_closed(error):
                why = await self._when_lost(None)
                raise ServerError(why + self._noise_since(noise_before)) from error
            said = self._shown.json({"message": error.message, "data": error.data})
            if is_rejection(error, method):
                raise rejection(error, method, said["message"], said["data"]) from error
            raise RequestRefused(
                f"server refused {method}: {said['message']}",
                code=error.code,
                said=said["message"],
                data=said["data"],
            ) from error

    def _unsent(self, request: ToolRequest) -> tuple[Outcome, str] | None:
        """Return the outcome and text of a call that must not be sent, or ``None``."""
        if request.tool in self._blocked:
            return "blocked", _blocked_words(request.tool)
        if self._allowed is not None and request.tool not in self._allowed:
            return "blocked", (
                "harness did not send this call: this server is used read-only, and "
                f"{request.tool!r} is not marked as a read-only tool"
            )
        if request.malformed is not None:
            return (
                "invalid_arguments",
                f"{why_malformed(request.malformed)}: {request.malformed[:_EXCERPT_CHARS]}",
            )
        if (why := shortcoming(request.arguments)) is not None:
            return "invalid_arguments", f"harness did not send the arguments: {why}"
        try:
            _STRICT.encode((request.tool, dict(request.arguments))).encode()
        except (TypeError, ValueError, RecursionError) as error:
            return "invalid_arguments", f"the call cannot be written as JSON: {error}"
        return None

    async def _failed(self, draft: Draft, error: MCPError, took: float) -> ToolCall:
        """Record a call that ended in a JSON-RPC error or with the connection.

        Raises:
            RequestRejected: the server did not take the call as it was written. A foreign client
                gets that as its answer.
        """
        if is_closed(error):
            return draft.record("server_lost", await self._when_lost(None), duration_s=took)
        if is_no_answer(error.data):
            return draft.record("invalid_result", error.message, duration_s=took)
        said = self._shown.json({"message": error.message, "data": error.data})
        if isinstance(draft.request, ForwardedRequest):
            draft.request.refused(error.code, said["message"], said["data"])
        if is_rejection(error, "tools/call"):
            rejected = rejection(error, "tools/call", said["message"], said["data"])
            if isinstance(draft.request, ForwardedRequest):
                return draft.record(
                    "server_lost", str(rejected), error_code=error.code, duration_s=took
                )
            raise rejected
        text = (
            error.message if error.data in (None, "") else f"{error.message}: {text_of(error.data)}"
        )
        clean = self._shown.text(text)
        draft.echoed, text = clean is not text, clean
        coded = has_refusal_code(error.data)
        outcome = self._classified(draft, text, code=error.code, coded=coded)
        return draft.record(
            outcome,
            bounded(text),
            error_code=error.code,
            refusal="protocol_error" if outcome == "denied" else None,
            duration_s=took,
            result_bytes=len(text.encode()),
        )

    async def _unanswered(self, draft: Draft, fault: HttpFault, took: float) -> ToolCall:
        """Record a call that ended in an HTTP failure or without any answer."""
        said = self._shown.text(f"the server {fault}")
        draft.echoed = self._shown.is_in(str(fault))
        if fault.refuses:
            return draft.record("denied", said, refusal="http_status", duration_s=took)
        if fault.blames_the_request:
            return draft.record("tool_error", said, duration_s=took)
        return draft.record("server_lost", await self._when_lost(fault), duration_s=took)

    async def _answered(self, draft: Draft, result: JsonObject, took: float) -> ToolCall:
        """Record a call that was answered with a result, good or bad."""
        content = render(result)
        text, problems = content.text, content.problems
        outcome: Outcome = "ok"
        checked = Validation()
        if result.get("resultType") == "input_required":
            may = isinstance(draft.request, ForwardedRequest)
            text, outcome, problems = input_required(result, may_answer=may), "tool_error", ()
        elif problems:
            text, outcome = (
                f"the server's answer is not a valid MCP result: {'; '.join(problems)}",
                "invalid_result",
            )
        elif result.get("isError") is True:
            coded = has_refusal_code(result.get("structuredContent"), text, result.get("_meta"))
            outcome = self._classified(draft, text, coded=coded)
        elif self._refuses(result.get("structuredContent"), text):
            outcome = "denied"
        else:
            structured = result.get("structuredContent")
            if content.cut is None:  # a part cannot be validated in place of the whole result
                checked = await self._before_the_end(
                    self._schemas.output(draft.request.tool, structured, content.size)
                )
            else:
                checked = Validation(gave_up=f"only a part of it was read, {content.cut}")
            problems = checked.errors
        return draft.record(
            outcome,
            text,
            structured=content.structured,
            unseen=content.unseen,
            cut=content.cut,
            refusal="tool_error" if outcome == "denied" else None,
            output_errors=problems,
            result_not_validated=checked.gave_up,
            duration_s=took,
            result_bytes=content.size,
            result_sha256=content.sha256,
        )

    async def _before_the_end(self, validation: Awaitable[Validation]) -> Validation:
        """Wait for ``validation``, at most until shortly before the trial's deadline.

        So the call is always recorded.
        """
        seconds = anyio.current_effective_deadline() - anyio.current_time() - _VALIDATED_S
        with anyio.move_on_after(max(0.0, seconds)):
            return await validation
        return Validation(gave_up="the trial had no time left for it")

    def _refuses(self, structured: Any, text: str) -> bool:
        """Return whether a result that claims success is nothing but a refusal."""
        return is_refusal_body(structured, text) or any(
            matches_whole(pattern, text) for pattern in self._refusals
        )

    def _classified(
        self, draft: Draft, text: str, code: int | None = None, *, coded: bool
    ) -> Outcome:
        tool = draft.request.tool
        return classify(
            text,
            tool=tool,
            listed=tool in self._listed,
            code=code,
            arguments_valid=not draft.arguments.errors,
            names=self._schemas.names(tool, draft.request.arguments),
            refusals=self._refusals,
            coded=coded,
        )


def blocked_call(request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
    """Return the record of a call that is not sent because its tool is blocked."""
    draft = Draft(request, reply, anyio.current_time() - epoch)
    return draft.record("blocked", _blocked_words(request.tool))


def _blocked_words(tool: str) -> str:
    return f"harness did not send this call: the tool {tool!r} is blocked for this suite"


def _progress_of(request: ToolRequest) -> TellProgress | None:
    return request.progress if isinstance(request, ForwardedRequest) else None
