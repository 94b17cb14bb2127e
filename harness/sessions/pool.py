"""All sessions of a run: who shares a process, who gets a new one, and when they end.

| situation                                    | what happens                                          |
|----------------------------------------------|-------------------------------------------------------|
| several trials of one server and user        | they share one connection, also while it starts       |
| the connection was lost                      | the next loan starts a new one                        |
| ``isolation: case``                          | each loan has its own, which ends with it             |
| it does not start                            | everyone who waits is told; the next loan tries again |
| it did not start `MAX_STARTS` times in a row | the next loan is told at once                         |
| `MAX_PROCESSES` run                          | the one longest idle ends; if none is idle, wait      |
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict

import anyio
from anyio.abc import TaskGroup

from harness.canonical import digest
from harness.errors import HarnessError, ServerError
from harness.sessions.connection import Connection
from harness.sessions.guardian import Guardian
from harness.sessions.identity import check_identity, identity_key
from harness.types import JsonObject, ServerSpec

MAX_PROCESSES = 16
"""Servers that run at the same time: a Python server takes 70 MB and much of a core while it boots."""

MAX_STARTS = 3
"""Failures to start in a row after which a server is not tried again: by then it is no accident."""


class _Seat:
    """The place of one server and user in the pool."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.lock = anyio.Lock()
        self.loans = 0
        self.last_used = 0.0
        self.failures = 0
        self.failure: ServerError | None = None
        self.failed: Connection | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it holds a running server for nobody."""
        return self.connection is not None and self.connection.lost is None and not self.loans


class Pool:
    """Lends sessions; satisfies `harness.sessions.SessionPool`."""

    def __init__(self, owners: TaskGroup, guardian: Guardian) -> None:
        """Run connections in ``owners``."""
        self._owners = owners
        self._guardian = guardian
        self._seats: dict[tuple[str, str], _Seat] = {}
        self._digests: dict[int, tuple[ServerSpec, str]] = {}
        self._running = 0
        self._freed = anyio.Event()

    @asynccontextmanager
    async def session(self, server: ServerSpec, user_context: JsonObject | None) -> AsyncGenerator[Connection]:
        """Lend the session of that user (see `harness.sessions.SessionPool.session`)."""
        check_identity(server.identity)
        seat = self._seat(server, user_context)
        seat.loans += 1
        try:
            if server.isolation == "case":
                connection = await self._own(seat, server, user_context)
            else:
                connection = await self._shared(seat, server, user_context)
            try:
                yield connection
            finally:
                if server.isolation == "case":
                    connection.close()
                    await connection.closed()
        finally:
            seat.loans -= 1
            seat.last_used = anyio.current_time()
            self._notify()

    def prestart(self, server: ServerSpec, user_context: JsonObject | None) -> None:
        """Start what the next loan of that user will need, in the background and if there is room. Never raises."""
        if self._running < MAX_PROCESSES:
            self._owners.start_soon(self._prestart, server, user_context)

    async def _prestart(self, server: ServerSpec, user_context: JsonObject | None) -> None:
        with suppress(HarnessError):
            check_identity(server.identity)
            seat = self._seat(server, user_context)
            async with seat.lock:
                if seat.connection is None:
                    seat.connection = await self._start(server, user_context)

    async def _shared(self, seat: _Seat, server: ServerSpec, user_context: JsonObject | None) -> Connection:
        async with seat.lock:
            connection = seat.connection
            if connection is None or connection.lost is not None:
                _refuse_hopeless(seat)
                seat.connection = connection = await self._start(server, user_context)
        await self._ready(seat, connection)
        return connection

    async def _own(self, seat: _Seat, server: ServerSpec, user_context: JsonObject | None) -> Connection:
        _refuse_hopeless(seat)
        connection, seat.connection = seat.connection, None  # prestarted, or none
        if connection is None or connection.lost is not None:
            connection = await self._start(server, user_context)
        try:
            await self._ready(seat, connection)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _ready(self, seat: _Seat, connection: Connection) -> None:
        try:
            await connection.ready()
        except ServerError as error:
            if seat.failed is not connection:  # many may wait for one start: it failed once
                seat.failures += 1
                seat.failure, seat.failed = error, connection
            raise
        seat.failures = 0

    async def _start(self, server: ServerSpec, user_context: JsonObject | None) -> Connection:
        while self._running >= MAX_PROCESSES:
            self._evict()
            await self._freed.wait()
        self._running += 1
        connection = Connection(server, user_context, self._guardian)
        self._owners.start_soon(self._run, connection)
        return connection

    async def _run(self, connection: Connection) -> None:
        try:
            await connection.run()
        finally:
            self._running -= 1
            self._notify()

    def _evict(self) -> None:
        """Begin to end the connection that is idle for the longest time, if one is."""
        idle = [seat for seat in self._seats.values() if seat.is_idle]
        if idle:
            oldest = min(idle, key=lambda seat: seat.last_used)
            assert oldest.connection is not None
            oldest.connection.close()
            oldest.connection = None

    def _notify(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()

    def _seat(self, server: ServerSpec, user_context: JsonObject | None) -> _Seat:
        key = (self._digest(server), identity_key(user_context))
        seat = self._seats.get(key)
        if seat is None:
            seat = self._seats[key] = _Seat()
        return seat

    def _digest(self, server: ServerSpec) -> str:
        """Return equal text for equal servers; made once for each, since every trial asks."""
        known = self._digests.get(id(server))
        if known is None:
            known = self._digests[id(server)] = server, digest(asdict(server))  # kept alive, or its id would be reused
        return known[1]


def _refuse_hopeless(seat: _Seat) -> None:
    if seat.failures >= MAX_STARTS:
        assert seat.failure is not None
        raise ServerError(f"{seat.failure} (not tried again)", stderr_tail=seat.failure.stderr_tail)


@asynccontextmanager
async def open_pool() -> AsyncGenerator[Pool]:
    """Run a pool for the length of the block; whatever it started is gone afterwards."""
    failure: BaseException | None = None
    async with Guardian() as guardian, anyio.create_task_group() as owners:
        try:
            yield Pool(owners, guardian)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised again below: a task group would wrap it
            failure = error
        finally:
            owners.cancel_scope.cancel()
    if failure is not None:
        raise failure
