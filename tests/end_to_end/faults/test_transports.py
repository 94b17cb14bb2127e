"""Every kind of fault, over every transport and in both eras of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from harness.sessions import FaultInjector, FaultySession, open_sessions
from harness.types import FAILING, UNASKED, FaultKind, FaultRule, FaultSet, ServerSpec, ToolRequest
from tests.clock import PATIENT_S
from tests.sessions.http_servers import running
from tests.support import a_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SHOP = str(Path(__file__).with_name("shop_server.py"))


@pytest.fixture(
    scope="module",
    params=["stdio", "stdio legacy", "http", "http legacy", "sse legacy", "joined"],
)
def server(request: pytest.FixtureRequest) -> Iterator[ServerSpec]:
    kind, _, era = request.param.partition(" ")
    protocol = era or "2026-07-28"
    waits: dict[str, Any] = {"start_timeout_s": PATIENT_S, "call_timeout_s": PATIENT_S}
    local = a_server(name="shop", command=sys.executable, args=(SHOP,), protocol=protocol, **waits)
    if kind in ("stdio", "joined"):
        both = (local, a_server(name="mail", command=sys.executable, args=(SHOP,), **waits))
        yield local if kind == "stdio" else ServerSpec(name="both", members=both)
        return
    path, transport = ("mcp", "streamable-http") if kind == "http" else ("sse", "sse")
    with running(SHOP, transport) as shop:
        yield shop.at(path, transport=kind, protocol=protocol, **waits)


async def test_a_fault_is_the_same_over_every_transport(server: ServerSpec) -> None:
    prefix = "shop__" if server.members else ""
    first = ToolRequest(id="1", tool=f"{prefix}get_order", arguments={"order_id": "A1"})
    asked = ToolRequest(id="2", tool=f"{prefix}search_orders", arguments={"customer": "C1"})
    async with open_sessions() as pool, pool.lend_session(server, None) as lent:
        for kind in get_args(FaultKind):
            rule = FaultRule(do=kind, on="*search_orders", nth=2, seed=1)
            injector = FaultInjector(FaultSet(name="f", faults=(rule,)), "c", 30)
            session = FaultySession(lent, injector)
            before = await session.call(first, reply=1, epoch=0.0)
            clean = await session.call(asked, reply=2, epoch=0.0)
            made = await session.call(asked, reply=3, epoch=0.0)
            assert (before.outcome, clean.outcome) == ("ok", "ok")
            assert (before.injected, clean.injected) == (None, None)
            assert made.injected is not None, kind
            assert made.injected.fault == kind
            assert made.told_as_error == (kind in FAILING)
            assert made.outcome == ("injected" if kind in UNASKED else "ok")
            assert (made.text == clean.text) == (kind not in UNASKED)
