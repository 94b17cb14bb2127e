"""Clients that only start processes reach the proxy through the shim."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.inbound import decode_header_value
from mcp_types import ToolListChangedNotification

from harness.agents import stdio_shim
from harness.agents.proxy.listener import open_listener
from harness.agents.proxy.recording import Recording
from harness.judging.exit_codes import EXIT_FAILED, EXIT_INVALID, EXIT_PASSED
from harness.sessions.pool import open_sessions
from tests.agents.proxy.test_relay import answer, talking
from tests.clock import BOUND_S

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
SHIM = ("-I", "-m", "harness.agents.stdio_shim")


@asynccontextmanager
async def served(protocol: Any, recording: Recording) -> AsyncGenerator[str]:
    spec = talking(protocol, abilities=("elicitation",))
    async with (
        open_sessions() as pool,
        pool.lend_session(spec, None) as session,
        open_listener() as listener,
        listener.serve(session, recording, 50) as url,
    ):
        yield url


@pytest.mark.parametrize(("protocol", "mode"), [("legacy", "legacy"), ("2026-07-28", "auto")])
async def test_a_client_of_either_era_talks_through_it(protocol: str, mode: Any) -> None:
    recording = Recording()
    changed = anyio.Event()

    async def take(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    async with served(protocol, recording) as url:
        process = StdioServerParameters(
            command=sys.executable, args=list(SHIM), env={stdio_shim.URL_VARIABLE: url}
        )
        client = Client(
            stdio_client(process), mode=mode, elicitation_callback=answer, message_handler=take
        )
        with anyio.fail_after(BOUND_S):
            async with client:
                asked = await client.call_tool("ask", {})
                if mode == "legacy":
                    await client.call_tool("grow", {})
                    await changed.wait()
                else:
                    async with client.listen(tools_list_changed=True) as changes:
                        await client.call_tool("grow", {})
                        await anext(aiter(changes))
                tools = await client.list_tools()
    assert asked.content[0].text == "accept {'city': 'Ulm after Where?'}"  # type: ignore[union-attr]
    assert "grown" in [tool.name for tool in tools.tools]
    assert [call.tool for call in recording.list_calls()] == ["ask", "grow"]


@pytest.mark.slow
async def test_it_ends_with_the_proxy_and_with_its_client() -> None:
    def run(command: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    async with open_listener() as listener:
        url = f"http://127.0.0.1:{listener.port}/token/mcp"
        process = run([sys.executable, *SHIM, url])
        told = await anyio.to_thread.run_sync(
            process.communicate, '{"jsonrpc":"2.0","id":"a","method":"ping"}\n', BOUND_S
        )
        assert process.returncode == EXIT_PASSED
        assert "401" in json.loads(told[0])["error"]["message"]
        left = run([sys.executable, *SHIM, url])
    ended = await anyio.to_thread.run_sync(left.wait, BOUND_S)
    said = left.communicate()[1]
    assert ended == EXIT_FAILED
    assert "cannot be reached" in said


def test_without_an_address_it_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *SHIM, "nowhere"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
    )
    assert done.returncode == EXIT_INVALID
    assert "is not the address of a proxy" in done.stderr


@pytest.mark.parametrize("value", ["plain", "Größe", " edge ", "=?base64?eA==?="])
def test_names_travel_in_headers_as_the_official_client_writes_them(value: str) -> None:
    assert decode_header_value(stdio_shim._encode_header(value)) == value


def test_the_shim_exits_as_harness_does() -> None:
    codes = (stdio_shim.PASSED, stdio_shim.FAILED, stdio_shim.INVALID)
    assert codes == (EXIT_PASSED, EXIT_FAILED, EXIT_INVALID)
