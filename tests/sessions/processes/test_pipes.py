"""The broken pipe of an ended process is closed quietly, in every release of Python."""

import asyncio
import gc
import os
import subprocess
from contextlib import suppress
from typing import Any

import anyio
import pytest

from harness.sessions.processes.server_input import wait_closed
from tests.clock import BOUND_S

pytestmark = pytest.mark.anyio


async def test_a_process_that_leaves_without_reading_breaks_no_silence() -> None:
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
    for _ in range(5):
        with anyio.fail_after(BOUND_S):
            process = await anyio.open_process(
                ["head", "-n", "1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            )
            assert process.stdin is not None
            await process.stdin.send(b"the one line that it reads\n")
            # Held up, the event loop cannot know yet that it has gone.
            with suppress(ChildProcessError):  # known by a thread already
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - that is the point
            with suppress(OSError, anyio.BrokenResourceError):
                await process.stdin.send(bytes(1_000_000))
            await process.aclose()
            await wait_closed(process.stdin)
        del process
    gc.collect()
    assert heard == []
