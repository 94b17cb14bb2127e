"""One conversation: prompt ↔ model ↔ session, until there is an answer or a limit.

`Conversation.run` carries it out, `Conversation.build_transcript` returns what happened. They are
separate so that a cancelled conversation still has a transcript of everything until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import anyio

from harness.base import ModelError, UsageError, utc_now
from harness.judging import is_kept_from
from harness.models import CallIds, Model, cut_result, restore_ids
from harness.runner.content.given_content import (
    ResultForm,
    attach_files,
    give_media,
    give_reads,
)
from harness.runner.content.opening_prompts import get_opening
from harness.runner.conversation import ENDINGS, Conversation, find_lost_reason, find_usage_limit
from harness.runner.strategies import Strategy
from harness.runner.users import Speaker
from harness.sessions import Session, build_unanswered_call, read_resource
from harness.types import (
    SEARCH,
    AssistantMessage,
    Case,
    Message,
    Outcome,
    PromptGet,
    Reply,
    ResourceRead,
    ScriptedCall,
    Stop,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    Turn,
    Usage,
    UserMessage,
)


class ModelUnderTest:
    """A model in one conversation."""

    def __init__(self, model: Model) -> None:
        """Ask ``model``."""
        self._model = model
        self._ids = CallIds()
        self._given_ids: dict[str, str] = {}  # our id of a call → the model's, where it is another

    async def ask_model(
        self, seen: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the reply to ``seen``, also where it is known only by the error of its API.

        Raises:
            ModelError: there is no reply, and that is not the model's doing.
        """
        try:
            reply = await self._model.answer(restore_ids(seen, self._given_ids), tools, system)
        except ModelError as error:
            # What is too long before any result came from the prompt and the list of tools.
            grown = any(isinstance(message, ToolMessage) for message in seen)
            if error.stop is None or (error.stop == "context_limit" and not grown):
                raise
            return Reply(
                stop=error.stop,
                stop_detail=str(error),
                usage=error.usage,
                attempts=error.attempts,
                waited_s=error.waited_s,
            )
        # Some APIs give calls no id or the same one; each still gets its own ids back.
        own = self._ids.take_all(reply)
        pairs = zip(own.tool_requests, reply.tool_requests, strict=True)
        self._given_ids |= {ours.id: its.id for ours, its in pairs if ours.id != its.id}
        return own


