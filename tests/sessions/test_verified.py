"""A server that checks tokens by itself lets the right callers in, knows who they are, and nobody
else's lies count.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base.errors import NotAdmitted, ServerError
from harness.sessions.pool import open_sessions
from harness.sessions.session import SessionPool
from harness.types import (
    Credential,
    IdentitySpec,
    JsonObject,
    ServerSpec,
    TransportSpec,
)
from tests.clock import BOUND_S
from tests.end_to_end.warm import warm_python
from tests.sessions.http_servers import free_port
from tests.sessions.servers import call

SERVER = Path(__file__).with_name("verified_server.py")
ANN = {"name": "ann", "role": "admin", "groups": ["a", "b"]}
BOB = {"name": "bob", "role": "clerk"}


def verified(
    marker: str, *args: str, env: dict[str, str] | None = None, **identity: Any
) -> ServerSpec:
    return ServerSpec(
        name="verified",
        transport=TransportSpec(
            command=warm_python(),
            args=(str(SERVER), "--port", "{port}", *args, marker),
            env=env or {},
            kind="http",
        ),
        identity=IdentitySpec(via="bearer", plain=identity),
    )


async def claims(pool: SessionPool, spec: ServerSpec, user: JsonObject | None) -> dict[str, Any]:
    with anyio.fail_after(BOUND_S):
        async with pool.lend_session(spec, user) as session:
            found: dict[str, Any] = (await call(session, "whoami")).structured
            return found


async def status(
    pool: SessionPool, spec: ServerSpec, user: JsonObject | None, credential: Credential = "valid"
) -> int:
    with anyio.fail_after(BOUND_S), pytest.raises(NotAdmitted) as caught:
        async with pool.lend_session(spec, user, credential):
            pass
    return caught.value.status


@pytest.mark.anyio
async def test_each_user_is_known_by_a_verified_token_and_flawed_ones_are_kept_out(
    marker: str,
) -> None:
    spec = verified(marker)
    async with open_sessions() as pool, pool.lend_session(spec, ANN) as session:
        ann, bob = (await call(session, "whoami")).structured, await claims(pool, spec, BOB)
        assert ann is not None
        assert ann["claims"].items() >= {**ANN, "sub": "ann"}.items()
        assert (bob["claims"]["role"], bob["claims"]["sub"]) == ("clerk", "bob")
        assert ann["pid"] == bob["pid"], "one process serves all users"
        assert ann["claims"]["aud"].endswith("/mcp")
        assert not [key for key in ann["meta"] if "user" in key], (
            "a token says it, and nothing else does"
        )
        flawed: tuple[Credential, ...] = ("none", "expired", "wrong_audience", "bad_signature")
        assert [await status(pool, spec, ANN, credential) for credential in flawed] == [401] * 4
        assert await status(pool, spec, None) == 401
        assert "eyJ" not in session.stderr_tail()
        assert "Bearer [redacted]" in session.stderr_tail(), "it does write every token to stderr"


@pytest.mark.anyio
async def test_what_a_server_is_told_in_its_arguments_counts_and_a_missing_scope_is_a_403(
    marker: str,
) -> None:
    named = (
        "--issuer",
        "{issuer}",
        "--jwks-url",
        "{jwks_url}",
        "--audience",
        "{audience}",
        "--scope",
        "mcp:read",
    )
    overridden = {
        "HARNESS_ISSUER": "http://wrong",
        "HARNESS_JWKS_URL": "http://wrong",
        "HARNESS_AUDIENCE": "wrong",
    }
    spec = verified(
        marker, *named, env=overridden, scope="{groups}", audience="https://shop.example/mcp"
    )
    async with (
        open_sessions() as pool,
        pool.lend_session(spec, {**ANN, "groups": ["x", "mcp:read"]}) as session,
    ):
        seen = (await call(session, "whoami")).structured
        assert seen is not None
        assert (seen["claims"]["scope"], seen["claims"]["aud"]) == (
            "x mcp:read",
            "https://shop.example/mcp",
        )
        assert await status(pool, spec, BOB) == 403


@pytest.fixture
def free_ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture
def running(free_ports: tuple[int, int], marker: str) -> Iterator[ServerSpec]:
    """A server that somebody else started, which expects its issuer on a certain port."""
    port, issuer_port = free_ports
    issuer = f"http://127.0.0.1:{issuer_port}"
    process = subprocess.Popen(
        [
            warm_python(), str(SERVER), "--port", str(port), "--issuer", issuer, "--jwks-url",
            f"{issuer}/jwks.json", "--audience", "https://running.example/mcp", marker,
        ],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    yield ServerSpec(
        name="running",
        transport=TransportSpec(kind="http", url=f"http://127.0.0.1:{port}/mcp"),
        identity=IdentitySpec(
            via="bearer",
            plain={"issuer_port": issuer_port, "audience": "https://running.example/mcp"},
        ),
    )
    process.kill()
    process.wait()


@pytest.mark.anyio
async def test_a_server_that_runs_already_finds_the_issuer_on_its_port(
    running: ServerSpec, free_ports: tuple[int, int]
) -> None:
    with anyio.fail_after(BOUND_S):
        while not await _listens(free_ports[0]):  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(0.02)
    async with open_sessions() as pool:
        async with pool.lend_session(running, ANN):
            assert await status(pool, running, ANN, "wrong_audience") == 401
        assert (await claims(pool, running, ANN))["claims"][
            "iss"
        ] == f"http://127.0.0.1:{free_ports[1]}"


async def _listens(port: int) -> bool:
    try:
        stream = await anyio.connect_tcp("127.0.0.1", port)
    except OSError:
        return False
    await stream.aclose()
    return True


@pytest.mark.anyio
async def test_a_server_whose_token_cannot_be_had_is_told_with_the_reason_before_it_is_asked() -> (
    None
):
    failing = shlex.join([sys.executable, "-I", "-S", "-c", "import sys; sys.exit('log in first')"])
    identity = IdentitySpec(via="bearer", settings={"token_command": failing})
    spec = ServerSpec(
        name="verified",
        transport=TransportSpec(url="http://127.0.0.1:9/mcp", kind="http"),
        identity=identity,
    )
    async with open_sessions() as pool:
        with (
            anyio.fail_after(BOUND_S),
            pytest.raises(ServerError, match=r"no token for server 'verified'.*log in first"),
        ):
            async with pool.lend_session(spec, ANN):
                pass
