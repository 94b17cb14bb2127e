"""Every process that was started ends: stubborn servers, their children, also when harness dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from harness.sessions.pool import open_sessions
from harness.sessions.processes import process
from tests.clock import BOUND_S, PATIENT_S
from tests.end_to_end.warm import warm_python
from tests.often import often
from tests.sessions.http_servers import BAD_HTTP_SERVER
from tests.sessions.servers import BAD_SERVER, ServerFactory, all_gone, all_there, call

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


async def test_a_server_that_leaves_at_the_end_of_its_stdin_is_not_waited_for(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "EXIT_GRACE_S", PATIENT_S)
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(server("ok"), None):
            pass


async def test_a_grandchild_left_behind_is_ended(server: ServerFactory, marker: str) -> None:
    async with open_sessions() as pool, pool.lend_session(server("parent"), None):
        assert all_there(marker, 2)
    assert all_gone(marker)


async def test_a_grandchild_cannot_hold_the_pipe_of_a_crashed_server(
    server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as pool, pool.lend_session(server("parent"), None) as session:
        assert (await call(session, "crash")).outcome == "server_lost"
    assert all_gone(marker)


async def test_a_server_that_ignores_eof_and_sigterm_is_killed_in_time(
    server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as pool, pool.lend_session(server("stubborn"), None):
        assert all_there(marker, 2)
    assert all_gone(marker)


async def test_a_server_that_ignores_eof_may_still_leave_politely(
    server: ServerFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "TERM_GRACE_S", BOUND_S)
    goodbye = tmp_path / "goodbye"
    async with (
        open_sessions() as pool,
        pool.lend_session(server("polite", env={"GOODBYE": str(goodbye)}), None),
    ):
        pass
    assert await anyio.Path(goodbye).read_text() == "goodbye"


async def test_many_stubborn_servers_are_ended_at_the_same_time(
    server: ServerFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them leaves before all were asked to.

    One after the other, the first would be killed.
    """
    monkeypatch.setattr(process, "TERM_GRACE_S", BOUND_S)
    asked = tmp_path / "asked"
    spec = server("together", env={"ASKED": str(asked), "TOGETHER": "4"})
    with anyio.fail_after(BOUND_S / 2):
        async with open_sessions() as pool:
            for user in range(4):
                async with pool.lend_session(spec, {"id": user}):
                    pass
    assert await anyio.Path(asked).read_text() == "xxxx"


async def test_cancellation_leaves_no_process(server: ServerFactory, marker: str) -> None:
    async def wait() -> None:
        async with open_sessions() as pool, pool.lend_session(server("stubborn"), None) as session:
            await call(session, "wait")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        assert await anyio.to_thread.run_sync(all_there, marker, 2)
        tasks.cancel_scope.cancel()
    assert all_gone(marker)


async def test_cancellation_during_the_start_leaves_no_process(
    server: ServerFactory, marker: str
) -> None:
    for delay in (0, 0.001, 0.01, 0.05):
        with anyio.move_on_after(delay):
            async with open_sessions() as pool, pool.lend_session(server("hang"), None):
                pass
        assert all_gone(marker)


async def test_an_error_leaves_the_pool_as_it_is_and_not_in_a_group(server: ServerFactory) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_sessions() as pool, pool.lend_session(server("ok"), None):
            raise ZeroDivisionError


PARENT = """
import anyio, sys
from harness.sessions.pool import open_sessions
from harness.sessions.processes import process
from harness.types import ServerSpec, TransportSpec

if sys.argv[4] == "guardian alone":
    process._dying_with_us = lambda: ()

async def main() -> None:
    transport = "http" if sys.argv[4] == "over HTTP" else "stdio"
    args = ("-I", "-S", *sys.argv[1:4])
    reached = TransportSpec(kind=transport, command=sys.executable, args=args, protocol="legacy")
    spec = ServerSpec(name="s", transport=reached)
    async with open_sessions() as pool, pool.lend_session(spec, None):
        print("ready", flush=True)
        await anyio.sleep(60)

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("means", "server", "processes"),
    often(
        [
            ("all means", (BAD_SERVER, "stubborn"), 3),
            ("guardian alone", (BAD_SERVER, "stubborn"), 3),
            ("over HTTP", (BAD_HTTP_SERVER, "ignores_sigterm"), 2),
        ]
    ),
)
@pytest.mark.parametrize("number", often([signal.SIGKILL, signal.SIGTERM]))
def test_no_process_survives_a_harness_that_is_killed(
    tmp_path: Path,
    marker: str,
    means: str,
    server: tuple[Path, str],
    processes: int,
    number: signal.Signals,
) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    python = sys.executable if means == "all means" else warm_python()
    command = [python, str(program), str(server[0]), server[1], marker, means]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        assert all_there(marker, processes)
        parent.send_signal(number)
        parent.wait(BOUND_S)
    assert all_gone(marker)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_guardian_outlives_every_signal_of_a_terminal_and_ends_with_its_pipe(
    marker: str,
) -> None:
    script = ROOT / "harness" / "sessions" / "processes" / "guardian_script.py"
    sleeper = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", marker]
    with (
        subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), marker], stdin=subprocess.PIPE
        ) as guardian,
        subprocess.Popen(sleeper, start_new_session=True) as listed,
        subprocess.Popen(sleeper, start_new_session=True) as released,
    ):
        assert guardian.stdin is not None
        guardian.stdin.write(f"+{listed.pid}\n+{released.pid}\n-{released.pid}\n".encode())
        guardian.stdin.flush()
        status = Path(f"/proc/{guardian.pid}/status")
        deadline = time.monotonic() + BOUND_S
        while (
            _ignored(status) & 0b100_0000_0000_0011 != 0b100_0000_0000_0011
        ):  # SIGHUP 1, SIGINT 2, SIGTERM 15
            assert time.monotonic() < deadline
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guardian.pid, number)
        assert guardian.poll() is None
        guardian.stdin.close()
        assert guardian.wait(BOUND_S) == 0
        assert listed.wait(BOUND_S) == -signal.SIGKILL
        assert released.poll() is None
        released.kill()


def _ignored(status: Path) -> int:
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("SigIgn:"))
    return int(line.split()[1], 16)
