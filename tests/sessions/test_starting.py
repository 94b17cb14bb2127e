"""Servers that do not come up: each a clear error, in bounded time, with no process left."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from harness.base.errors import ServerError
from harness.sessions.pool import open_sessions
from harness.sessions.transports import handshake
from harness.sessions.transports.handshake import HINT
from harness.types import ServerSpec, TransportSpec
from tests.clock import BOUND_S, TIMEOUTS_S
from tests.sessions.bad_server import TOOLS
from tests.sessions.servers import BAD_SERVER, ServerFactory, call

pytestmark = pytest.mark.anyio


async def failure(spec: ServerSpec) -> ServerError:
    """Return how opening ``spec`` fails, and insist that it does so in time and without harm to
    others.
    """
    async with open_sessions() as pool:
        with anyio.fail_after(BOUND_S), pytest.raises(ServerError) as caught:
            async with pool.lend_session(spec, None):
                pass
    return caught.value


async def test_a_server_that_exits_at_import_is_reported_with_its_traceback(
    server: ServerFactory,
) -> None:
    error = await failure(server("exit_at_import", protocol="auto"))
    assert str(error) == (
        "server 'exit_at_import' exited with code 1 while starting; "
        "its last words: ModuleNotFoundError: No module named 'no_such_module'"
    )
    assert "Traceback (most recent call last)" in error.stderr_tail


async def test_a_server_that_exits_in_the_handshake_is_reported_with_its_code(
    server: ServerFactory,
) -> None:
    error = await failure(server("exit_in_handshake"))
    assert str(error) == (
        "server 'exit_in_handshake' exited with code 3 while starting; "
        "its last words: cannot open the database\n    bye"
    )
    assert error.stderr_tail == "cannot open the database\nbye"


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_a_server_that_hangs_is_given_up_in_time(
    server: ServerFactory, protocol: str
) -> None:
    for seconds in TIMEOUTS_S:
        error = await failure(server("hang", protocol=protocol, start_timeout_s=seconds))
        if "on stdout" in str(error):
            break
    assert str(error) == (
        f"server 'hang' did not complete the handshake within {seconds:g} s of its "
        f"start{HINT if protocol == 'auto' else ''}; on stdout it wrote text that is not MCP: "
        "Starting web server…"
    )


async def test_a_server_that_is_still_installed_is_told_as_one(tmp_path: Path) -> None:
    npx = tmp_path / "npx"
    npx.write_text("#!/bin/sh\nsleep 60\n")
    npx.chmod(0o755)
    transport = TransportSpec(command=str(npx), args=("-y", "shop"))
    error = await failure(ServerSpec(name="shop", transport=transport, start_timeout_s=0.2))
    assert "within 0.2 s of its start" in str(error)
    assert "npx installs the server at its first start" in str(error)


async def test_a_pinned_revision_that_nobody_answers_is_given_up_at_the_tool_list(
    server: ServerFactory,
) -> None:
    error = await failure(server("hang", protocol="2026-07-28", start_timeout_s=0.2))
    assert "did not list its tools within 0.2 s" in str(error)


async def test_a_server_that_is_silent_on_what_it_does_not_know_is_still_usable(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "PROBE_S", 0.1)
    spec = server("silent", protocol="auto")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, "echo")).outcome == "ok"


async def test_a_server_of_the_newest_revision_may_be_slow_to_say_so(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "PROBE_S", 0.1)
    spec = server("late_modern", protocol="auto")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        made = await call(session, "echo")
    assert made.structured is not None
    assert made.structured["meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


async def test_a_refused_handshake_says_what_the_server_said(server: ServerFactory) -> None:
    error = await failure(server("refuse"))
    assert str(error) == "server 'refuse' refused the handshake: out of licences (code -32603)"


@pytest.mark.parametrize("mode", ["nonsense", "future"])
async def test_a_handshake_that_is_not_mcp_is_an_error(server: ServerFactory, mode: str) -> None:
    error = await failure(server(mode))
    assert "answered the handshake with something that is not MCP" in str(error)


@pytest.mark.parametrize(
    ("mode", "what"),
    [
        ("listless", "refused to list its tools: the catalogue is on fire"),
        ("no_list", "without a list"),
    ],
)
async def test_a_server_that_cannot_list_its_tools_is_an_error(
    server: ServerFactory, mode: str, what: str
) -> None:
    assert what in str(await failure(server(mode)))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (
            {"command": "no-such-command-here"},
            "command 'no-such-command-here' was not found in PATH (",
        ),
        ({"command": "./no-such-file"}, "command './no-such-file' was not found (looked for in /"),
        ({"command": "/etc/passwd"}, "command '/etc/passwd' is not executable"),
        ({"command": "/etc"}, "command '/etc' is a directory"),
        ({"cwd": "/no/such/folder"}, "its working directory /no/such/folder does not exist"),
        ({"cwd": "/etc/passwd"}, "its working directory /etc/passwd is not a directory"),
        ({"command": None}, "has no command to start"),
        ({"env": {"X": "\0"}}, "could not be started: embedded null byte"),
        (
            {"command": "python3", "env": {"PATH": "/nowhere"}},
            "command 'python3' was not found in PATH (/nowhere)",
        ),
    ],
)
async def test_what_cannot_be_started_is_named(
    server: ServerFactory, settings: dict[str, str], what: str
) -> None:
    error = await failure(server("ok", **settings))
    assert what in str(error)


async def test_a_script_in_the_folder_is_suggested_by_its_path(
    server: ServerFactory, tmp_path: object
) -> None:
    await (anyio.Path(str(tmp_path)) / "serve.sh").write_text("#!/bin/sh\n")
    error = await failure(server("ok", command="serve.sh", cwd=str(tmp_path)))
    assert str(error).endswith("did you mean './serve.sh'?")


async def test_a_server_that_fails_harms_no_other(server: ServerFactory) -> None:
    async with open_sessions() as pool, pool.lend_session(server("ok"), None) as good:
        with pytest.raises(ServerError):
            async with pool.lend_session(server("exit_at_import"), None):
                pass
        assert (await call(good, "echo")).outcome == "ok"


async def test_a_user_for_whom_an_open_server_cannot_list_its_tools_is_told_its_last_words(
    server: ServerFactory,
) -> None:
    async with open_sessions() as pool:
        with anyio.fail_after(BOUND_S), pytest.raises(ServerError) as failed:
            async with pool.lend_session(
                server("choosy").with_isolation("none"), {"role": "clerk"}
            ):
                pass
    assert str(failed.value) == "server 'choosy' refused to list its tools: not today (code -32603)"
    assert (failed.value.stderr_tail, failed.value.gone) == (
        "the clerks' catalogue is on fire",
        False,
    )


AN_HOUR = """
import anyio, asyncio, sys, time
from harness.sessions.pool import open_sessions
from harness.types import ServerSpec, TransportSpec

