"""JSON-RPC with a program over its stdin and stdout, one message a line, one request at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness.agents.json_stream import parse_json_object
from harness.agents.program import Program, describe_exit_code
from harness.base import AgentError
from harness.types import JsonObject

_LONGEST_SHOWN = 200


class RpcRefusal(Exception):
    """A request of the program that gets an error as its answer."""

    def __init__(self, code: int, message: str) -> None:
        """``code`` and ``message`` are those of the JSON-RPC error."""
        super().__init__(message)
        self.code = code
        self.message = message


class JsonRpcConnection:
    """The connection."""

    def __init__(self, program: Program) -> None:
        """Talk to ``program``."""
        self.name = program.name
        """The program, for messages."""
        self.answers: Callable[[str, JsonObject], JsonObject]
        """Returns the result of a request of the program, or raises `RpcRefusal`; must be set."""
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
        await self._send_message({"id": self._asked, "method": method, "params": params})
        while True:
            message = await self._receive_message()
            given = message.get("params")
            told: JsonObject = given if isinstance(given, dict) else {}
            # Asked before the id, because the program numbers its own requests, perhaps as we do.
            if isinstance(message.get("method"), str):
                if "id" in message:
                    await self._answer_request(message["id"], message["method"], told)
                else:
                    self.hears(message["method"], told)
            elif message.get("id") == self._asked:
                return self._get_result(method, message)

    def _get_result(self, method: str, message: JsonObject) -> JsonObject:
        result, error = message.get("result"), message.get("error")
        if isinstance(error, dict):
            more = f" ({json.dumps(error['data'])[:_LONGEST_SHOWN]})" if error.get("data") else ""
            why, stderr = error.get("message"), self._program.stderr.get_text()
            raise AgentError(f"{self.name} refused {method}: {why}{more}", detail=stderr)
        if not isinstance(result, dict):
            raise AgentError(f"{self.name} answered {method} with no object")
        return result

    async def _answer_request(self, number: Any, method: str, params: JsonObject) -> None:
        try:
            answer: JsonObject = {"result": self.answers(method, params)}
        except RpcRefusal as refused:
            answer = {"error": {"code": refused.code, "message": refused.message}}
        await self._send_message({"id": number, **answer})

    async def _send_message(self, message: JsonObject) -> None:
        await self._program.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _receive_message(self) -> JsonObject:
        while b"\n" not in self._buffer:
            data = await self._program.read_chunk()
            if not data:
                ended = describe_exit_code(await self._program.wait_exit_code())
                stderr = self._program.stderr.get_text()
                raise AgentError(f"{self.name} {ended} before it answered", detail=stderr)
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        if not line.strip():
            return {}
        stderr = self._program.stderr.get_text()
        return parse_json_object(
            line.decode("utf-8", "replace"), self.name, "JSON-RPC message", stderr
        )
