"""Resources and prompts are read over every transport and revision, whatever their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client

from harness.agents.proxy.listener import open_listener
from harness.agents.proxy.recording import Recording
from harness.cli.probe_output import build_document, format_lines, summarize_probe
from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.sessions.pool import open_sessions
from harness.types import Caller, Case, ServerSpec, TransportSpec
from tests.end_to_end.warm import warm_python
from tests.often import often
from tests.sessions.calling.library_server import EMAIL, PROMPTS, URIS
from tests.sessions.http_servers import Running, running

SERVER = Path(__file__).with_name("library_server.py")
WAYS = {
    "newest over HTTP": ("mcp", "2026-07-28", "http"),
    "agreed over HTTP": ("mcp", "auto", "http"),
    "handshake over HTTP": ("mcp", "legacy", "http"),
    "SSE": ("sse", "auto", "sse"),
    "newest over stdio": (None, "auto", "stdio"),
    "handshake over stdio": (None, "legacy", "stdio"),
}
"""Transport and revision: path, ``protocol``, ``transport``."""


def at(server: Running, way: str, fault: str = "") -> ServerSpec:
    """Return how to reach the library that way."""
    path, protocol, kind = WAYS[way]
    if path is not None:
        return server.at(path, protocol=protocol, transport=kind)
    transport = TransportSpec(
        command=warm_python(),
        args=(str(SERVER), fault),
        protocol=protocol,  # type: ignore[arg-type]
    )
    return ServerSpec(name="library", transport=transport)


@pytest.fixture(scope="module")
def library() -> Iterator[Running]:
    with running(str(SERVER)) as server:
        yield server


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
async def test_every_name_is_read(library: Running, way: str) -> None:
    async with open_sessions() as pool, pool.lend_session(at(library, way), None) as session:
        for uri in URIS:
            read = await session.send_request("resources/read", {"uri": uri})
            assert read["contents"] == [{"uri": uri, "text": f"about {uri}: nothing"}]
        for name in PROMPTS:
            got = await session.send_request("prompts/get", {"name": name})
            assert got["messages"][0]["content"]["text"] == f"about {name}: nothing"


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", often(["auto", "legacy"]))
async def test_an_agent_reads_every_name(library: Running, way: str, mode: str) -> None:
    async with (
        open_sessions() as pool,
        pool.lend_session(at(library, way), None) as session,
        open_listener() as listener,
        listener.serve(session, Recording(), 50) as url,
        Client(url, mode=mode) as client,
    ):
        for uri in URIS:
            read = await client.read_resource(uri)
            assert read.contents[0].text == f"about {uri}: nothing"  # type: ignore[union-attr]
        for name in PROMPTS:
            got = await client.get_prompt(name)
            text = got.messages[0].content.text  # type: ignore[union-attr]
            assert text == f"about {name}: nothing"


def probed(server: ServerSpec, folder: Path) -> ProbeReport:
    """Return the report of a probe as an administrator, an agent and nobody."""
    cases = tuple(
        Case(
            name=name,
            prompt="Who is C-17?",
            checks=(),
            caller=Caller(user_context={"role": name}, identity=name, group="customer"),
        )
        for name in ("admin", "agent")
    )
    plan = ProbePlan(server=server, callers=name_callers(cases), cases=cases, damaged=False)
    return anyio.run(run_probe, plan, folder).report


@pytest.mark.parametrize(
    ("fault", "place"),
    [
        ("resource", f"the resource {URIS[0]}"),
        pytest.param("umlaut", f"the resource {URIS[1]}", marks=pytest.mark.slow),
        pytest.param("prompt", f"the prompt {PROMPTS[0]}", marks=pytest.mark.slow),
    ],
)
def test_a_leak_is_found_over_every_transport(tmp_path: Path, fault: str, place: str) -> None:
    found = {}
    with running(str(SERVER), fault) as server:
        for way in WAYS:
            report = probed(at(server, way, fault), tmp_path / way)
            found[way] = (report.exit_code, {leak.place for leak in report.report.access.leaks})
    assert EMAIL not in str(found)
    assert all(code == 1 and any(place in one for one in leaks) for code, leaks in found.values())
    assert len({str(one) for one in found.values()}) == 1


@pytest.mark.slow
def test_a_resource_that_fails_for_everyone_is_named_and_no_praise_is_given(tmp_path: Path) -> None:
    transport = TransportSpec(command=warm_python(), args=(str(SERVER), "closed"))
    report = probed(ServerSpec(name="closed", transport=transport), tmp_path)
    assert (report.exit_code, report.findings) == (0, ())
    (line,) = report.not_read
    assert line == (
        f"{', '.join(f'the resource {uri}' for uri in URIS)} (as admin, agent, anonymous): "
        "the server answers with an error (code -32603)"
    )
    said = "\n".join(text for text, _ in format_lines(report, (), (), 200))
    assert f"? not read: {line}" in said
    assert "No problem was found" not in said
    assert any(line in text for text in summarize_probe(report, ()))
    assert build_document(report, (), (), 0)["not_read"] == [line]
