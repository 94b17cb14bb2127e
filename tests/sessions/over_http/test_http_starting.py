"""Web servers that do not come up, or go away.

Each a clear error in bounded time, with no process left.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from harness.base.errors import NotAdmitted, ServerError
from harness.sessions.pool import open_sessions
from harness.sessions.processes import process
from harness.sessions.transports import handshake
from harness.sessions.transports.handshake import HINT
from harness.types import (
    IdentitySpec,
    ServerSpec,
    TransportSpec,
)
from tests.clock import BOUND_S, PATIENT_S, TIMEOUTS_S
from tests.often import often
from tests.sessions.http_servers import Running, free_port, running, started
from tests.sessions.servers import ServerFactory, alive, all_gone, call
from tests.support import a_server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.fixture
def web_server(marker: str) -> ServerFactory:
    """Make a server of a mode of ``bad_http_server.py`` that harness starts."""
    return partial(started, marker=marker)


async def failure(spec: ServerSpec) -> ServerError:
    """Return how opening ``spec`` fails, and insist that it does so in time."""
    async with open_sessions() as pool:
        with anyio.fail_after(BOUND_S), pytest.raises(ServerError) as caught:
            async with pool.lend_session(spec, None):
                pass
    return caught.value


# ── servers that run already ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("protocol", ["auto", "legacy", "2026-07-28"])
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_where_nobody_listens_the_url_is_told_and_nothing_secret(
    protocol: str, transport: str
) -> None:
    port = free_port()
    url = f"http://ada:lovelace@127.0.0.1:{port}/mcp?key=271828"
    spec = a_server(name="shop", url=url, transport=transport, protocol=protocol)
    error = await failure(spec)
    where = f"it cannot be reached at http://127.0.0.1:{port}/mcp: Connection refused"
    assert str(error) == f"server 'shop' did not complete the handshake: {where}"


async def test_a_certificate_that_nobody_vouches_for_is_told_and_nothing_is_sent(
    tmp_path: Path,
) -> None:
    sent = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent.append(await reader.read())
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    async with await asyncio.start_server(listen, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        error = await failure(
            ServerSpec(
                name="shop",
                transport=TransportSpec(kind="http", url=f"https://127.0.0.1:{port}/mcp"),
            )
        )
    assert str(error).endswith(
        f"it cannot be reached at https://127.0.0.1:{port}/mcp: self-signed certificate"
    )
    assert sent == []


def self_signed(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize(
    "spec",
    [
        ServerSpec(name="shop", transport=TransportSpec(kind="http")),
        ServerSpec(name="shop", transport=TransportSpec(url="http://127.0.0.1:1/mcp")),
        ServerSpec(name="shop"),
    ],
)
async def test_a_server_that_says_too_little_to_be_reached_is_told_so(spec: ServerSpec) -> None:
    assert "command" in str(await failure(spec))


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("protocol", ["auto", "legacy", "2026-07-28"])
async def test_a_server_that_lets_nobody_in_says_with_which_status(
    shop: Running, status: int, protocol: str
) -> None:
    path = f"{status}?{protocol}"
    error = await failure(shop.at(path, protocol=protocol))
    assert isinstance(error, NotAdmitted)
    assert error.status == status
    assert f": it answered HTTP {status} " in str(error)
    assert str(error).endswith(f": status {status}")
    assert len(shop.seen(path)) == 1  # nobody who is refused asks again


async def test_a_user_who_is_not_let_in_over_a_connection_that_is_open_is_told_so_at_once(
    shop: Running,
) -> None:
    async with open_sessions() as pool:
        with anyio.fail_after(BOUND_S), pytest.raises(NotAdmitted) as refused:
            async with pool.lend_session(
                shop.at("choosy").with_isolation("none"), {"role": "clerk"}
            ):
                pass
        with pytest.raises(ServerError) as failed:
            async with pool.lend_session(
                shop.at("choosy").with_isolation("none"), {"role": "temp"}
            ):
                pass
        async with pool.lend_session(
            shop.at("choosy").with_isolation("none"), {"role": "admin"}
        ) as session:
            assert (await call(session, "echo")).outcome == "ok"
    assert refused.value.status == 403
    assert str(refused.value) == "server 'shop' answered HTTP 403 Forbidden: not for clerks"
    assert not isinstance(failed.value, NotAdmitted)
    assert (
        str(failed.value) == "server 'shop' refused to list its tools: no tools today (code -32603)"
    )


@pytest.mark.parametrize("protocol", often(["auto", "2026-07-28"]))
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("404", "it answered HTTP 404 Not Found: status 404"),
        ("429", "it answered HTTP 429 Too Many Requests: status 429"),
        ("500", "it answered HTTP 500 Internal Server Error: status 500"),
        ("502", "it answered HTTP 502 Bad Gateway: status 502"),
        ("reset", "it broke off before it had answered: Connection reset by peer"),
        ("elsewhere", "a redirect to http://localhost:PORT/good, which is not followed"),
        ("loop", "a redirect to http://127.0.0.1:PORT/loop, which is not followed"),
        ("garbage", "{not json"),
        ("html", "HTTP 200 with content of type 'text/html'"),
        ("no_event", "it ended its event stream without an answer"),
    ],
)
async def test_whatever_http_answers_to_the_handshake_is_told(
    shop: Running, path: str, text: str, protocol: str
) -> None:
    error = await failure(shop.at(path, protocol=protocol))
    assert not isinstance(error, NotAdmitted)
    assert text.replace("PORT", str(shop.port)) in str(error)
    assert "secret" not in str(error)


async def test_a_server_that_breaks_off_at_an_unknown_request_is_asked_by_the_older_handshake(
    shop: Running,
) -> None:
    spec = shop.at("crashes?first", protocol="auto")
    async with open_sessions() as pool:
        for user in ({"role": "clerk"}, {"role": "admin"}):
            async with pool.lend_session(spec, user) as session:
                assert (await call(session, "echo")).outcome == "ok"
    methods = [one.get("method") for one in shop.seen("crashes?first")]
    assert methods.count("server/discover") == 1  # not again in this run
    assert methods.count("initialize") == 2


async def test_a_server_that_is_started_and_keeps_breaking_off_is_asked_by_the_older_handshake(
    web_server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "PROBE_S", 0.1)
    spec = web_server("good", url="http://127.0.0.1:{port}/crashes", protocol="auto")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.parametrize("path", ["stall", "stall_body", "drip"])
async def test_a_handshake_that_is_never_answered_is_given_up_in_time(
    shop: Running, path: str
) -> None:
    error = await failure(shop.at(path, start_timeout_s=0.2, protocol="auto"))
    assert str(error) == (
        f"server 'shop' did not complete the handshake within 0.2 s of its start{HINT}"
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("401", "it answered HTTP 401 Unauthorized: status 401"),
        ("500", "it answered HTTP 500 Internal Server Error: status 500"),
        ("html", "it answered with content of type 'text/html' instead of an event stream"),
    ],
)
async def test_a_refused_event_stream_is_told(shop: Running, path: str, text: str) -> None:
    spec = shop.at(
        "", url=f"http://127.0.0.1:{shop.port}/get-{path}", transport="sse", protocol="auto"
    )
    assert text in str(await failure(spec))


# ── servers that harness starts ──────────────────────────────────────────────────────────────


async def test_a_server_that_exits_at_import_is_reported_with_its_traceback(
    web_server: ServerFactory,
) -> None:
    error = await failure(web_server("exit_at_import"))
    assert str(error) == (
        "server 'exit_at_import' exited with code 1 while starting; "
        "its last words: ModuleNotFoundError: No module named 'no_such_module'"
    )
    assert "Traceback (most recent call last)" in error.stderr_tail


async def test_a_server_that_never_listens_is_given_up_in_time(web_server: ServerFactory) -> None:
    error = await failure(web_server("never_ready", start_timeout_s=0.2))
    assert str(error) == "server 'never_ready' did not listen on its port within 0.2 s of its start"


@pytest.mark.parametrize("mode", ["slow", "good"])
async def test_a_server_may_take_its_time_to_listen_and_to_be_ready(
    web_server: ServerFactory, mode: str
) -> None:
    path = "late" if mode == "good" else "good"
    spec = web_server(mode, url=f"http://127.0.0.1:{{port}}/{path}", protocol="auto")
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        assert (await call(session, "echo")).outcome == "ok"


async def test_a_server_that_is_never_more_than_late_is_given_up_in_time(
    web_server: ServerFactory,
) -> None:
    url = "http://127.0.0.1:{port}/503"
    for seconds in TIMEOUTS_S:
        spec = web_server("good", url=url, protocol="auto", start_timeout_s=seconds)
        error = str(await failure(spec))
        if "HTTP" in error:
            break
    what = f"did not complete the handshake within {seconds:g} s of its start: it answered HTTP 503"
    assert what in error


async def test_a_port_that_is_taken_is_told_and_nothing_is_started(
    web_server: ServerFactory, marker: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        error = await failure(web_server("good", url=f"http://127.0.0.1:{port}/mcp"))
        assert alive(marker) == []
    assert str(error) == (
        f"server 'good' was not started: another program already listens on port {port}; "
        "write {port} in its url and args, and harness chooses a free one"
    )


async def test_a_url_that_leads_nowhere_is_told_and_nothing_is_started(
    web_server: ServerFactory, marker: str
) -> None:
    error = await failure(web_server("good", url="http://127.0.0.1:99999/mcp"))
    assert str(error) == "server 'good' could not be started: ValueError: Port out of range 0-65535"
    assert alive(marker) == []


async def test_a_server_that_is_found_by_its_url_gets_the_port_of_it(
    web_server: ServerFactory,
) -> None:
    spec = web_server("good", url=f"http://127.0.0.1:{free_port()}/good")
    async with open_sessions() as pool:
        for _ in range(2):  # the second one needs the port that the first has just left
            async with pool.lend_session(spec, None) as session:
                assert (await call(session, "die")).outcome == "server_lost"


async def test_a_server_that_dies_is_told_with_its_log_and_started_again_for_the_next(
    web_server: ServerFactory, marker: str
) -> None:
    spec = web_server("good", url="http://127.0.0.1:{port}/good")
    async with open_sessions() as pool:
        async with pool.lend_session(spec, None) as session:
            made = await call(session, "die")
            assert made.outcome == "server_lost"
            assert made.text == (
                "server 'good' exited with code 7; its last words: out of memory (not really)"
            )
            assert session.loss_reason == made.text
            assert session.stderr_tail().startswith("listening on ")
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"
            assert len(alive(marker)) == 1


async def test_one_process_serves_all_users_each_over_a_connection_of_its_own(
    web_server: ServerFactory, marker: str
) -> None:
    spec = web_server("good")
    async with open_sessions() as pool:
        sessions = []

        async def ask(role: str) -> None:
            async with pool.lend_session(spec, {"role": role}) as session:
                sessions.append(session)
                assert (await call(session, "echo")).outcome == "ok"

        async with anyio.create_task_group() as tasks:
            for role in ("admin", "user", "guest", "user"):
                tasks.start_soon(ask, role)
        assert len({id(session) for session in sessions}) == 3
        assert len(alive(marker)) == 1


async def test_users_who_are_told_by_the_environment_have_processes_of_their_own(
    web_server: ServerFactory, marker: str
) -> None:
    spec = web_server("good", identity=IdentitySpec(via="env", plain={"json_variable": "WHO"}))
    async with open_sessions() as pool:
        for role in ("admin", "user"):
            async with pool.lend_session(spec, {"role": role}):
                pass
        assert len(alive(marker)) == 2


async def test_isolation_by_case_gives_each_loan_a_process_that_ends_with_it(
    web_server: ServerFactory, marker: str
) -> None:
    spec = web_server("good", isolation="case")
    async with open_sessions() as pool:
        async with pool.lend_session(spec, None) as one, pool.lend_session(spec, None) as other:
            assert len(alive(marker)) == 2
            for session in (one, other):  # whose state may be another from here on
                await call(session, "echo")
        assert alive(marker) == []


async def test_a_server_is_asked_to_end_and_its_stdin_is_not_waited_for(
    web_server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "EXIT_GRACE_S", PATIENT_S)
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(web_server("good"), None):
            pass


async def test_a_server_that_ignores_the_request_to_end_is_ended(
    web_server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as pool, pool.lend_session(web_server("ignores_sigterm"), None):
        pass
    assert all_gone(marker)
