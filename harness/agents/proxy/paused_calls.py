"""Calls that wait for their client: a server with a handshake requests input during a call.

A client of revision 2026-07-28 does not get requests during its own request: the question is the
result of its request, and the client repeats the request with the answer. Meanwhile the call to the
server waits here, at most as long as any call.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from harness.sessions import build_refusal
from harness.types import JsonObject

_KEY = "asked"
T = TypeVar("T")


class InputRequired(Exception):
    """The server requests input before it answers; `result` is for the client."""

    def __init__(self, result: JsonObject) -> None:
        """``result`` has the question, and how the call continues."""
        super().__init__("the server asks for more input")
        self.result = result


class PausedCall(Generic[T]):
    """One call, from its beginning to its answer, however many requests of the client it takes."""

    def __init__(self) -> None:
        """Prepare; no request is sent yet."""
        self.state = secrets.token_urlsafe(16)
        """Identifies the call in the client's next request."""
        self._scope = anyio.CancelScope()
        self._lock = anyio.Lock()
        self._turn = anyio.Event()
        self._question: JsonObject | None = None
        self._answer: object = None
        self._answered = anyio.Event()
        self._outcome: list[T] = []

    async def run(self, send: Callable[[], Awaitable[T]]) -> None:
        """Make the call with ``send``."""
        try:
            with self._scope:
                self._outcome.append(await send())
        finally:
            # Also after an error, or whoever waits for the outcome would never learn of it.
            self._turn.set()

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Put a question of the server to the client, and return the client's answer.

        Raises:
            RequestRefused: it gave no answer.
        """
        # A server may ask several things at once; the client gets them one by one.
        async with self._lock:
            self._answered = anyio.Event()
            self._question = {"method": method, "params": params}
            self._turn.set()
            await self._answered.wait()
            if not isinstance(self._answer, Mapping):
                raise build_refusal(f"the client did not answer {method}")
            return self._answer

    def resume(self, responses: object) -> None:
        """Give the client's answer to the server."""
        self._answer = responses.get(_KEY) if isinstance(responses, Mapping) else None
        # Before the answer is given: the server may ask again, or end the call, at once.
        self._question, self._turn = None, anyio.Event()
        self._answered.set()

    async def wait_outcome(self) -> T:
        """Wait for the end of the call; if the wait is cancelled, so is the call.

        Raises:
            Question: the server requests input first.
        """
        try:
            await self._turn.wait()
        except anyio.get_cancelled_exc_class():
            self._scope.cancel()
            raise
        if self._outcome:
            return self._outcome[0]
        assert self._question is not None
        raise InputRequired(
            {
                "resultType": "input_required",
                "inputRequests": {_KEY: self._question},
                "requestState": self.state,
            }
        )


class PausedCalls(Generic[T]):
    """The waiting calls of one session."""

    def __init__(self, tasks: TaskGroup) -> None:
        """Run them in ``tasks``."""
        self._tasks = tasks
        self._waiting: dict[str, PausedCall[T]] = {}

    def resume_or_start(
        self, params: JsonObject, send: Callable[[], Awaitable[T]]
    ) -> PausedCall[T]:
        """Return the call that a request continues, or a new one, made with ``send``."""
        # Taken out: an answer continues its call once, and the same request again begins a new one.
        held = self._waiting.pop(str(params.get("requestState")), None)
        if held is None:
            held = PausedCall()
            self._tasks.start_soon(held.run, send)
        else:
            held.resume(params.get("inputResponses"))
        return held

    def pause(self, held: PausedCall[T]) -> None:
        """Let ``held`` wait for the client's next request."""
        self._waiting[held.state] = held
