"""A server process: started quickly, and reliably ended with all its child processes.

This module does not know MCP, so that a server starts while its client is still being imported.

A server runs in a session of its own. It is ended in bounded steps: its stdin closes, its process
group gets SIGTERM (at once if it does not speak MCP over its pipes and so ignores its stdin), its
process group gets SIGKILL. The group gets SIGKILL even if the server itself ended at once, because
of possible child processes. If harness is killed first, the kernel (on Linux) and the guardian do
the same.
"""

from __future__ import annotations

import errno
import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from harness.base import NotAdmitted, OutOfResources, ServerError, TooBusy
from harness.sessions.identity.delivery import delivery_of
from harness.sessions.processes.guardian import Guardian
from harness.sessions.processes.launchers import inherit_variables
from harness.sessions.processes.server_input import ServerInput
from harness.sessions.processes.stderr import StderrTail
from harness.types import ServerSpec

# EAGAIN is the answer of `fork` at the limit of processes.
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN})
_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def find_shortage(error: BaseException, doing: str) -> OutOfResources | None:
    """Return the error to raise if ``error`` comes from such a shortage, else ``None``.

    ``doing`` says what harness was doing, for the message.
    """
    systems = (each.errno for each in _iterate_causes(error) if isinstance(each, OSError))
    number = next((each for each in systems if each in _SHORTAGES), None)
    if number is None:
        return None
    remedy = " or raise the limit of open files (ulimit -n)" if number in _FILES else ""
    return OutOfResources(
        f"harness ran out of resources while {doing}: {os.strerror(number)} "
        f"({errno.errorcode[number]}). The server is not at fault: lower --concurrency{remedy}"
    )


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield ``error`` and all errors that it wraps or that caused it, the innermost last."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        # `__cause__` and `__context__` are often the same error, and may lead back to one.
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        waiting += [cause for cause in (each.__cause__, each.__context__) if cause is not None]


INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""Environment variables that a server inherits, as in MCP clients; others must be configured.

