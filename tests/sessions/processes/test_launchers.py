"""A server that is installed at its first start: what it inherits, and what a late start says."""

from __future__ import annotations

import pytest

from harness.sessions.processes.launchers import (
    describe_download,
    describe_installing,
    inherit_variables,
    name_launcher,
)
from harness.sessions.processes.process import INHERITED
from harness.types import ServerSpec, TransportSpec

ENVIRON = {
    "HOME": "/home/ada",
    "HTTPS_PROXY": "http://proxy:3128",
    "no_proxy": "localhost",
    "NODE_EXTRA_CA_CERTS": "/certs.pem",
    "UV_DEFAULT_INDEX": "https://index.example.com/simple",
    "NPM_CONFIG_REGISTRY": "https://npm.example.com",
    "npm_config_cafile": "/certs.pem",
    "UV_INDEX_PRIVATE_PASSWORD": "secret",
    "NPM_TOKEN": "secret",
    "OPENAI_API_KEY": "secret",
}


def launched(command: str, **settings: float) -> ServerSpec:
    return ServerSpec(name="shop", transport=TransportSpec(command=command), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["npx", "uvx", "/usr/bin/uvx", "uv", "bunx", "npx.cmd"])
def test_a_download_gets_proxies_certificates_and_indexes_and_no_secret(command: str) -> None:
    inherited = inherit_variables(launched(command), INHERITED, ENVIRON)
    assert set(ENVIRON) - set(inherited) == {
        "UV_INDEX_PRIVATE_PASSWORD",
        "NPM_TOKEN",
        "OPENAI_API_KEY",
    }


@pytest.mark.parametrize("command", ["python", "node", "my-npx-server", "shop"])
def test_any_other_server_inherits_what_it_did(command: str) -> None:
    assert inherit_variables(launched(command), INHERITED, ENVIRON) == {"HOME": "/home/ada"}
    assert describe_download(launched(command)) == ""


def test_a_late_start_says_that_the_server_is_installed_and_names_the_setting() -> None:
    said = describe_download(launched("npx", start_timeout_s=30))
    assert "npx installs the server at its first start" in said
    assert "start_timeout: 300 (--start-timeout)" in said
    assert "start_timeout: 800" in describe_download(launched("uvx", start_timeout_s=200))
    assert name_launcher(ServerSpec(name="s", transport=TransportSpec(url="http://x/npx"))) == ""


def test_progress_says_what_is_installed() -> None:
    said = describe_installing([launched("python"), launched("npx")])
    assert said == "installing 'shop' by npx, unless that was done before"
    assert describe_installing([launched("python")]) == ""