class ModelConversation(Conversation):
    """One case, run with one model and the tools of one session."""

    def __init__(
        self,
        case: Case,
        model: Model,
        session: Session,
        system: str | None = None,
        price: Callable[[Usage], Usage] | None = None,
        speaker: Speaker | None = None,
        strategy: Strategy | None = None,
        results: ResultForm | None = None,
    ) -> None:
        """Prepare; nothing is sent before `run`.

        ``price`` replaces the cost in the usage by a better known one. ``speaker`` plays the user,
        if the case has a simulated one. ``strategy`` changes how the conversation goes; ``results``
        how the model is given them.
        """
        self._form = results or ResultForm()
        system = self._form.marker.explain(system)
        super().__init__(case, session, system, speaker)
        self._model = ModelUnderTest(model)
        self._price = price
        self._strategy = strategy or Strategy()
        self._prompt = system  # `_system` is for the current conversation, with what was recalled
        self._messages: list[Message] = []
        self._fresh_from = 0  # the model does not see earlier messages
        self._unheard: list[str] = []
        self._calls: list[ToolCall] = []
        self._usage = Usage()
        self._replies = 0
        self._awaited = ""  # what the server is asked for before the conversation
        self._deadline: anyio.CancelScope | None = None

    async def run(self) -> None:
        """Converse to the end; model and server errors are put into the transcript, not raised."""
        self._started_at = utc_now()
        self._epoch = anyio.current_time()
        try:
            with anyio.move_on_after(self._timeout_s) as deadline:
                self._deadline = deadline
                self._stop = await self._converse()
        except ModelError as error:
            self._waited_s += error.waited_s
            self._add_usage(error.usage)
            self._record_error(TrialError(kind=error.kind, message=str(error)))
        finally:
            self._latency_s = anyio.current_time() - self._epoch
        if deadline.cancelled_caught and self._replies:
            self._stop = "time_limit"
        elif deadline.cancelled_caught:
            # Without any reply there is nothing to judge the model or the server by.
            within = f"within the case's {self._timeout_s:g} s"
            if self._awaited:
                self._record_server_error(f"the server did not give {self._awaited} {within}")
            else:
                words = f"the model gave no reply {within}"
                self._record_error(TrialError(kind="model", message=words))

    def pass_time(self, seconds: float) -> None:
        """Let ``seconds`` count against the limit of the trial that nobody waited for."""
        if self._deadline is not None:
            self._deadline.deadline -= seconds

    def add_message(self, text: str) -> None:
        """Add ``text`` to the conversation under way; the model reads it with its next request.

        A model that has answered already is asked once more. After a limit has ended the
        conversation, ``text`` is ignored.
        """
        self._unheard.append(text)

    def build_transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""
        calls = [call for call in self._calls if call.tool not in self._form.host_tools]
        facts = {"usage": self._usage, "replies": self._replies}
        return self._describe(self._messages, calls, **facts)

    @property
    def _reply_count(self) -> int:
        return self._replies

    @property
    def _is_spent(self) -> bool:
        return self._replies >= self._case.limits.max_replies

    async def _send_turn(self, place: int, turn: Turn) -> Stop:
        self._session = self._strategy.get_session(place) or self._session
        recalled = ""
        if turn.fresh or place == 0:
            self._fresh_from = len(self._messages)
            opening = await self._strategy.prepare_opening(self._prompt, self._make_call)
            if self._error is not None:
                return "error"
            self._system, recalled = opening.system, opening.recalled
        prompt, media = attach_files(turn.prompt, turn.attach, self._form)
        got = None if place else await self._get_opening(turn.prompt)
        reads = () if place or self._error is not None else await self._read_context()
        said = UserMessage(
            text=prompt,
            media=media,
            opening=got,
            reads=reads,
            fresh=turn.fresh and place > 0,
            recalled=recalled,
        )
        if self._error is not None:
            self._messages.append(said)
            return "error"
        return await self._send_prompt(said)

    async def _get_opening(self, words: str) -> PromptGet | None:
        """Return the server's prompt before ``words``; without it, the trial ends as an error."""
        use = self._case.caller.use_prompt
        if use is None:
            return None
        self._awaited = f"the prompt {use.name}"
        try:
            got = await get_opening(self._session, use, words, self._form, self._epoch)
            if got.outcome != "ok":
                self._record_server_error(f"the prompt {use.name} could not be got: {got.error}")
        except UsageError as error:
            got = PromptGet(use=use, outcome="failed", error=error.message, alone=words == str(use))
            told = f"{error.message}. {error.meant}"
            self._record_error(TrialError(kind="configuration", message=told))
        self._awaited = ""
        return got

    async def _read_context(self) -> tuple[ResourceRead, ...]:
        """Read the resources of the case; a failure that no check asks for ends the trial."""
        reads: list[ResourceRead] = []
        for uri in self._case.caller.context:
            self._awaited = f"the resource {uri}"
            read = await read_resource(self._session, uri, reply=0, epoch=self._epoch)
            media = tuple(replace(one, given=one.kind in self._form.takes) for one in read.media)
            reads.append(replace(read, media=media))
            wanted = read.outcome == "refused" and is_kept_from(uri, self._case)
            if read.outcome != "ok" and not wanted:
                self._record_server_error(f"the resource {uri} could not be read: {read.text}")
                break
        self._awaited = ""
        return tuple(reads)

    def _list_calls(self) -> Sequence[ToolCall]:
        return self._calls

    def _add_last_words(self, text: str) -> None:
        self._messages.append(UserMessage(text=text, said_s=self._elapsed_s()))

    async def _make_call(self, call: ScriptedCall) -> ToolCall:
        """Make a call of the case itself; a call without an answer ends the trial as an error."""
        request = ToolRequest(
            id=f"opening_{len(self._messages)}", tool=call.tool, arguments=call.arguments
        )
        made = await self._session.call(request, reply=0, epoch=self._epoch)
        if made.is_unanswered:
            self._record_server_error(made.text)
        return made

    async def _send_prompt(self, said: UserMessage) -> Stop:
        """Send what the user said, and continue until it is answered."""
        said_s = self._elapsed_s() if self._messages else 0.0
        self._messages.append(replace(said, said_s=said_s))
        self._answer = ""
        while True:
            # What the user said meanwhile is read by the model next.
            now = self._elapsed_s()
            self._messages += [
                UserMessage(text=text, said_s=now, injected=True) for text in self._unheard
            ]
            self._unheard.clear()
            seen = self._messages[self._fresh_from :] if self._fresh_from else self._messages
            asked_s = self._elapsed_s()
            tools = await self._lists.refresh(self._session, self._replies)
            told = give_reads(seen, self._form) if self._case.caller.brings_content else seen
            reply = await self._model.ask_model(told, tools, self._system)
            self._add_reply(reply, asked_s)
            self._strategy.tell()
            if (steering := self._strategy.get_steering(self._replies)) is not None:
                self.add_message(steering)
            if stop := self._limit_after(reply):
                # Calls that will never be sent are recorded: the model did choose them.
                words = f"not sent by harness: {ENDINGS[stop]}"
                self._record_calls(
                    self._build_unanswered(one, SEARCH if one.search else "blocked", words)
                    for one in reply.tool_requests
                )
                return stop
            if not reply.tool_requests:
                self._answer = reply.text
                if self._unheard:
                    continue
                return "refusal" if reply.stop == "refusal" else "answer"
            before = len(self._calls)
            calls = partial(self._execute_calls, reply.tool_requests)
            stop = await self._strategy.execute_calls(calls)
            self._strategy.tell()
            if stop is not None:
                return stop
            # Without its server, whatever the model says next would be no fault of its own.
            lost = self._session.loss_reason or find_lost_reason(self._calls[before:])
            if lost is not None:
                self._record_server_error(lost)
                return "error"
            if self._strategy.ends_with_first_calls:
                return "answer"

    def _add_reply(self, reply: Reply, asked_s: float) -> None:
        said = AssistantMessage(reply=reply, asked_s=asked_s, answered_s=self._elapsed_s())
        self._messages.append(said)
        self._replies += 1
        self._add_usage(reply.usage)
        self._waited_s += reply.waited_s
        self._served_by = reply.served_by or self._served_by
        # Raised only now, so that the reply and its usage are in the transcript.
        if reply.stop == "other":
            detail = reply.stop_detail or "none was given"
            raise ModelError(f"the reply ended for an unknown reason: {detail}", kind="provider")

    def _record_calls(self, calls: Iterable[ToolCall]) -> None:
        """Record the calls of the last reply."""
        made = tuple(calls)
        self._calls += made
        said = self._messages[-1]
        if isinstance(said, AssistantMessage):
            of_host = tuple(call for call in made if call.tool in self._form.host_tools)
            self._messages[-1] = replace(said, host_calls=of_host)

    def _add_usage(self, usage: Usage) -> None:
        self._usage += usage
        if self._price is not None:
            # The sum is priced, since a suite estimates conversations and not replies.
            self._usage = self._price(self._usage)

    def _limit_after(self, reply: Reply) -> Stop | None:
        """Return the limit that this reply exceeded, if any."""
        limits, usage = self._case.limits, self._usage
        if reply.stop in ("max_tokens", "malformed_call", "context_limit"):
            self._answer = reply.text
            return reply.stop
        if limit := find_usage_limit(limits, usage):
            return limit
        goes_on = reply.tool_requests or self._unheard
        if (
            goes_on
            and not self._strategy.ends_with_first_calls
            and self._replies >= limits.max_replies
        ):
            return "reply_limit"
        if len(self._calls) + len(reply.tool_requests) > limits.max_calls:
            return "call_limit"
        return None

    async def _execute_calls(self, requests: Sequence[ToolRequest]) -> None:
        """Send all calls of one reply concurrently, and answer them in the order of requests."""
        # The records of calls that the trial's end cuts off.
        cut_off = "the trial ended before the server answered"
        calls = [self._build_unanswered(request, "timeout", cut_off) for request in requests]
        # To tell below, by identity, which of the records were never replaced.
        unanswered = calls.copy()

        async def send_call(position: int) -> None:
            calls[position] = give_media(
                await self._session.call(
                    requests[position], reply=self._replies, epoch=self._epoch
                ),
                self._form.takes,
            )

        try:
            if len(requests) == 1:
                await send_call(0)
            else:
                async with anyio.create_task_group() as group:
                    for position in range(len(requests)):
                        group.start_soon(send_call, position)
        finally:
            # Even if interrupted, these calls were made.
            now = anyio.current_time() - self._epoch
            self._record_calls(
                replace(call, duration_s=now - call.started_s) if call is cut else call
                for call, cut in zip(calls, unanswered, strict=True)
            )
        answers = (
            ToolAnswer(
                request_id=request.id,
                text=self._tell(call),
                is_error=call.told_as_error,
                media=tuple(one for one in call.media if one.given),
            )
            for request, call in zip(requests, calls, strict=True)
        )
        self._messages.append(ToolMessage(answers=tuple(answers)))

    def _tell(self, call: ToolCall) -> str:
        """Return what the model is told of a result; a search is answered by harness itself."""
        if call.outcome == SEARCH:
            return call.told_text
        most = self._form.most_tokens
        text = call.told_text if most is None else cut_result(call.told_text, most)
        return self._form.marker.mark(text)

    def _build_unanswered(self, request: ToolRequest, outcome: Outcome, words: str) -> ToolCall:
        return build_unanswered_call(
            request, outcome, words, reply=self._replies, epoch=self._epoch
        )
