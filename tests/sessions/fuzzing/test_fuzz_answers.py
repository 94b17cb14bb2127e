"""Whatever a server writes in answer to a call, the call ends at once, and without a result it is
never ok.

Fifty answers are tried with the other tests, two thousand on each wire with the slow proofs.
The seed is ``HARNESS_FUZZ_SEED``, or the one below; it is shown where a test fails.
"""

from __future__ import annotations

import base64
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, given, seed, settings

from harness.base.json_text import canonical_json
from harness.base.limiting import retries
from harness.sessions.pool import open_sessions
from harness.sessions.session import SessionPool
from harness.types import (
    Outcome,
    ServerSpec,
    ToolCall,
    ToolRequest,
    TransportSpec,
)
from tests.sessions.fuzzing import server as told_server
from tests.sessions.fuzzing.answers import END, Script, Wire, scripts

SEED = int(os.environ.get("HARNESS_FUZZ_SEED", "20261122"))
HANG_S = 60.0
"""No answer of these servers takes so long: who waits longer hangs."""
GROWTH_MB = 150
"""Memory that ten thousand answers may take for good."""
PART = 500
"""Answers that are drawn from one seed; the next ones from the seed that is so much higher."""
EVERY = 20
"""How often a healthy neighbour is asked, too."""


@pytest.fixture(autouse=True)
def _retries_wait_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer in twenty is a 429, and each is asked for again three times."""
    monkeypatch.setattr(retries, "FIRST_BOUND_S", 0.0)


SCRIPT = str(Path(told_server.__file__))


@contextmanager
def server_of(wire: Wire) -> Iterator[ServerSpec]:
    """Run the server over HTTP for the length of the block.

    Over stdio it is started by whoever connects.
    """
    common: dict[str, Any] = {
        "name": wire,
        "start_timeout_s": 20.0,
        "call_timeout_s": HANG_S,
    }
    if wire == "stdio":
        yield ServerSpec(
            **common,
            transport=TransportSpec(
                command=sys.executable, args=("-I", "-S", SCRIPT, "stdio"), protocol="legacy"
            ),
        )
        return
    with subprocess.Popen(
        [sys.executable, "-I", "-S", SCRIPT, "http"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            path = "mcp" if wire == "http" else "sse"
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/{path}"
            yield ServerSpec(
                **common, transport=TransportSpec(kind=wire, url=url, protocol="legacy")
            )
        finally:
            process.kill()


def memory_mb() -> float:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Bench:
    """Sessions with a server that says what it is told, and with a healthy one."""

    def __init__(
        self,
        wire: Wire,
        portal: BlockingPortal,
        pool: SessionPool,
        specs: tuple[ServerSpec, ServerSpec],
        faults: list[str],
    ) -> None:
        self.outcomes: dict[str, int] = {}
        self.lost = 0
        self._wire = wire
        self._portal = portal
        self._pool = pool
        self._faults = faults
        self._spec, self._neighbour = specs
        self._count = 0
        self._memory = 0.0

    def check(self, script: Script) -> None:
        """Have a call answered by ``script``, and look at its record."""
        self._count += 1
        made = self._portal.call(self._make, script)
        assert made.outcome in get_args(Outcome)
        assert made.outcome != "timeout", f"it hangs: {script}"
        if made.outcome == "ok":
            assert script.says_a_result(self._wire), f"{made} for {script}"
        elif script.must_be_ok:
            raise AssertionError(f"a good result became {made} for {script}")
        canonical_json(made.arguments), canonical_json([made.text, made.structured])
        assert not self._faults, self._faults
        ended = "unanswered" if made.text.startswith(END) else made.outcome
        self.outcomes[ended] = self.outcomes.get(ended, 0) + 1
        if self._count == EVERY:
            self._memory = memory_mb()

    @property
    def growth_mb(self) -> float:
        gc.collect()
        return memory_mb() - self._memory

    async def _make(self, script: Script) -> ToolCall:
        arguments = {
            "body": base64.b64encode(script.body).decode(),
            "status": script.status,
            "type": script.kind,
            "cut": script.cut,
        }
        made: list[ToolCall] = []
        with anyio.fail_after(2 * HANG_S):
            async with (
                self._pool.lend_session(self._spec, None) as session,
                anyio.create_task_group() as tasks,
            ):

                async def say() -> None:
                    request = ToolRequest(id="1", tool="say", arguments=arguments)
                    made.append(await session.call(request, reply=1, epoch=0))

                tasks.start_soon(say)
                if self._count % EVERY == 0:
                    await self._ask_neighbour()
                    request = ToolRequest(id="2", tool="echo", arguments={"n": self._count})
                    beside = await session.call(request, reply=1, epoch=0)
                    assert (beside.outcome, beside.text) == ("ok", f'{{"n": {self._count}}}'), (
                        beside
                    )
            self.lost += session.loss_reason is not None
        return made[0]

    async def _ask_neighbour(self) -> None:
        async with self._pool.lend_session(self._neighbour, {"user": "neighbour"}) as session:
            request = ToolRequest(id="3", tool="echo", arguments={"n": self._count})
            made = await session.call(request, reply=1, epoch=0)
            assert (made.outcome, made.text) == ("ok", f'{{"n": {self._count}}}'), made


@contextmanager
def bench(wire: Wire) -> Iterator[Bench]:
    faults: list[str] = []

    async def listen() -> None:
        import asyncio

        asyncio.get_running_loop().set_exception_handler(
            lambda _, fault: faults.append(repr(fault))
        )

    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal("asyncio"))
        portal.call(listen)
        specs = stack.enter_context(server_of(wire)), stack.enter_context(server_of("stdio"))
        pool = stack.enter_context(portal.wrap_async_context_manager(open_sessions()))
        yield Bench(wire, portal, pool, specs, faults)


@pytest.mark.parametrize(
    "number",
    [50, pytest.param(2_000, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])],
    ids="{} answers".format,
)
@pytest.mark.parametrize("wire", ["stdio", "http", "sse"])
def test_whatever_a_server_answers_the_call_ends_and_is_ok_only_with_a_result(
    wire: Wire, number: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(wire) as tried:
        for part in range(0, number, PART):

            @seed(SEED + part)
            @settings(
                max_examples=min(number, PART),
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(scripts(wire))
            def try_one(script: Script) -> None:
                tried.check(script)

            try_one()
        growth = tried.growth_mb
    told = (
        f"seed {SEED}: {dict(sorted(tried.outcomes.items()))}, {tried.lost} lost, {growth:+.0f} MB"
    )
    stderr = capfd.readouterr().err
    print(told)  # noqa: T201 - shown with -s, and where the test fails
    assert "Traceback" not in stderr
    # Fifty bodies over HTTP may all be answers: each ends by itself.
    seldom = {"unanswered"} if number > 100 or wire != "http" else set[str]()
    assert {"ok", "invalid_result"} | seldom <= tried.outcomes.keys(), told
    assert tried.lost == 0, told
    assert growth < GROWTH_MB, told
