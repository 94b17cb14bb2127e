"""Calls that wait for their client: a server of the handshake asks while it answers.

A client of revision 2026-07-28 is not asked while its request is under way: the question is the
result of its request, and it makes the request again with the answer. So the call to the server
waits here in between, at most as long as any call.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from harness.sessions.questions import refusal
from harness.types import JsonObject

_KEY = "asked"
T = TypeVar("T")


class Question(Exception):
    """The server asks before it answers; `result` is for the client."""

    def __init__(self, result: JsonObject) -> None:
        """``result`` says what is asked, and how the call goes on."""
        super().__init__("the server asks for more input")
        self.result = result


class HeldCall(Generic[T]):
    """One call, from its beginning to its answer, however many requests of the client it takes."""

    def __init__(self) -> None:
        """Nothing is sent yet."""
        self.state = secrets.token_urlsafe(16)
        """Names the call in the client's next request."""
        self._scope = anyio.CancelScope()
        self._lock = anyio.Lock()
        self._turn = anyio.Event()
        self._question: JsonObject | None = None
        self._answer: object = None
        self._answered = anyio.Event()
        self._outcome: list[T] = []

    async def run(self, send: Callable[[], Awaitable[T]]) -> None:
        """Make the call by ``send``."""
        try:
            with self._scope:
                self._outcome.append(await send())
        finally:
            self._turn.set()

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Put a question of the server to the client, and return the client's answer.

        Raises:
            RequestRefused: it gave none.
        """
        async with self._lock:
            self._answered = anyio.Event()
            self._question = {"method": method, "params": params}
            self._turn.set()
            await self._answered.wait()
            if not isinstance(self._answer, Mapping):
                raise refusal(f"the client did not answer {method}")
            return self._answer

    def go_on(self, responses: object) -> None:
        """Give the server what the client answered."""
        self._answer = responses.get(_KEY) if isinstance(responses, Mapping) else None
        self._question, self._turn = None, anyio.Event()
        self._answered.set()

    async def outcome(self) -> T:
        """Wait for the end of the call; if the wait is cancelled, so is the call.

        Raises:
            Question: the server asks first.
        """
        try:
            await self._turn.wait()
        except anyio.get_cancelled_exc_class():
            self._scope.cancel()
            raise
        if self._outcome:
            return self._outcome[0]
        assert self._question is not None
        raise Question(
            {
                "resultType": "input_required",
                "inputRequests": {_KEY: self._question},
                "requestState": self.state,
            }
        )


class HeldCalls(Generic[T]):
    """The calls of one session that wait."""

    def __init__(self, tasks: TaskGroup) -> None:
        """Run them in ``tasks``."""
        self._tasks = tasks
        self._waiting: dict[str, HeldCall[T]] = {}

    def taken_up(self, params: JsonObject, send: Callable[[], Awaitable[T]]) -> HeldCall[T]:
        """Return the call that a request goes on with, or a new one that ``send`` makes."""
        held = self._waiting.pop(str(params.get("requestState")), None)
        if held is None:
            held = HeldCall()
            self._tasks.start_soon(held.run, send)
        else:
            held.go_on(params.get("inputResponses"))
        return held

    def wait(self, held: HeldCall[T]) -> None:
        """Let ``held`` wait for the client's next request."""
        self._waiting[held.state] = held
