"""Certificates are read once for all connections, and unreadable ones are reported."""

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.transports import load_tls_context
from tests.end_to_end.harness_process import Project, plain_server
from tests.models.support import APIS, opened


@pytest.mark.anyio
async def test_the_machines_certificates_are_read_once_for_all_models() -> None:
    load_tls_context.cache_clear()
    for api in APIS:
        async with opened(api, "http://127.0.0.1:9"):
            pass
    assert (load_tls_context.cache_info().misses, load_tls_context.cache_info().hits) == (
        1,
        len(APIS) - 1,
    )


@pytest.mark.parametrize("text", [None, "", "no certificate"])
def test_a_file_that_holds_no_certificates_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    load_tls_context.cache_clear()
    with pytest.raises(UsageError) as told:
        load_tls_context()
    assert f"the certificates of $SSL_CERT_FILE ({file}) cannot be read: " in str(told.value)
    load_tls_context.cache_clear()


@pytest.mark.slow
def test_a_run_says_so_before_it_starts_anything(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.suite(
        "shop",
        [{"name": "a", "prompt": "b", "assertions": {"must_call": ["echo"]}}],
        server=plain_server(),
    )
    project.configure(
        models={"models": {"m": {"type": "openai", "model": "gpt-4o", "api_key": "k"}}}
    )
    finished = project.run("evals", "shop", "--model", "m", SSL_CERT_FILE="/nonexistent/ca.pem")
    assert finished.code == 3
    assert (
        "the certificates of $SSL_CERT_FILE (/nonexistent/ca.pem) cannot be read: No such file"
        in finished.stderr
    )
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SSL_CERT_FILE", "/nonexistent/ca.pem", "the certificates of $SSL_CERT_FILE"),
        ("HTTPS_PROXY", "ftp://127.0.0.1:9", "HTTPS_PROXY names a proxy with a scheme"),
    ],
)
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.slow
def test_a_route_to_a_server_that_cannot_be_used_is_told_before_any_trial(
    tmp_path: Path, variable: str, value: str, says: str, joined: bool
) -> None:
    project = Project(tmp_path)
    case = {"name": "a", "prompt": "b", "assertions": {"must_not_call": ["echo"]}}
    project.configure(servers={"far": {"url": "https://example.invalid/mcp"}})
    project.suite("far", [case], server="far")
    more = ["--server", "far", "--server", "data_governance"] if joined else []
    finished = project.run("evals", "far", "--model", "lexical", *more, **{variable: value})
    assert finished.code == 3, finished.stderr
    assert says in finished.stderr
    assert not (tmp_path / ".harness" / "runs").exists()
