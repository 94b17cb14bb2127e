"""Every client of harness that sends HTTP requests, by name, to be asked for one request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio

from harness.reports.telemetry.collector import CollectorSession
from harness.reports.telemetry.export import TelemetryRequest
from harness.sessions.pool import open_sessions
from tests.clock import BOUND_S
from tests.models.support import APIS, HELLO, TOOLS, Api, opened
from tests.support import a_server


async def _ask_model(api: Api, url: str) -> None:
    async with opened(api, url, max_retries=0) as model:
        await model.answer(HELLO, TOOLS, None)


async def _ask_server(transport: str, url: str) -> None:
    spec = a_server(
        name="shop", transport=transport, url=f"{url}/mcp", start_timeout_s=BOUND_S, protocol="auto"
    )
    async with open_sessions() as pool, pool.lend_session(spec, None):
        pass


async def _send_telemetry(url: str) -> None:
    collector = TelemetryRequest(endpoint=url).url

    def send() -> None:
        with CollectorSession() as session:
            session.post(collector, data=b"", timeout=BOUND_S)

    await anyio.to_thread.run_sync(send)


CLIENTS: dict[str, Callable[[str], Awaitable[None]]] = {
    **{api: partial(_ask_model, api) for api in APIS},
    "http": partial(_ask_server, "http"),
    "sse": partial(_ask_server, "sse"),
    "telemetry": _send_telemetry,
}
