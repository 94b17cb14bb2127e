"""The calls of a case itself: setup before its conversation, teardown after it in any case."""

from __future__ import annotations

from collections.abc import Iterable
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
        self._error: TrialError | None = None

    async def set_up(self) -> bool:
        """Make the setup calls in order up to the first failure; return whether all succeeded."""
        epoch = anyio.current_time()
        for call in self._case.setup:
            made = await self._make_call(call, f"setup_{len(self._setup) + 1}", epoch)
            self._setup.append(made)
            # What follows would be asked of another state than the case describes.
            if made.is_error:
                self._error = self._explain_failure(made)
                return False
        return True

    async def tear_down(self) -> None:
        """Make all teardown calls within `TEARDOWN_S`, even if the trial was interrupted."""
        calls, epoch = self._case.teardown, anyio.current_time()
        # Shielded, since data that stays behind would be found by the next trial.
        with anyio.move_on_after(TEARDOWN_S, shield=True):
            for call in calls:
                self._teardown.append(
                    await self._make_call(call, f"teardown_{len(self._teardown) + 1}", epoch)
                )
        # A call that was cut off is among them: it was sent, but nobody knows what became of it.
        self._teardown += self._build_unmade(calls[len(self._teardown) :])

    def complete_transcript(self, transcript: Transcript) -> Transcript:
        """Return ``transcript`` with the calls before and after its conversation."""
        around = replace(
            transcript, setup_calls=tuple(self._setup), teardown_calls=tuple(self._teardown)
        )
        return around if self._error is None else replace(around, stop="error", error=self._error)

    async def _make_call(self, call: ScriptedCall, request_id: str, epoch: float) -> ToolCall:
        request = ToolRequest(id=request_id, tool=call.tool, arguments=call.arguments)
        # Reply 0: no reply of the model asked for it.
        return await self._session.call(request, reply=0, epoch=epoch)

    def _build_unmade(self, calls: Iterable[ScriptedCall]) -> list[ToolCall]:
        return [
            ToolCall(
                tool=call.tool,
                arguments=call.arguments,
                outcome="timeout",
                reply=0,
                text=f"teardown took longer than {TEARDOWN_S:g} s",
            )
            for call in calls
        ]

    def _explain_failure(self, made: ToolCall) -> TrialError:
        at = self._case.setup[len(self._setup) - 1].at
        arguments = canonical_json(made.arguments)[:_ARGUMENT_CHARS]
        where = f" ({at})" if at else ""
        return TrialError(
            # A call blocked by harness's own guard rails is not the server's fault.
            kind="harness" if made.outcome == "blocked" else "server",
            message=f"setup failed: {made.tool}({arguments}) → {made.outcome}: "
            f"{made.text[:_TEXT_CHARS]}{where}",
            detail=self._session.stderr_tail() or None,
        )
