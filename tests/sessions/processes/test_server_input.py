"""Whether a server read any of what it was sent is known, also if it had ended before."""

from __future__ import annotations

import select
import sys
from typing import Any

import pytest
from anyio import open_process

from harness.sessions.processes.server_input import ServerInput

pytestmark = pytest.mark.anyio
ENDS = "raise SystemExit(1)"
READS = "import sys; sys.stdin.readline(); sys.exit(1)"


def wait_until_nobody_reads(stdin: Any) -> None:
    """Wait until the program has ended, in such a way that the event loop does not see it."""
    reader = select.poll()
    reader.register(stdin._stream.get_extra_info("pipe").fileno(), 0)
    reader.poll()


@pytest.mark.parametrize("code", [ENDS, READS])
async def test_what_a_program_that_had_ended_was_sent_counts_as_ignored(code: str) -> None:
    command = [sys.executable, "-I", "-S", "-c", code]
    async with await open_process(command, stdout=None, stderr=None) as process:
        assert process.stdin is not None
        sent = ServerInput(process.stdin)
        if code == ENDS:
            wait_until_nobody_reads(process.stdin)
        await sent.send(b"hello\n")
        await process.wait()
        assert sent.was_ignored == (code == ENDS)
        await sent.aclose()


async def test_a_server_that_ended_before_it_was_looked_at_has_ignored_its_input() -> None:
    process = await open_process([sys.executable, "-c", ""])
    assert process.stdin is not None
    await process.wait()
    await process.stdin.aclose()
    stdin = ServerInput(process.stdin)
    assert stdin.was_ignored
    await stdin.aclose()
