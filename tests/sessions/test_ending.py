"""Nothing that was started survives: not its own stubbornness, not its children, not our death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from harness.sessions.pool import open_sessions
from harness.sessions.processes import process
from tests.sessions.http_servers import BAD_HTTP_SERVER
from tests.sessions.servers import BAD_SERVER, ServerFactory, alive, all_gone, all_there, call

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


async def test_a_server_that_leaves_at_the_end_of_its_stdin_is_not_waited_for(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "EXIT_GRACE_S", 10)
    async with open_sessions() as pool, pool.session(server("ok"), None):
        before = anyio.current_time()
    assert anyio.current_time() - before < 8


async def test_a_grandchild_left_behind_is_ended(server: ServerFactory, marker: str) -> None:
    async with open_sessions() as pool, pool.session(server("parent"), None):
        assert len(alive(marker)) == 2
    assert all_gone(marker, within_s=2)


async def test_a_grandchild_cannot_hold_the_pipe_of_a_crashed_server(
    server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as pool, pool.session(server("parent"), None) as session:
        with anyio.fail_after(4):
            assert (await call(session, "crash")).outcome == "server_lost"
    assert all_gone(marker, within_s=2)


async def test_a_server_that_ignores_eof_and_sigterm_is_killed_in_time(
    server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as pool, pool.session(server("stubborn"), None):
        assert len(alive(marker)) == 2
        before = anyio.current_time()
    assert all_gone(marker, within_s=2)
    assert anyio.current_time() - before < 5


async def test_a_server_that_ignores_eof_may_still_leave_politely(
    server: ServerFactory, tmp_path: Path
) -> None:
    goodbye = tmp_path / "goodbye"
    async with (
        open_sessions() as pool,
        pool.session(server("polite", env={"GOODBYE": str(goodbye)}), None),
    ):
        pass
    assert await anyio.Path(goodbye).read_text() == "goodbye"


async def test_many_stubborn_servers_are_ended_at_the_same_time(
    server: ServerFactory, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "EXIT_GRACE_S", 1.5)
    async with open_sessions() as pool:
        for user in range(4):
            async with pool.session(server("stubborn"), {"id": user}):
                pass
        assert all_there(marker, 8, within_s=5)
        before = anyio.current_time()
    assert anyio.current_time() - before < 5  # one after the other they would take 6.8


async def test_cancellation_leaves_no_process(server: ServerFactory, marker: str) -> None:
    with anyio.move_on_after(0.3) as scope:
        async with open_sessions() as pool, pool.session(server("stubborn"), None) as session:
            await call(session, "wait")
    assert scope.cancelled_caught
    assert all_gone(marker, within_s=2)


async def test_cancellation_during_the_start_leaves_no_process(
    server: ServerFactory, marker: str
) -> None:
    for delay in (0, 0.001, 0.01, 0.05):
        with anyio.move_on_after(delay):
            async with open_sessions() as pool, pool.session(server("hang"), None):
                pass
        assert all_gone(marker, within_s=2)


async def test_an_error_leaves_the_pool_as_it_is_and_not_in_a_group(server: ServerFactory) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_sessions() as pool, pool.session(server("ok"), None):
            raise ZeroDivisionError


PARENT = """
import anyio, sys
from harness.sessions.pool import open_sessions
from harness.sessions.processes import process
from harness.types import ServerSpec

if sys.argv[4] == "guardian alone":
    process._dying_with_us = lambda: ()

async def main() -> None:
    transport = "http" if sys.argv[4] == "over HTTP" else "stdio"
    args = ("-I", "-S", *sys.argv[1:4])
    spec = ServerSpec(name="s", command=sys.executable, args=args, protocol="legacy", transport=transport)
    async with open_sessions() as pool, pool.session(spec, None):
        print("ready", flush=True)
        await anyio.sleep(60)

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("means", "server", "processes"),
    [
        ("all means", (BAD_SERVER, "stubborn"), 3),
        ("guardian alone", (BAD_SERVER, "stubborn"), 3),
        ("over HTTP", (BAD_HTTP_SERVER, "ignores_sigterm"), 2),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_survives_a_harness_that_is_killed(
    marker: str, means: str, server: tuple[Path, str], processes: int, number: signal.Signals
) -> None:
    command = [sys.executable, "-c", PARENT, str(server[0]), server[1], marker, means]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        assert len(alive(marker)) == processes
        parent.send_signal(number)
        parent.wait(5)
    assert all_gone(marker, within_s=3)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_guardian_outlives_every_signal_of_a_terminal_and_ends_with_its_pipe(
    marker: str,
) -> None:
    script = ROOT / "harness" / "sessions" / "guardian_script.py"
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
        deadline = time.monotonic() + 5
        while (
            _ignored(status) & 0b100_0000_0000_0011 != 0b100_0000_0000_0011
        ):  # SIGHUP 1, SIGINT 2, SIGTERM 15
            assert time.monotonic() < deadline
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guardian.pid, number)
        assert guardian.poll() is None
        guardian.stdin.close()
        assert guardian.wait(5) == 0
        assert listed.wait(5) == -signal.SIGKILL
        assert released.poll() is None
        released.kill()


def _ignored(status: Path) -> int:
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("SigIgn:"))
    return int(line.split()[1], 16)