ahead = 0

class TakesAnHour:
    def find_spec(self, name, *_):
        global ahead
        if name == "mcp.client.session":
            ahead = 3600

async def main() -> None:
    loop, clocks = asyncio.get_running_loop(), (asyncio.get_running_loop().time, time.perf_counter)
    loop.time, time.perf_counter = (lambda c=clock: c() + ahead for clock in clocks)
    sys.meta_path.insert(0, TakesAnHour())
    args = ("-I", "-S", *sys.argv[1:])
    reached = TransportSpec(command=sys.executable, args=args, protocol="legacy")
    spec = ServerSpec(name="s", transport=reached, start_timeout_s=60)
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        print(len(session.tools.tools), ahead)

anyio.run(main)
"""


@pytest.mark.slow
def test_a_server_is_not_blamed_for_the_time_that_our_own_imports_take(marker: str) -> None:
    command = [sys.executable, "-c", AN_HOUR, str(BAD_SERVER), "ok", marker]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == (f"{len(TOOLS)} 3600\n", "")


# ── servers that end at the first message that is no initialize ─────────────────────────────


@pytest.mark.parametrize("isolation", ["identity", "case"])
@pytest.mark.parametrize("mode", ["ends_at_discovery", "answers_discovery_and_ends"])
async def test_a_server_that_knows_only_the_handshake_is_started_again_once_in_a_run(
    server: ServerFactory, tmp_path: Path, mode: str, isolation: str
) -> None:
    starts = tmp_path / "starts"
    spec = server(mode, protocol="auto", env={"COUNTED_IN": str(starts)}, isolation=isolation)
    async with open_sessions() as pool:
        for user in ({"role": "clerk"}, {"role": "admin"}, None):
            async with pool.lend_session(spec, user) as session:
                made = await call(session, "echo")
                assert made.outcome == "ok"
                assert made.wire is not None
                assert made.wire.protocol == "2025-11-25"
    assert len(await anyio.Path(starts).read_text()) == 2 + 2


@pytest.mark.parametrize("protocol", ["legacy", "2026-07-28"])
async def test_a_server_is_never_started_again_under_a_pinned_revision(
    server: ServerFactory, tmp_path: Path, protocol: str
) -> None:
    starts = tmp_path / "starts"
    spec = server("ends_at_discovery", protocol=protocol, env={"COUNTED_IN": str(starts)})
    async with open_sessions() as pool:
        with suppress(ServerError):
            async with pool.lend_session(spec, None):
                pass
    assert len(await anyio.Path(starts).read_text()) == 1


@pytest.mark.parametrize("mode", ["exit_at_import", "exit_at_late_import"])
async def test_a_server_that_ends_before_it_reads_anything_is_started_once(
    server: ServerFactory, tmp_path: Path, mode: str
) -> None:
    starts = tmp_path / "starts"
    error = await failure(server(mode, protocol="auto", env={"COUNTED_IN": str(starts)}))
    assert "exited with code 1 while starting; its last words: ModuleNotFoundError" in str(error)
    assert len(await anyio.Path(starts).read_text()) == 1
