"""The pool of all sessions of a run: sharing, starting and ending of server processes.

What happens in which situation:

- several trials of one server and user: they share one connection, also while it starts
- the connection was lost: the next loan starts a new connection
- ``isolation: case``: each loan has its own connection, which ends with the loan
- the same, but no request was sent to the server: the next loan gets this connection
- the same, and the server has a ``reset`` call: it is reset for the next loan
- ``isolation: none``: all users share one connection, and each request names its user
- a server does not start: everyone who waits gets the error, also those that wait for a free
  process, and each later loan at once
- the same, but it started before: the next loan tries again, up to `MAX_STARTS` times in a row
- a server ends at the first message that is no ``initialize``: it is started again with that
- a server that joins several: a loan of each of them, with one list of tools
- `MAX_PROCESSES` run: the longest idle process ends; if none is idle, wait
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from harness.base import (
    GATE,
    KNOWN,
    LIMITER_OF,
    HarnessError,
    LimitedTarget,
    RequestLimiter,
    ServerError,
    digest_json,
)
from harness.sessions.connection import Connection
from harness.sessions.identity.bearer import Bearers, check_credential, choose_credential
from harness.sessions.identity.delivery import (
    Identity,
    RequestAdditions,
    build_process_env,
    check_identity,
    request_additions,
)
from harness.sessions.joined_servers import JoinedSession, JoinedTools
from harness.sessions.pool_entry import PoolEntry, require_reset, reset_state
from harness.sessions.processes.guardian import Guardian
from harness.sessions.processes.http_servers import Hosts
from harness.sessions.processes.process import ServerStarts
from harness.sessions.session import Session
from harness.sessions.transports.throttle import Throttles
from harness.types import Credential, JsonObject, ServerSpec

if TYPE_CHECKING:
    from harness.sessions.identity.oauth import Person

MAX_PROCESSES = 16
"""Most servers at the same time: a Python server takes 70 MB, and much of a core while it starts.
"""


class Pool:
    """Lends sessions; satisfies `harness.sessions.SessionPool`."""

    def __init__(
        self, owners: TaskGroup, guardian: Guardian, bearers: Bearers, turns: Throttles
    ) -> None:
        """Run connections in ``owners``; ``bearers`` are the users' token sources."""
        self._turns = turns
        self._owners = owners
        self._guardian = guardian
        self._bearers = bearers
        self._hosts = Hosts(owners, guardian, bearers)
        self._seats: dict[tuple[str, str], PoolEntry] = {}
        self._starts: dict[str, ServerStarts] = defaultdict(ServerStarts)
        self._digests: dict[int, tuple[ServerSpec, str]] = {}
        self._joined: dict[tuple[str, ...], JoinedTools] = {}
        self._running = 0
        self._reserved = 0
        self._freed = anyio.Event()

    @asynccontextmanager
    async def lend_session(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> AsyncGenerator[Session]:
        """Lend the session of that user (see `harness.sessions.SessionPool.lend_session`)."""
        async with self.lend_sessions(server, [user_context], credential) as (session,):
            yield session

    @asynccontextmanager
    async def lend_sessions(
        self,
        server: ServerSpec,
        user_contexts: Sequence[JsonObject | None],
        credential: Credential = "valid",
    ) -> AsyncGenerator[list[Session]]:
        """Lend the sessions of several users at once (see `SessionPool.lend_sessions`).

        Borrowers that hold one process and wait for another could block each other forever. So only
        as many borrowers are admitted at once as all their processes fit.
        """
        members, users = server.members or (server,), len(user_contexts)
        needed = sum(1 if one.isolation == "none" else users for one in members)
        lend = self._lend_joined if server.members else self._lend_single
        async with self._reserve_processes(needed, server), AsyncExitStack() as loans:
            yield [
                await loans.enter_async_context(lend(server, user, credential))
                for user in user_contexts
            ]

    @asynccontextmanager
    async def _lend_joined(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential
    ) -> AsyncGenerator[JoinedSession]:
        """Lend the sessions of all members as one."""
        names = [member.name for member in server.members]
        async with AsyncExitStack() as loans:
            sessions = [
                await loans.enter_async_context(
                    self._lend_single(member, user_context, choose_credential(member, credential))
                )
                for member in server.members
            ]
            lists = tuple(session.tools for session in sessions)
            known = (*names, *(tools.digest for tools in lists))
            if known not in self._joined:
                self._joined[known] = JoinedTools(names, lists)
            block = frozenset(server.guard.block)
            yield JoinedSession(names, sessions, self._joined[known], block)

    @asynccontextmanager
    async def _reserve_processes(self, servers: int, server: ServerSpec) -> AsyncGenerator[None]:
        if servers == 1:
            yield
            return
        if servers > MAX_PROCESSES:
            raise ServerError(
                f"server {server.name!r} is needed {servers} times at once, members and users "
                f"counted, and at most {MAX_PROCESSES} servers run at the same time"
            )
        while self._reserved + servers > MAX_PROCESSES:
            await self._freed.wait()
        self._reserved += servers
        try:
            yield
        finally:
            self._reserved -= servers
            self._notify_freed()

    @asynccontextmanager
    async def _lend_single(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential
    ) -> AsyncGenerator[Session]:
        who = Identity(user_context, credential)
        _check_caller(server, who)
        is_shared = server.isolation == "none"
        who = Identity(None) if is_shared else who
        async with self._lend_connection(server, who) as connection:
            yield await connection.open_shared_session(user_context) if is_shared else connection

    @asynccontextmanager
    async def _lend_connection(
        self, server: ServerSpec, identity: Identity
    ) -> AsyncGenerator[Connection]:
        seat = self._get_entry(server, identity)
        seat.loans += 1
        try:
            if server.isolation == "case":
                connection = await self._take_fresh_connection(seat)
            else:
                connection = await self._get_shared_connection(seat)
            try:
                yield connection
            finally:
                if server.isolation == "case":
                    await _give_back(seat, connection)
        finally:
            seat.loans -= 1
            seat.last_used = anyio.current_time()
            self._notify_freed()

    @asynccontextmanager
    async def lend_new_connection(
        self, server: ServerSpec, who: Identity
    ) -> AsyncGenerator[Connection]:
        """Lend a connection of its own; over HTTP, its process may serve others too."""
        _check_caller(server, who)
        connection = await self._start_connection(server, who)
        try:
            await connection.wait_ready()
            yield connection
        finally:
            await connection.end()

    @asynccontextmanager
    async def lend_address(
        self, server: ServerSpec, user_context: JsonObject | None
    ) -> AsyncGenerator[tuple[str, RequestAdditions]]:
        """Lend a server over HTTP to a client of others: its URL, and what a request needs.

        Raises:
            ServerError: it could not be started, or did not listen in time.
        """
        who = Identity(user_context)
        _check_caller(server, who)
        env = build_process_env(server.identity, user_context)
        async with self._hosts.lend_ready(server, env) as host:
            bearer = self._bearers.get_bearer(server, who, host.url)
            added = await request_additions(server.identity, None if bearer else user_context)
            added = await bearer.build_additions() if bearer else added
            headers = {**server.transport.headers, **added.headers}
            yield host.url, RequestAdditions(headers, added.query)

    def has_sent_token(self, text: str) -> bool:
        """Whether ``text`` contains a token that was sent to a server, or a part of one."""
        return self._bearers.shown.is_in(text)

    async def end_idle(self) -> None:
        """End all processes that are not on loan, and wait until they have ended."""
        ending: list[Connection] = []
        for seat in self._seats.values():
            if not seat.loans:
                ending += [*seat.returned, *([seat.connection] if seat.connection else [])]
                seat.returned, seat.connection = [], None
        # All are told first, so that their times to exit run side by side.
        for connection in ending:
            connection.close()
        for connection in ending:
            await connection.wait_closed()

    def prestart(
        self, server: ServerSpec, user_context: JsonObject | None, credential: Credential = "valid"
    ) -> None:
        """Start the server for the next loan in the background, if there is room; never raise."""
        for each in server.members or (server,):
            if self._running < MAX_PROCESSES:
                who = Identity(user_context, choose_credential(each, credential))
                self._owners.start_soon(self._prestart_connection, each, who)

    async def _prestart_connection(self, server: ServerSpec, identity: Identity) -> None:
        # The loan itself meets the same error, and reports it for its trial.
        with suppress(HarnessError):
            _check_caller(server, identity)
            who = Identity(None) if server.isolation == "none" else identity
            seat = self._get_entry(server, who)
            async with seat.lock:
                if seat.connection is None:
                    await seat.require_hope()
                    seat.connection = await self._start_connection(server, who, seat)

    async def _get_shared_connection(self, seat: PoolEntry) -> Connection:
        async with seat.lock:
            connection = seat.connection
            if connection is None or connection.loss_reason is not None:
                await seat.require_hope()
                connection = await self._start_connection(seat.server, seat.identity, seat)
                seat.connection = connection
        await seat.wait_ready(connection)
        return connection

    async def _take_fresh_connection(self, seat: PoolEntry) -> Connection:
        await seat.require_hope()
        server = seat.server
        while seat.returned:
            used = seat.returned.pop()
            if server.reset and await reset_state(used, server.reset):
                return used
            await used.end()
        # No request changed the state of this one, if there is one.
        connection, seat.connection = seat.connection, None
        if connection is None or connection.loss_reason is not None:
            connection = await self._start_connection(server, seat.identity, seat)
        try:
            await seat.wait_ready(connection)
            if server.transport.command is None and server.reset is not None:
                await require_reset(connection, server, server.reset)
        # A cancelled trial, too, must not leave a connection that nobody else knows.
        except BaseException:
            connection.close()
            raise
        return connection

    async def _start_connection(
        self, server: ServerSpec, identity: Identity, seat: PoolEntry | None = None
    ) -> Connection:
        while self._running >= MAX_PROCESSES:
            self._evict_idle()
            await self._freed.wait()
            # Those before it may have waited for the limit of a start, which is not paid twice.
            if seat is not None:
                seat.refuse_hopeless()
        self._running += 1
        starts, turns = self._starts[self._digest_server(server)], self._turns.get_throttle(server)
        known = self._guardian, self._hosts, self._bearers, turns, starts
        connection = Connection(starts.apply_handshake(server), identity, *known)
        self._owners.start_soon(self._run_connection, connection)
        return connection

    async def _run_connection(self, connection: Connection) -> None:
        try:
            await connection.run()
        finally:
            self._running -= 1
            self._notify_freed()

    def _evict_idle(self) -> None:
        """Begin to close the longest idle connection, if any; those kept for reuse first."""
        spare = [seat for seat in self._seats.values() if seat.returned]
        if spare:
            min(spare, key=lambda seat: seat.last_used).returned.pop(0).close()
            return
        idle = [
            (seat.last_used, seat, seat.connection)
            for seat in self._seats.values()
            if seat.connection and seat.connection.loss_reason is None and not seat.loans
        ]
        if idle:
            _, oldest, connection = min(idle, key=lambda one: one[0])
            connection.close()
            oldest.connection = None

    def _notify_freed(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()

    def _get_entry(self, server: ServerSpec, identity: Identity) -> PoolEntry:
        key = (self._digest_server(server), identity.key)
        if key not in self._seats:
            self._seats[key] = PoolEntry(server, identity, self._starts[key[0]])
        return self._seats[key]

    def _digest_server(self, server: ServerSpec) -> str:
        """Return equal text for equal servers; cached, since every trial needs it."""
        known = self._digests.get(id(server))
        if known is None:
            # kept alive, so that its id() is not reused
            known = self._digests[id(server)] = server, digest_json(asdict(server))
        return known[1]


async def _give_back(seat: PoolEntry, connection: Connection) -> None:
    """Keep a server for the next loan if its state is fresh or can be reset, else end it."""
    # Nobody knows what the server still does for a trial that was cut off.
    cut_off = anyio.get_current_task().has_pending_cancellation()
    is_usable = connection.loss_reason is None and not cut_off
    if is_usable and not connection.touched and seat.connection is None:
        seat.connection = connection
    elif is_usable and not connection.unsettled and seat.server.reset is not None:
        seat.returned.append(connection)
    else:
        await connection.end()


def _check_caller(server: ServerSpec, who: Identity) -> None:
    GATE.require_plan([server])
    check_identity(server, who.user_context)
    check_credential(server, who.user_context, who.credential)


@asynccontextmanager
async def open_sessions(
    learn: Callable[[str], None] = KNOWN.add_secret,
    limiter_of: Callable[[LimitedTarget], RequestLimiter] | None = None,
    person: Person | None = None,
) -> AsyncGenerator[Pool]:
    """Open a pool of sessions; all its processes have ended when the block is left.

    ``learn`` gets every new secret, such as a token, before it is used. ``limiter_of`` makes the
    limiters of its servers; by default `LIMITER_OF` does. ``person`` consents to logins by OAuth.

    ```python
    async with open_sessions() as pool, pool.lend_session(server, {"role": "analyst"}) as session:
        print(session.tools)
    ```
    """
    failure: BaseException | None = None
    async with (
        Guardian() as guardian,
        Bearers(guardian, learn, person) as bearers,
        anyio.create_task_group() as owners,
    ):
        try:
            turns = Throttles(limiter_of or LIMITER_OF.get())
            yield Pool(owners, guardian, bearers, turns)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised again below: a task group would wrap it
            failure = error
        finally:
            owners.cancel_scope.cancel()
    if failure is not None:
        raise failure
