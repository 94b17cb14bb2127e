"""Starts that hang: their limit is waited for once, however many trials need the server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base import ServerError
from harness.sessions import pool
from harness.sessions.pool import Pool, open_sessions
from harness.types import IdentitySpec, JsonObject, ServerSpec
from tests.clock import BOUND_S, clock_goes_forward
from tests.sessions.http_servers import SDK
from tests.sessions.servers import BAD_SERVER, call
from tests.support import a_server

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not SDK, reason="loaded before the starts")]

LIMIT_S = 30.0
ROOM = 2
"""Processes at a time: the other trials wait for a place while the first ones hang."""
ALONE = IdentitySpec(via="env", plain={"json_variable": "WHO"})
HEADER = IdentitySpec(via="header", plain={"headers": {"X-Role": "{role}"}})
CLERKS = tuple({"role": f"clerk {number}"} for number in range(6))
ONE_CLERK = 6 * CLERKS[:1]


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_PROCESSES", ROOM)


def hanging(starts: Path, marker: str, *, good: int = 0, **settings: Any) -> ServerSpec:
    """Return a server that notes each start, and says nothing from start ``good`` + 1 on."""
    usual = f"exec '{sys.executable}' -I -S '{BAD_SERVER}' ok {marker}"
    note = f"echo started >> '{starts}'; [ $(wc -l < '{starts}') -gt {good} ] || {usual}"
    script = f"{note}; exec sleep 600 # {marker}"
    return a_server(
        name="shop", command="/bin/sh", args=("-c", script), start_timeout_s=LIMIT_S, **settings
    )


def count_starts(starts: Path) -> int:
    return len(starts.read_text().split()) if starts.exists() else 0


async def pass_limit(starts: Path, number: int) -> None:
    """Make the limit of a start pass once so many processes have begun, and say nothing."""
    while count_starts(starts) < number:  # noqa: ASYNC110 - processes note it
        await anyio.sleep(0.01)
    clock_goes_forward(LIMIT_S)


async def get_error(sharing: Pool, spec: ServerSpec, user: JsonObject) -> str:
    with pytest.raises(ServerError) as caught:
        async with sharing.lend_session(spec, user):
            pass
    return str(caught.value)


@pytest.mark.parametrize(
    ("users", "most", "settings"),
    [
        (CLERKS, ROOM, {}),
        (CLERKS, ROOM, {"isolation": "case"}),
        (ONE_CLERK, ROOM, {"isolation": "case"}),
        (ONE_CLERK, 1, {"identity": ALONE}),
        (CLERKS, 1, {"isolation": "none"}),
        (CLERKS, 1, {"transport": "http", "identity": HEADER}),
        (CLERKS, ROOM, {"transport": "http", "identity": HEADER, "isolation": "case"}),
    ],
    ids=["users", "users-case", "case", "env", "none", "http", "http-case"],
)
async def test_the_limit_of_a_start_is_waited_for_once(
    tmp_path: Path,
    marker: str,
    users: Sequence[JsonObject],
    most: int,
    settings: dict[str, Any],
) -> None:
    starts, said = tmp_path / "starts", list[str]()
    spec = hanging(starts, marker, **settings)
    async with open_sessions() as sharing:

        async def trial(user: JsonObject) -> None:
            said.append(await get_error(sharing, spec, user))

        # Enough for one limit, and too little for two.
        with anyio.fail_after(1.9 * LIMIT_S):
            async with anyio.create_task_group() as tasks:
                for user in users:
                    tasks.start_soon(trial, user)
                await pass_limit(starts, most)
            for user in {str(user): user for user in users}.values():
                assert "not tried again" in await get_error(sharing, spec, user)
    assert len(said) == len(users)
    assert all(f"within {LIMIT_S:g} s" in text for text in said)
    assert count_starts(starts) == most


async def test_what_has_started_for_others_is_waited_for_once_where_it_hangs(
    tmp_path: Path, marker: str
) -> None:
    starts = tmp_path / "starts"
    spec = hanging(starts, marker, good=1, protocol="legacy", identity=ALONE)
    async with open_sessions() as sharing:
        async with sharing.lend_session(spec, CLERKS[0]) as session:
            assert (await call(session, "echo")).outcome == "ok"
        with anyio.fail_after(1.9 * LIMIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pass_limit, starts, 2)
                assert "not tried again" not in await get_error(sharing, spec, CLERKS[1])
            assert "not tried again" in await get_error(sharing, spec, CLERKS[1])
        with anyio.fail_after(BOUND_S):
            async with sharing.lend_session(spec, CLERKS[0]) as session:
                assert (await call(session, "echo")).outcome == "ok"
    assert count_starts(starts) == 2
