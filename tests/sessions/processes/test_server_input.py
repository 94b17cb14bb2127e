"""What a server took of its stdin, also if it ended before anything was written."""

from __future__ import annotations

import sys

import anyio
import pytest

from harness.sessions.processes.server_input import ServerInput


@pytest.mark.anyio
async def test_a_server_that_ended_at_once_has_ignored_its_input() -> None:
    process = await anyio.open_process([sys.executable, "-c", ""])
    assert process.stdin is not None
    await process.wait()
    await process.stdin.aclose()
    stdin = ServerInput(process.stdin)
    assert stdin.was_ignored
    await stdin.aclose()
