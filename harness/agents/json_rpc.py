"""JSON-RPC with a program over its stdin and stdout, one message a line, one request at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness.agents.program import Program, how_ended
from harness.base import AgentError, loads
from harness.types import JsonObject

_LONGEST_SHOWN = 200


class Refused(Exception):
    """A request of the program that gets an error as its answer."""

    def __init__(self, code: int, message: str) -> None:
        """``code`` and ``message`` are those of the JSON-RPC error."""
        super().__init__(message)
        self.code = code
        self.message = message


class Lines:
    """The connection."""

    def __init__(self, program: Program) -> None:
        """Talk to ``program``."""
        self.name = program.name
        """The program, for messages."""
        self.answers: Callable[[str, JsonObject], JsonObject]
        """Returns the result of a request of the program, or raises `Refused`; must be set."""
        self.hears: Callable[[str, JsonObject], None]
        """Takes a notification; must be set."""
        self._program = program
        self._buffer = b""
        self._asked = 0

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request and return its result; the program's own requests are answered meanwhile.

        Raises:
            AgentError: the request was refused, the program ended, or its output is not a message.
        """
        self._asked += 1
        self._program.begin_turn()
        await self._send({"id": self._asked, "method": method, "params": params})
        while True:
            message = await self._received()
            given = message.get("params")
            told: JsonObject = given if isinstance(given, dict) else {}
            if isinstance(message.get("method"), str):
                if "id" in message:
                    await self._answer(message["id"], message["method"], told)
                else:
                    self.hears(message["method"], told)
            elif message.get("id") == self._asked:
                return self._result(method, message)

    def _result(self, method: str, message: JsonObject) -> JsonObject:
        result, error = message.get("result"), message.get("error")
        if isinstance(error, dict):
            more = f" ({json.dumps(error['data'])[:_LONGEST_SHOWN]})" if error.get("data") else ""
            raise AgentError(
                f"{self.name} refused {method}: {error.get('message')}{more}",
                detail=self._program.stderr.text(),
            )
        if not isinstance(result, dict):
            raise AgentError(f"{self.name} answered {method} with no object")
        return result

    async def _answer(self, number: Any, method: str, params: JsonObject) -> None:
        try:
            await self._send({"id": number, "result": self.answers(method, params)})
        except Refused as refused:
            error = {"code": refused.code, "message": refused.message}
            await self._send({"id": number, "error": error})

    async def _send(self, message: JsonObject) -> None:
        await self._program.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _received(self) -> JsonObject:
        while b"\n" not in self._buffer:
            data = await self._program.take()
            if not data:
                code = await self._program.code()
                raise AgentError(
                    f"{self.name} {how_ended(code)} before it answered",
                    detail=self._program.stderr.text(),
                )
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        if not line.strip():
            return {}
        try:
            message = loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            shown = json.dumps(line[:_LONGEST_SHOWN].decode("utf-8", "replace"))
            raise AgentError(
                f"{self.name} wrote a line that is no JSON-RPC message: {shown}",
                detail=self._program.stderr.text(),
            )
        return message
