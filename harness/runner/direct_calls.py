"""The calls of a case in place of a conversation: no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio

from harness.base import utc_now
from harness.runner.conversation import Conversation
from harness.sessions import Session, build_unanswered_call
from harness.types import Case, Stop, ToolCall, ToolRequest, Transcript, Turn


class DirectCalls(Conversation):
    """One case whose calls are made in their order, whatever the ones before returned."""

    def __init__(self, case: Case, session: Session) -> None:
        """Prepare; nothing is sent before `run`."""
        super().__init__(case, session, None, None)
        self._calls: list[ToolCall] = []
        self._unanswered: ToolCall | None = None  # the record of a call that is under way

    async def run(self) -> None:
        """Make the calls; a server that is lost is put into the transcript, not raised."""
        self._started_at, self._epoch = utc_now(), anyio.current_time()
        try:
            with anyio.move_on_after(self._timeout_s) as deadline:
                self._stop = await self._make_calls()
            if deadline.cancelled_caught:
                self._stop = "time_limit"
        finally:
            self._latency_s = anyio.current_time() - self._epoch
            if (cut := self._unanswered) is not None:
                self._calls.append(replace(cut, duration_s=self._elapsed_s() - cut.started_s))

    async def _make_calls(self) -> Stop:
        for number, call in enumerate(self._case.calls, start=1):
            request = ToolRequest(id=f"call_{number}", tool=call.tool, arguments=call.arguments)
            # Kept if the trial ends meanwhile: it was sent, and nobody knows what became of it.
            words = "the trial ended before the server answered"
            self._unanswered = build_unanswered_call(
                request, "timeout", words, reply=0, epoch=self._epoch
            )
            made = await self._session.call(request, reply=0, epoch=self._epoch)
            self._unanswered = None
            self._calls.append(made)
            await self._lists.refresh(self._session, 0)
            # Calls to a server that is gone would all fail for the same reason.
            lost = self._session.loss_reason or (
                made.text if made.outcome == "server_lost" else None
            )
            if lost is not None:
                self._record_server_error(lost)
                return "error"
        return "answer"

    def build_transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""
        return self._describe((), self._calls)

    def _list_calls(self) -> Sequence[ToolCall]:
        return self._calls

    @property
    def _reply_count(self) -> int:
        return 0

    async def _send_turn(self, place: int, turn: Turn) -> Stop:
        raise AssertionError(f"nobody answers turn {place + 1}: {turn.prompt!r}")

    def _add_last_words(self, text: str) -> None:
        raise AssertionError(f"nobody hears {text!r}")
