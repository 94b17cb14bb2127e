"""Every client goes by the proxy that the environment names, and to this machine by none."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from requests import RequestException

from harness.base.errors import HarnessError
from harness.base.transports import load_tls_context
from tests.base.network.clients import CLIENTS
from tests.base.network.local_proxy import LocalProxy, proxying
from tests.base.network.socks_proxy import socks_proxying
from tests.fake_provider import FakeProvider, say
from tests.models.support import APIS, HELLO, TOOLS, Api, opened
from tests.often import often
from tests.sessions.http_servers import free_port, running

pytestmark = pytest.mark.anyio

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
FAR = "http://far.example"
BAD = {
    "socks5://ada:hunter2-hunter2@127.0.0.1:1080": "SOCKS",
    "ftp://ada:hunter2-hunter2@127.0.0.1:21": "a scheme that harness does not speak",
    "http://ada:hunter2-hunter2@": "does not name a proxy",
    "hunter2-hunter2": "does not name a proxy",
    "http://127.0.0.1:99999": "does not name a proxy",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for name in (*VARIABLES, "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    load_tls_context.cache_clear()
    yield monkeypatch
    load_tls_context.cache_clear()


@pytest.fixture
def proxy() -> Iterator[LocalProxy]:
    with proxying() as running_proxy:
        yield running_proxy


async def problem_of(client: str, url: str) -> str:
    """Return why a request of ``client`` to ``url`` failed; empty if it did not."""
    try:
        await CLIENTS[client](url)
    except (HarnessError, RequestException) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("variable", often(["HTTP_PROXY", "all_proxy", "http_proxy", "ALL_PROXY"]))
@pytest.mark.parametrize("scheme", often(["http://", ""]))
async def test_every_client_goes_by_the_proxy_of_every_variable(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, client: str, variable: str, scheme: str
) -> None:
    environment.setenv(variable, f"{scheme}ada:lovelace@127.0.0.1:{proxy.port}")
    await problem_of(client, FAR)
    assert proxy.asked
    assert all(target.startswith(FAR) for target in proxy.asked)
    assert set(proxy.logins) == {"Basic YWRhOmxvdmVsYWNl"}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("variable", often(["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]))
async def test_encrypted_requests_go_through_the_proxy(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, client: str, variable: str
) -> None:
    environment.setenv(variable, proxy.url)
    await problem_of(client, "https://far.example")
    assert set(proxy.asked) == {"far.example:443"}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("host", often(["127.0.0.1", "localhost", "127.9.9.9", "[::1]"], 2))
async def test_no_client_goes_by_a_proxy_to_this_machine(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, client: str, host: str
) -> None:
    for variable in VARIABLES:
        environment.setenv(variable, proxy.url)
    await problem_of(client, f"http://{host}:{free_port()}")
    assert proxy.asked == []


@pytest.mark.parametrize("client", CLIENTS)
async def test_no_client_goes_by_a_proxy_to_an_address_that_is_exempt(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, client: str
) -> None:
    environment.setenv("ALL_PROXY", proxy.url)
    environment.setenv("NO_PROXY", "elsewhere.example, .invalid")
    await problem_of(client, "http://far.invalid")
    assert proxy.asked == []


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("value", often(BAD, 2))
async def test_a_variable_that_names_no_usable_proxy_is_named_without_its_password(
    environment: pytest.MonkeyPatch, client: str, value: str
) -> None:
    environment.setenv("ALL_PROXY", value)
    environment.setattr("harness.base.network.find_spec", lambda _: None)
    problem = await problem_of(client, FAR)
    assert "ALL_PROXY" in problem
    assert BAD[value] in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_bad_variable_that_does_not_count_harms_nobody(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, client: str
) -> None:
    environment.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    environment.setenv("HTTPS_PROXY", "garbage")
    environment.setenv("HTTP_PROXY", proxy.url)
    await problem_of(client, FAR)
    assert proxy.asked


@pytest.mark.parametrize("client", sorted(CLIENTS.keys() - {"telemetry"}))
async def test_a_proxy_that_does_not_run_is_named(
    environment: pytest.MonkeyPatch, client: str
) -> None:
    environment.setenv("http_proxy", f"http://ada:hunter2@127.0.0.1:{free_port()}")
    problem = await problem_of(client, FAR)
    assert "the proxy of http_proxy" in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize("client", sorted(CLIENTS.keys() - {"telemetry"}))
@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
@pytest.mark.parametrize("content", often([None, "no certificate"]))
async def test_certificates_that_cannot_be_read_are_named(
    environment: pytest.MonkeyPatch,
    tmp_path: Path,
    client: str,
    variable: str,
    content: str | None,
) -> None:
    path = tmp_path / "certificates"
    if content is not None:
        path.write_text(content)
    environment.setenv(variable, str(path))
    problem = await problem_of(client, f"https://127.0.0.1:{free_port()}")
    assert f"the certificates of ${variable} ({path}) cannot be read" in problem


@pytest.mark.parametrize("client", sorted(CLIENTS.keys() - {"telemetry"}))
async def test_certificates_do_not_matter_where_nothing_is_encrypted(
    environment: pytest.MonkeyPatch, client: str
) -> None:
    environment.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    assert "certificates" not in await problem_of(client, f"http://127.0.0.1:{free_port()}")


async def test_a_conversation_and_a_session_work_by_a_proxy(
    environment: pytest.MonkeyPatch,
) -> None:
    with FakeProvider([say("hello")]) as provider, proxying(_port_of(provider.url)) as proxy:
        environment.setenv("HTTP_PROXY", proxy.url)
        async with opened("chat", FAR) as model:
            assert (await model.answer(HELLO, TOOLS, None)).text == "hello"
    with running() as shop, proxying(shop.port) as proxy:
        environment.setenv("HTTP_PROXY", proxy.url)
        await CLIENTS["http"](f"{FAR}/good?")
        assert len(proxy.asked) > 1


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("scheme", often(["socks5h", "socks5"]))
async def test_every_client_goes_by_a_socks_proxy(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, client: str, scheme: str
) -> None:
    pytest.importorskip("socks" if client == "telemetry" else "socksio")
    with socks_proxying(proxy.port) as socks:
        environment.setenv("ALL_PROXY", f" {scheme}://ada:lovelace@127.0.0.1:{socks.port}/ ")
        await problem_of(client, "http://localhost.example" if scheme == "socks5h" else FAR)
    if scheme == "socks5h":  # the name is the proxy's to resolve
        assert set(socks.asked) == {"localhost.example:80"}
    if socks.asked:
        assert set(socks.logins) == {"ada:lovelace"}
        assert proxy.asked


@pytest.mark.parametrize("query", often(["api-version=2024-10-21", "a=1&a=2", "path=/x/", ""]))
@pytest.mark.parametrize("slash", often(["", "/"]))
@pytest.mark.parametrize("api", APIS)
async def test_the_query_of_an_address_stays_behind_the_path(
    environment: pytest.MonkeyPatch, proxy: LocalProxy, api: Api, slash: str, query: str
) -> None:
    environment.setenv("HTTP_PROXY", proxy.url)
    root, mark = f"{FAR}/openai/deployments/gpt-4o", "?" if query else ""
    async with opened(api, None, base_url=f"{root}{slash}{mark}{query}") as model:
        with suppress(HarnessError):
            await model.answer(HELLO, TOOLS, None)
    path = {"chat": "chat/completions", "responses": "responses", "messages": "v1/messages"}[api]
    assert proxy.asked == [f"{root}/{path}{mark}{query}"]


@pytest.mark.parametrize("client", sorted(CLIENTS.keys() - {"telemetry"}))
async def test_localhost_is_asked_at_both_of_its_addresses(client: str) -> None:
    heard: list[bool] = []

    async def hear(stream: anyio.abc.SocketStream) -> None:
        heard.append(True)
        await stream.aclose()

    with socket.socket() as refusing:
        # Bound and not listening: no other test's server can have this port at 127.0.0.1.
        refusing.bind(("127.0.0.1", 0))
        port = refusing.getsockname()[1]
        async with (
            await anyio.create_tcp_listener(
                local_host="::1", local_port=port, family=socket.AF_INET6
            ) as server,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(server.serve, hear)
            with anyio.move_on_after(5):
                await problem_of(client, f"http://localhost:{port}")
            tasks.cancel_scope.cancel()
    assert heard


def _port_of(url: str) -> int:
    return int(url.rpartition(":")[2])
