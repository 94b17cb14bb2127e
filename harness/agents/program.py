"""An agent's program under a supervisor: its output is bounded, and all its processes are ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from harness.agents.workplace import Workplace
from harness.base import AgentError, load_json
from harness.sessions import StderrTail, wait_closed
from harness.types import JsonObject, dataclass

END_S = 4.0
"""Seconds for the supervisor to end everything; it needs milliseconds."""
_SCRIPT = Path(__file__).with_name("supervisor_script.py")
# As in a shell, and in the supervisor.
_SIGNALLED, _NOT_STARTED = 128, 127


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedProgram:
    """A program that has ended."""

    name: str
    """The program, for messages."""
    code: int
    """Its exit code; 128 + N if signal N ended it."""
    out: str = field(repr=False)
    """What it wrote on stdout."""
    stderr: str = field(repr=False)
    """The last lines that it wrote on stderr."""

    def build_error(self, why: str | None = None) -> AgentError:
        """Return the error for a program that ended this way; ``why`` is its own explanation."""
        told = f"{self.name} {describe_exit_code(self.code)}" + (f": {why}" if why else "")
        # Some programs write their errors on stdout.
        return AgentError(told, detail=self.stderr or self.out[-_TAIL:])


_TAIL = 2_000


class Program:
    """A running program; made by `launch_program`."""

    def __init__(self, name: str, process: Process, stderr: StderrTail, most_bytes: int) -> None:
        """Read at most ``most_bytes`` of its stdout at a time; see `read_chunk`."""
        assert process.stdin is not None
        assert process.stdout is not None
        self.name = name
        self.stdin: ByteSendStream = process.stdin
        self.stderr = stderr
        self._stdout: ByteReceiveStream = process.stdout
        self._process = process
        self._most_bytes = most_bytes
        self._read = 0

    async def read_chunk(self) -> bytes:
        """Return the next bytes of its stdout; empty at the end.

        Raises:
            AgentError: it has written more than the limit since the last `begin_turn`.
        """
        try:
            data = await self._stdout.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return b""
        self._read += len(data)
        if self._read > self._most_bytes:
            more = f"more than {self._most_bytes / 1e6:g} MB on stdout"
            told = f"{self.name} wrote {more}, and was ended (max_output_mb)"
            raise AgentError(told, detail=self.stderr.get_text())
        return data

    def begin_turn(self) -> None:
        """Count its output from zero."""
        self._read = 0

    async def send(self, data: bytes) -> None:
        """Write to its stdin; bytes that it does not read are lost."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self.stdin.send(data)

    async def wait_exit_code(self) -> int:
        """Wait for its end, and return its exit code."""
        return await self._process.wait()


@asynccontextmanager
async def launch_program(command: Sequence[str], place: Workplace) -> AsyncGenerator[Program]:
    """Run ``command`` within the block; no process that it started outlives the block.

    Raises:
        AgentError: it cannot be started.
    """
    name = Path(command[0]).name
    # Looked for in advance, because the supervisor starts even if the program does not.
    if shutil.which(command[0], path=place.env.get("PATH", os.defpath)) is None:
        raise AgentError(f"there is no program {command[0]!r}")
    lifeline_read, lifeline = os.pipe()
    stderr_read, stderr_write = os.pipe()
    stderr = StderrTail(stderr_read)
    try:
        # A cancellation between the fork and its return would leave an untracked process.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [sys.executable, "-I", "-S", str(_SCRIPT), str(lifeline_read), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr_write,
                cwd=place.work,
                env=place.env,
                # A group of its own, for the last resort of `_end_process`.
                start_new_session=True,
                pass_fds=(lifeline_read,),
            )
    except (OSError, ValueError) as error:
        os.close(lifeline)
        stderr.close()
        raise AgentError(f"{name} could not be started: {error}") from error
    finally:
        os.close(lifeline_read)
        os.close(stderr_write)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stderr.read_continuously)
            try:
                yield Program(name, process, stderr, place.most_bytes)
            finally:
                tasks.cancel_scope.cancel()
    finally:
        # The order to the supervisor: it kills the agent and ends.
        os.close(lifeline)
        with anyio.CancelScope(shield=True):
            await _end_process(process)
        stderr.close()


async def _end_process(process: Process) -> None:
    with anyio.move_on_after(END_S):
        await process.wait()
    if process.returncode is None:
        # The supervisor is stuck. On Linux its end kills the agent, too.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.move_on_after(END_S):
            await process.wait()
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, OSError):
        await process.stdin.aclose()
    # `aclose` waits for the end of the process, without a limit.
    if process.returncode is not None:
        await process.aclose()
        await wait_closed(process.stdin)


async def run_program(command: Sequence[str], place: Workplace, said: str = "") -> FinishedProgram:
    """Run ``command`` to its end, with ``said`` on its stdin.

    Raises:
        AgentError: it cannot be started, or wrote more than the limit.
    """
    out = bytearray()
    async with launch_program(command, place) as program:
        async with anyio.create_task_group() as tasks:

            async def write_input() -> None:
                await program.send(said.encode())
                await program.stdin.aclose()

            # A program may write before it has read: both pipes have to move at the same time.
            tasks.start_soon(write_input)
            while data := await program.read_chunk():
                out += data
            code = await program.wait_exit_code()
            # A program that ended without reading its stdin leaves the writer waiting.
            tasks.cancel_scope.cancel()
        printed, stderr = out.decode("utf-8", "replace"), program.stderr.get_text()
        return FinishedProgram(name=program.name, code=code, out=printed, stderr=stderr)


def describe_exit_code(code: int) -> str:
    """Return ``exited with code 1`` or ``was killed by SIGKILL``."""
    if code == _NOT_STARTED:
        return "could not be started"
    if code > _SIGNALLED:
        with suppress(ValueError):
            return f"was killed by {signal.Signals(code - _SIGNALLED).name}"
    return f"exited with code {code}"


_LONGEST_SHOWN = 200
_MOST = 10**12
"""Most tokens of a turn; a larger or negative count is treated as unknown."""


def parse_json_object(line: str, name: str, what: str, stderr: str) -> JsonObject:
    """Return the object that ``line``, written by the program ``name``, is.

    Raises:
        AgentError: it is none; the message says that it is no ``what``.
    """
    try:
        value = load_json(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        # As JSON, which shows control characters instead of sending them to the terminal.
        shown = json.dumps(line[:_LONGEST_SHOWN])
        raise AgentError(f"{name} wrote a line that is no {what}: {shown}", detail=stderr)
    return value


def parse_json_lines(done: FinishedProgram) -> Iterator[JsonObject]:
    """Yield each JSON object that ``done`` wrote on stdout.

    Raises:
        AgentError: a line is not a JSON object, or there is no output.
    """
    lines = [line for line in done.out.splitlines() if line.strip()]
    if not lines:
        raise done.build_error("it wrote nothing on stdout")
    for line in lines:
        yield parse_json_object(line, done.name, "JSON object", done.stderr)


def parse_token_count(value: Any) -> int | None:
    """Return a number of tokens; ``None`` if ``value`` is not one."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MOST else None


def filter_texts(value: Any) -> list[str]:
    """Return the texts of a list; empty for anything else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
