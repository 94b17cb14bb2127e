"""One user's open connection to one server, owned by one task from launch to end.

`Connection.run` is that task; everything else may be used from any task. Whatever goes wrong ends
up in one of two places: a failure to open, raised by `Connection.ready` to everyone who waits, or a
loss, told by `Connection.lost` and in the record of each call that was under way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import anyio

from harness.errors import ServerError
from harness.sessions.guardian import Guardian
from harness.sessions.identity import process_env, request_meta
from harness.sessions.process import ServerProcess, launch
from harness.types import JsonObject, ServerSpec, ToolCall, ToolList, ToolRequest

if TYPE_CHECKING:
    from harness.sessions.calls import Caller
    from harness.sessions.stdio import StdioLink

LOST_S = 2.0
"""How long a call whose connection broke waits to learn why; it takes `OBITUARY_S` at most."""

_WORDS_CHARS = 300


class Connection:
    """A `harness.sessions.Session` over a process of its own."""

    def __init__(self, spec: ServerSpec, user_context: JsonObject | None, guardian: Guardian) -> None:
        """Prepare a connection to ``spec`` for ``user_context``; `run` opens it."""
        self._spec = spec
        self._meta = request_meta(spec.identity, user_context)
        self._env = process_env(spec.identity, user_context)
        self._guardian = guardian
        self._process: ServerProcess | None = None
        self._caller: Caller | None = None
        self._tools: ToolList | None = None
        self._failure: ServerError | None = None
        self._lost: str | None = None
        self._last_words = ""
        self._closing = False
        self._opened = anyio.Event()
        self._over = anyio.Event()
        self._concluded = anyio.Event()
        self._ended = anyio.Event()

    @property
    def tools(self) -> ToolList:
        """What this user sees; known once the connection is `ready`."""
        assert self._tools is not None
        return self._tools

    @property
    def lost(self) -> str | None:
        """Why the server is gone, once it is."""
        return self._lost

    def stderr_tail(self) -> str:
        """Return the last lines that the server wrote on stderr."""
        return self._last_words if self._process is None else self._process.stderr.text()

    async def ready(self) -> None:
        """Wait until calls are possible, within ``start_timeout_s``.

        Raises:
            ServerError: they never will be.
        """
        await self._opened.wait()
        if self._failure is not None:
            raise ServerError(str(self._failure), stderr_tail=self._failure.stderr_tail)

    async def call(self, request: ToolRequest, *, turn: int, epoch: float) -> ToolCall:
        """Send one call and return its record (see `harness.sessions.Session.call`)."""
        assert self._caller is not None
        return await self._caller.call(request, turn=turn, epoch=epoch)

    def close(self) -> None:
        """Begin to end the server."""
        self._closing = True
        self._over.set()

    async def closed(self) -> None:
        """Wait until no process is left; bounded by the graces of `harness.sessions.process`."""
        await self._ended.wait()

    async def run(self) -> None:
        """Open the connection, keep it until `close` or its loss, and end the server. Never raises."""
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + self._spec.start_timeout_s) as starting:
                await self._live(starting)
        except ServerError as error:
            self._failure = error
        except Exception as error:  # noqa: BLE001 - whatever escapes the SDK is this server's fault and must not touch others
            self._conclude(f"broke the client: {'; '.join(_leaves(error))}")
        finally:
            self._conclude("was ended by harness")
            self._ended.set()

    async def _live(self, starting: anyio.CancelScope) -> None:
        async with launch(self._spec, self._env, self._guardian) as process:
            self._process = process
            try:
                before = time.perf_counter()
                # The SDK takes half a second to load: the server boots meanwhile, and is not blamed for it.
                from harness.sessions.stdio import connect

                starting.deadline += time.perf_counter() - before
                async with connect(process, self._meta, self._over.set) as link:
                    await self._open(link, starting)
                    if self._caller is not None and self._failure is None:
                        await self._keep(link, process)
            finally:
                self._last_words = process.stderr.text()
                self._process = None

    async def _open(self, link: StdioLink, starting: anyio.CancelScope) -> None:
        from harness.sessions.calls import Caller
        from harness.sessions.listing import list_tools

        assert self._process is not None
        step = "complete the handshake"
        try:
            await link.client.negotiate(self._spec.protocol, self._spec.start_timeout_s)
            step = "list its tools"
            self._tools = await list_tools(link.client.request)
        except ConnectionError:
            self._conclude(f"{link.complaint or await self._process.obituary()} while starting", link.noise)
        except ServerError as error:
            self._conclude(str(error), link.noise)
        except anyio.get_cancelled_exc_class():
            if anyio.current_time() >= starting.deadline:
                self._conclude(f"did not {step} within {self._spec.start_timeout_s:g} s of its start", link.noise)
            raise
        else:
            self._caller = Caller(link.client, self._tools, self._spec, self._when_lost)
            starting.deadline = math.inf
            self._opened.set()

    async def _keep(self, link: StdioLink, process: ServerProcess) -> None:
        await self._over.wait()
        if not self._closing:
            self._conclude(link.complaint or await process.obituary())

    async def _when_lost(self) -> str:
        """Return why the connection broke, once the owning task knows."""
        with anyio.move_on_after(LOST_S):
            await self._concluded.wait()
        return self._lost or f"server {self._spec.name!r} no longer answers"

    def _conclude(self, why: str, noise: str | None = None) -> None:
        """Settle how it ended: as a loss, and as a failure for those who still wait. The first reason stays."""
        if self._concluded.is_set():
            return
        tail = self.stderr_tail()
        self._lost = f"server {self._spec.name!r} {why}{_quoted('its last words', tail.rpartition(chr(10))[2])}"
        if noise is not None:
            self._lost += _quoted("on stdout it wrote what is not MCP", noise)
        if not self._opened.is_set() and self._failure is None:
            self._failure = ServerError(self._lost, stderr_tail=tail)
        self._concluded.set()
        self._opened.set()


def _quoted(label: str, text: str) -> str:
    text = text.strip()
    return f"; {label}: {text[:_WORDS_CHARS]}" if text else ""


def _leaves(error: BaseException) -> Iterator[str]:
    """Yield the errors that exception groups wrap."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield f"{type(error).__name__}: {error}"
