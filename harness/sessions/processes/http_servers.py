"""HTTP servers: those that harness starts on a port of its choice, and those already running.

A process serves all users of its server and ends with the last of their connections. It is not
shared if identities are sent by its environment, or if each case needs a fresh process.

A server that harness starts: what happens:

- starts: its port is tried until it listens
- exits before that: everyone who waits gets an error that says how it ended
- exits later: its connections are lost; the next one starts it again
- has a port that is taken before it starts: it is not started: another program would answer in its
  place
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskGroup

from harness.base import LOCALHOST, ServerError, bare_url, digest_json, is_localhost
from harness.sessions.identity.bearer import Bearers
from harness.sessions.processes.guardian import Guardian
from harness.sessions.processes.process import (
    OBITUARY_S,
    ServerProcess,
    find_shortage,
    launch_server,
)
from harness.sessions.transports import TRANSPORTS
from harness.types import ServerSpec

PORT = "{port}"
"""Placeholder in a server's arguments, environment and URL for the port that harness chooses."""

POLL_S = 0.02
"""Fewest seconds between attempts to connect to a starting server."""

POLL_SHARE = 0.05
"""Seconds between attempts as a share of the time since the start: an attempt costs as much as a
call, so a server that needs ten seconds to start must not get five hundred of them."""

KNOCK_S = 1.0
"""Seconds for one such attempt."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Host:
    """A server at a URL, with its process if harness starts it."""

    def __init__(
        self, spec: ServerSpec, env: Mapping[str, str], guardian: Guardian, bearers: Bearers
    ) -> None:
        """Prepare to start ``spec``, if it has a command, with ``env`` added to its environment."""
        self.url = spec.transport.url or ""
        self.users: list[Callable[[], None]] = []
        """Callbacks for the exit of the process."""
        self._spec = spec
        self._env = env
        self._guardian = guardian
        self._bearers = bearers
        self._process: ServerProcess | None = None
        self._failure: ServerError | None = None
        self._end: str | None = None
        self._last_words = ""
        self._launched = anyio.Event()
        self._settled = anyio.Event()
        self._over = anyio.Event()
        self._gone = anyio.Event()
        self._ended = anyio.Event()

    @property
    def is_ours(self) -> bool:
        """Whether harness starts it."""
        return self._spec.transport.command is not None

    @property
    def is_starting(self) -> bool:
        """Whether harness starts it and its process is running."""
        return self.is_ours and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether it is ending or has ended."""
        return self._over.is_set()

    def stderr_text(self) -> str:
        """Return the last lines that it wrote to stdout or stderr."""
        return self._last_words if self._process is None else self._process.stderr.get_text()

    async def wait_launched(self) -> None:
        """Wait until the process has started, or has failed to start."""
        if self.is_ours:
            await self._launched.wait()

    async def wait_ready(self) -> str | None:
        """Wait until it listens and return ``None``; if it ends first, return how.

        Raises:
            ServerError: it could not be started.
        """
        if not self.is_ours:
            return None
        await self._settled.wait()
        if self._failure is not None:
            raise self._failure.copy_for_trial()
        return self._end

    async def describe_exit(self) -> str | None:
        """Return how it ended, after a short wait if needed.

        ``None`` if it is alive or was not started by harness.
        """
        if self.is_ours:
            with anyio.move_on_after(OBITUARY_S):
                await self._gone.wait()
        return self._end

    def close(self) -> None:
        """Begin to end the process."""
        self._over.set()

    async def wait_closed(self) -> None:
        """Wait until no process is left."""
        await self._ended.wait()

    async def run(self) -> None:
        """Start the process, keep it until `close` or its exit, and end it. Never raises."""
        try:
            await self._run_process()
        except ServerError as error:
            self._failure = error
        except Exception as error:  # noqa: BLE001 - whatever a URL or a machine brings is this server's fault and must not touch others
            noun = f"server {self._spec.name!r}"
            why = f"{noun} could not be started: {type(error).__name__}: {error}"
            lack = find_shortage(error, f"starting {noun}")
            self._failure = lack or ServerError(why, stderr_tail=self._last_words)
        finally:
            # However it ended, nobody may wait for it forever.
            for event in (self._launched, self._over, self._settled, self._gone, self._ended):
                event.set()

    async def _run_process(self) -> None:
        port = await self._choose_port()
        spec = await self._bearers.fill_issuer(_fill_port(self._spec, port))
        self.url = spec.transport.url or ""
        # Servers that read their port from a variable need no argument for it.
        env = {**({} if "PORT" in spec.transport.env else {"PORT": str(port)}), **self._env}
        async with (
            launch_server(spec, env, self._guardian, with_pipes=False) as process,
            anyio.create_task_group() as tasks,
        ):
            self._process = process
            self._launched.set()
            try:
                tasks.start_soon(self._watch_process, process)
                tasks.start_soon(self._poll_port)
                await self._over.wait()
                tasks.cancel_scope.cancel()
            finally:
                self._last_words = process.stderr.get_text()
                self._process = None

    async def _choose_port(self) -> int:
        """Return a free port, or the one in the URL if no program listens there.

        Raises:
            ServerError: a program does.
        """
        if self._spec.transport.url is None or PORT in self._spec.transport.url:
            # Another program may take the port before the server does; a server that only takes a
            # number leaves no better way.
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port: int = probe.getsockname()[1]
                return port
        host, port = split_address(self._spec.transport.url)
        if await _is_listening(host, port):
            raise ServerError(
                f"server {self._spec.name!r} was not started: another program already listens on "
                f"port {port}; write {PORT} in its url and args, and harness chooses a free one"
            )
        return port

    async def _watch_process(self, process: ServerProcess) -> None:
        await process.wait_exited()
        # Before the events: whoever they wake asks for the reason.
        self._end = await process.describe_exit()
        for event in (self._over, self._settled, self._gone):
            event.set()
        for tell in self.users:
            tell()

    async def _poll_port(self) -> None:
        host, port = split_address(self.url)
        began = anyio.current_time()
        while not await _is_listening(host, port):  # noqa: ASYNC110 - nobody tells us when it does
            await anyio.sleep(max(POLL_S, POLL_SHARE * (anyio.current_time() - began)))
        self._settled.set()


