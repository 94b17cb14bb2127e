"""The calls of a case itself: setup before its conversation, teardown after it in any case."""

from __future__ import annotations

from dataclasses import replace

import anyio

from harness.base import canonical_json
from harness.sessions import Session
from harness.types import Case, ScriptedCall, ToolCall, ToolRequest, Transcript, TrialError

TEARDOWN_S = 10.0
"""Seconds for all teardown calls of a trial together; no interrupt cuts them short."""

_ARGUMENT_CHARS = 200
_TEXT_CHARS = 500


class ScriptedCalls:
    """The setup and teardown of one trial, made through the session of its conversation."""

    def __init__(self, case: Case, session: Session) -> None:
        """Prepare; nothing is sent before `set_up`."""
        self._case = case
        self._session = session
        self._setup: list[ToolCall] = []
        self._teardown: list[ToolCall] = []

    async def set_up(self) -> bool:
        """Make the setup calls in order up to the first failure; return whether all succeeded."""
        epoch = anyio.current_time()
        for number, call in enumerate(self._case.setup, start=1):
            self._setup.append(await self._make_call(call, f"setup_{number}", epoch))
            # What follows would be asked of another state than the case describes.
            if self._setup[-1].is_error:
                return False
        return True

    async def tear_down(self) -> None:
        """Make all teardown calls within `TEARDOWN_S`, even if the trial was interrupted."""
        calls, epoch = self._case.teardown, anyio.current_time()
        # Shielded, since data that stays behind would be found by the next trial.
        with anyio.move_on_after(TEARDOWN_S, shield=True):
            for number, call in enumerate(calls, start=1):
                self._teardown.append(await self._make_call(call, f"teardown_{number}", epoch))
        # A call that was cut off is among them: it was sent, but nobody knows what became of it.
        self._teardown += [
            ToolCall(
                tool=call.tool,
                arguments=call.arguments,
                outcome="timeout",
                reply=0,
                text=f"teardown took longer than {TEARDOWN_S:g} s",
            )
            for call in calls[len(self._teardown) :]
        ]

    def complete_transcript(self, transcript: Transcript) -> Transcript:
        """Return ``transcript`` with the calls before and after its conversation."""
        around = replace(
            transcript, setup_calls=tuple(self._setup), teardown_calls=tuple(self._teardown)
        )
        if not (self._setup and self._setup[-1].is_error):
            return around
        made, at = self._setup[-1], self._case.setup[len(self._setup) - 1].at
        arguments = canonical_json(made.arguments)[:_ARGUMENT_CHARS]
        words = f"{made.tool}({arguments}) → {made.outcome}: {made.text[:_TEXT_CHARS]}"
        error = TrialError(
            # A call blocked by harness's own guard rails is not the server's fault.
            kind="harness" if made.outcome == "blocked" else "server",
            message=f"setup failed: {words}{f' ({at})' if at else ''}",
            detail=self._session.stderr_tail() or None,
        )
        return replace(around, stop="error", error=error)

    async def _make_call(self, call: ScriptedCall, request_id: str, epoch: float) -> ToolCall:
        request = ToolRequest(id=request_id, tool=call.tool, arguments=call.arguments)
        # Reply 0: no reply of the model asked for it.
        return await self._session.call(request, reply=0, epoch=epoch)