`inherit_variables` adds those that a download of the server needs."""

EXIT_GRACE_S = 1.5
"""Seconds from closing stdin to SIGTERM: a Python server exits in 0.1 s, ten at once in a second.
"""

TERM_GRACE_S = 0.5
"""Seconds from SIGTERM to SIGKILL: a server that ignores the end of stdin already had time to exit.
"""

REAP_S = 2.0
"""Seconds from SIGKILL to giving up; only a process stuck in the kernel needs this long."""

VANISH_S = 0.25
"""Seconds to wait for killed children to end; the full time passes if no process reaps orphans."""

OBITUARY_S = 0.5
"""Seconds to wait for the exit code of a server that closed its stdout."""

_READ_BYTES = 65_536
_POLL_S = 0.002


class ServerProcess:
    """A running server process: its pipes, its stderr tail, and how it ended (`launch_server`)."""

    def __init__(self, process: Process, stderr: StderrTail, guardian: Guardian) -> None:
        """Manage ``process``, the leader of a process group of its own."""
        assert process.stdin is not None
        self.stdin = ServerInput(process.stdin)
        self.stdout: ByteReceiveStream | None = process.stdout
        self.stderr = stderr
        self._process = process
        self._guardian = guardian
        self._group: int | None = process.pid
        guardian.watch_group(process.pid)

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    def stderr_text(self) -> str:
        """Return the last lines that it wrote on stderr."""
        return self.stderr.get_text()

    async def describe_exit(self) -> str:
        """Return how it ended, ``exited with code 1``, after a short wait if needed."""
        with anyio.move_on_after(OBITUARY_S):
            await self._process.wait()
        code = self._process.returncode
        if code is None:
            return "closed its stdin or stdout while still running"
        if code < 0:
            return f"was killed by {_signal_name(-code)}"
        return f"exited with code {code}"

    async def wait_exited(self) -> None:
        """Wait until it has ended."""
        await self._process.wait()

    async def watch_exit(self) -> None:
        """Wait for the exit, then end the rest of its group, which may hold its pipes open."""
        await self._process.wait()
        self._kill_group()
        if self.stdout is None:
            return
        # Only a process that left the group can still hold the pipe: stop reading.
        await anyio.sleep(REAP_S)
        await self.stdout.aclose()

    async def end(self) -> None:
        """End the server and everything in its group; cannot be cancelled, and is bounded."""
        with anyio.CancelScope(shield=True):
            with suppress(anyio.BrokenResourceError, OSError):
                await self.stdin.aclose()
            if self.stdout is None:
                self._signal_group(signal.SIGTERM)
                await self._exits_within(EXIT_GRACE_S)
            elif not await self._exits_within(EXIT_GRACE_S):
                self._signal_group(signal.SIGTERM)
                await self._exits_within(TERM_GRACE_S)
            self._kill_group()
            if await self._exits_within(REAP_S):
                await self._process.aclose()
                await self.stdin.wait_closed()
                await self._wait_group_gone()
            # Last: it also reads what the server wrote while it was ended.
            self.stderr.close()

    async def _exits_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as tasks:
                # A server that is blocked on a full stdout could not exit by itself.
                tasks.start_soon(self._discard_stdout)
                await self._process.wait()
                tasks.cancel_scope.cancel()
        return self._process.returncode is not None

    async def _wait_group_gone(self) -> None:
        """Wait until the kernel has ended the rest of the group, after the signal."""
        with anyio.move_on_after(VANISH_S), suppress(ProcessLookupError, PermissionError):
            while True:
                # Signal 0 only asks; while the group has a member, its id belongs to nobody else.
                os.killpg(self._process.pid, 0)
                await anyio.sleep(_POLL_S)

    async def _discard_stdout(self) -> None:
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, OSError):
            while self.stdout is not None:
                await self.stdout.receive(_READ_BYTES)

    def _kill_group(self) -> None:
        # Only once: afterwards the id may belong to another process.
        if self._group is not None:
            self._signal_group(signal.SIGKILL)
            self._guardian.release_group(self._group)
            self._group = None

    def _signal_group(self, number: signal.Signals) -> None:
        if self._group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)


@asynccontextmanager
async def launch_server(
    spec: ServerSpec, env: Mapping[str, str], guardian: Guardian, *, with_pipes: bool = True
) -> AsyncGenerator[ServerProcess]:
    """Run the server for the length of the block; ``env`` is added to its configured environment.

    Unless MCP runs ``with_pipes``, its stdout is kept together with its stderr.

    Raises:
        ServerError: it could not be started.
    """
    inherited = inherit_variables(spec, INHERITED, os.environ)
    # The user's variables come last: those of the entry must not replace them.
    env = {**inherited, **spec.transport.env, **env}
    process = await _start_process(spec, env, guardian, with_pipes=with_pipes)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.stderr.read_continuously)
            tasks.start_soon(process.watch_exit)
            try:
                yield process
            finally:
                tasks.cancel_scope.cancel()
    finally:
        await process.end()


async def _start_process(
    spec: ServerSpec, env: Mapping[str, str], guardian: Guardian, *, with_pipes: bool
) -> ServerProcess:
    if spec.transport.command is None:
        has_url = spec.transport.url is not None
        wrong = "has a url, is reached over stdio, and" if has_url else "is reached over stdio and"
        raise ServerError(f"server {spec.name!r} {wrong} has no command to start")
    if obstacle := _find_obstacle(spec.transport.command, spec.transport.cwd, env):
        raise ServerError(f"server {spec.name!r} {obstacle}")
    starting = f"starting server {spec.name!r}"
    try:
        # A pipe of our own, which `StderrTail` can read at any moment without waiting.
        stderr_read, stderr_write = os.pipe()
    except OSError as error:
        raise find_shortage(error, starting) or ServerError(
            f"server {spec.name!r} could not be started: {error}"
        ) from error
    try:
        await guardian.start()
        # A cancellation between the fork and its return would leave an untracked process.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [*build_death_prefix(), spec.transport.command, *spec.transport.args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if with_pipes else stderr_write,
                stderr=stderr_write,
                cwd=spec.transport.cwd,
                env=env,
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        os.close(stderr_read)
        raise find_shortage(error, starting) or ServerError(
            f"server {spec.name!r} could not be started: {error}"
        ) from error
    except BaseException:
        os.close(stderr_read)
        raise
    finally:
        # As long as harness holds this end, too, the end of the stderr is never seen.
        os.close(stderr_write)
    return ServerProcess(process, StderrTail(stderr_read), guardian)


def _find_obstacle(command: str, cwd: str | None, env: Mapping[str, str]) -> str | None:
    """Return why the command cannot start: afterwards the system only says "no such file"."""
    folder = Path(cwd or ".")
    if not folder.is_dir():
        problem = "is not a directory" if folder.exists() else "does not exist"
        return f"could not be started: its working directory {cwd} {problem}"
    # A relative path counts from the server's folder, not from that of harness.
    path = folder / command
    if "/" in command:
        where = f"(looked for in {folder.absolute()})"
        found = os.access(path, os.X_OK) and path.is_file()
    else:
        search = env.get("PATH", os.defpath)
        where = f"in PATH ({search})"
        found = shutil.which(command, path=search) is not None
    if found:
        return None
    if not path.exists():
        problem = f"was not found {where}"
    elif "/" not in command:
        problem = f"was not found {where}; did you mean './{command}'?"
    else:
        problem = "is a directory" if path.is_dir() else "is not executable"
    return f"could not be started: command {command!r} {problem}"


@functools.cache
def build_death_prefix() -> tuple[str, ...]:
    """Return the command prefix that makes the kernel kill a server when harness dies.

    It covers the moment before the guardian knows the server. Old and reduced versions of
    ``setpriv`` lack the option, so it is tried first.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "KILL", "--")
    try:
        trial = subprocess.run(  # noqa: S603 - the system's own tool, asked for its version
            [*prefix, setpriv, "--version"], capture_output=True, timeout=2, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return prefix if trial.returncode == 0 else ()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


MAX_STARTS = 3
"""Failed starts in a row after which a server is not tried again, if it has started before."""


@dataclass(slots=True)
class ServerStarts:
    """The starts of one server in a run."""

    has_started: bool = False
    """Whether it has started at least once."""
    failure: ServerError | None = None
    """Why it did not start, as long as it never has; the same for every user."""
    needs_initialize: bool = False
    """Whether it ends at the first message that is no ``initialize``."""

    def apply_handshake(self, server: ServerSpec) -> ServerSpec:
        """Return ``server`` with the handshake that it is known to need."""
        return use_older_handshake(server) if self.needs_initialize else server

    def refuse_hopeless(self, failures: int, failure: ServerError | None) -> None:
        """Refuse to start the server again for a user, for whom it failed ``failures`` times.

        Raises:
            ServerError: it is not started again; ``failure``, or that of another user.
        """
        # A refused caller is tried again each time: that is quick, and some cases test it. So is
        # one that came too early: later it may be in time.
        passing = NotAdmitted | OutOfResources | TooBusy
        is_over = failures >= (MAX_STARTS if self.has_started else 1)
        why = failure if is_over else self.failure
        if why is not None and not isinstance(why, passing):
            raise why.copy_for_trial(" (not tried again)")

    def record_success(self) -> None:
        """Record a start."""
        self.has_started, self.failure = True, None

    def record_failure(self, server: ServerSpec, error: ServerError, *, is_general: bool) -> None:
        """Record a failed start; unless it ``is_general``, the user may be why."""
        delivery = delivery_of(server.identity)
        if is_general and not self.has_started and not delivery.has_process_per_user:
            self.failure = error


def use_older_handshake(server: ServerSpec) -> ServerSpec:
    """Return ``server``, to be sent ``initialize`` and nothing before it."""
    return replace(server, transport=replace(server.transport, protocol="legacy"))