class Hosts:
    """All HTTP servers of a pool."""

    def __init__(self, owners: TaskGroup, guardian: Guardian, bearers: Bearers) -> None:
        """Run processes in ``owners``; ``bearers`` give them their token issuers."""
        self._owners = owners
        self._guardian = guardian
        self._bearers = bearers
        self._shared: dict[str, Host] = {}

    @asynccontextmanager
    async def lend(
        self, spec: ServerSpec, env: Mapping[str, str], on_exit: Callable[[], None]
    ) -> AsyncGenerator[Host]:
        """Lend the server of ``spec``, started with ``env`` if necessary; it may not be ready yet.

        ``on_exit`` is called when its process exits by itself.
        """
        if spec.transport.command is None and not spec.transport.url:
            raise ServerError(
                f"server {spec.name!r} is reached over HTTP and has neither a command nor a url"
            )
        host = await self._get_host(spec, env)
        # Counted before the wait: a user who leaves meanwhile must not end the server.
        host.users.append(on_exit)
        try:
            await host.wait_launched()
            yield host
        finally:
            host.users.remove(on_exit)
            if host.is_ours and not host.users:
                host.close()
                # A cancelled trial waits, too: the next start may need the port.
                with anyio.CancelScope(shield=True):
                    await host.wait_closed()

    @asynccontextmanager
    async def lend_ready(self, spec: ServerSpec, env: Mapping[str, str]) -> AsyncGenerator[Host]:
        """Lend the server of ``spec`` as `lend` does, once it listens.

        Raises:
            ServerError: it could not be started, or does not listen in time.
        """
        async with self.lend(spec, env, lambda: None) as host:
            end: str | None = f"did not listen in {spec.start_timeout_s:g} s"
            with anyio.move_on_after(spec.start_timeout_s):
                end = await host.wait_ready()
                if not host.is_ours and not await _is_listening(*split_address(host.url)):
                    end = f"cannot be reached at {bare_url(host.url)}"
            if end is not None:
                told = f"server {spec.name!r} {end}"
                raise ServerError(told, stderr_tail=host.stderr_text())
            yield host

    async def _get_host(self, spec: ServerSpec, env: Mapping[str, str]) -> Host:
        own = Host(spec, env, self._guardian, self._bearers)
        if own.is_ours:
            if spec.isolation != "case":
                key = digest_json([asdict(spec), dict(env)])
                while (shared := self._shared.get(key)) is not None and shared.is_over:
                    await shared.wait_closed()  # it may occupy a port that its successor needs
                    # Another task that waited as well may have put a new one there.
                    if self._shared.get(key) is shared:
                        del self._shared[key]
                if shared is not None:
                    return shared
                # Nothing was awaited since the look, so no other task starts the same server.
                self._shared[key] = own
            self._owners.start_soon(own.run)
        return own


def split_address(url: str) -> tuple[str, int]:
    """Return the host and the port of ``url``."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 80)


def _fill_port(spec: ServerSpec, port: int) -> ServerSpec:
    transport = TRANSPORTS.get(spec.transport.kind)

    def fill_text(text: str) -> str:
        return text.replace(PORT, str(port))

    return replace(
        spec,
        transport=replace(
            spec.transport,
            url=fill_text(
                spec.transport.url or f"{transport.schemes[0]}://127.0.0.1:{PORT}{transport.path}"
            ),
            args=tuple(fill_text(argument) for argument in spec.transport.args),
            env={name: fill_text(value) for name, value in spec.transport.env.items()},
        ),
    )


async def _is_listening(host: str, port: int) -> bool:
    with anyio.move_on_after(KNOCK_S):
        # A server at `localhost` may listen at only one of its two addresses.
        for place in (host, *(LOCALHOST if is_localhost(host) else ())):
            try:
                stream = await anyio.connect_tcp(place, port)
            except OSError as error:
                if (lack := find_shortage(error, "reaching a server that starts")) is not None:
                    raise lack from error
            else:
                await stream.aclose()
                return True
    return False
