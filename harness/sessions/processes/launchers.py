"""Programs that download a server before they start it, such as ``npx`` and ``uvx``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from harness.types import ServerSpec

_LAUNCHERS = ("bunx", "npm", "npx", "pipx", "pnpm", "pnpx", "uv", "uvx", "yarn")
_PROXIES = ("all_proxy", "http_proxy", "https_proxy", "no_proxy")
_PASSED = frozenset(
    {
        *_PROXIES,
        *("ssl_cert_dir", "ssl_cert_file", "requests_ca_bundle", "curl_ca_bundle"),
        *("node_extra_ca_certs", "xdg_cache_home", "tmpdir"),
        *("pip_cert", "pip_config_file", "pip_extra_index_url", "pip_find_links", "pip_index_url"),
        *("uv_cache_dir", "uv_config_file", "uv_default_index", "uv_extra_index_url"),
        *("uv_find_links", "uv_index", "uv_index_strategy", "uv_index_url", "uv_native_tls"),
        *("uv_offline", "uv_python", "uv_python_downloads", "uv_python_install_mirror"),
        *("uv_system_certs", "uv_tool_dir"),
        *("npm_config_cache", "npm_config_cafile", "npm_config_https_proxy", "npm_config_noproxy"),
        *("npm_config_proxy", "npm_config_registry", "npm_config_userconfig"),
    }
)
"""Proxies, certificates, indexes and caches. No variable that is only a password or a token."""


def name_launcher(spec: ServerSpec) -> str:
    """Return the name of the program that downloads the server; empty if none does."""
    name = PurePath(spec.transport.command or "").name.lower()
    name = re.sub(r"\.(?:cmd|exe)$", "", name)
    return name if name in _LAUNCHERS else ""


def list_download_variables(spec: ServerSpec, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the variables ``names`` that a download of the server needs."""
    if not name_launcher(spec):
        return ()
    return tuple(name for name in names if name.lower() in _PASSED)


def describe_download(spec: ServerSpec) -> str:
    """Return what a start that took too long may have done, or an empty text."""
    launcher = name_launcher(spec)
    if not launcher:
        return ""
    return (
        f"; {launcher} installs the server at its first start, which may take longer: set "
        f"start_timeout: {max(300, round(spec.start_timeout_s * 4))} (--start-timeout), or run it "
        "once by hand"
    )


def describe_installing(servers: Iterable[ServerSpec]) -> str:
    """Return which of ``servers`` may be installed before they start, or an empty text."""
    named = [f"{each.name!r} by {name_launcher(each)}" for each in servers if name_launcher(each)]
    return f"installing {', '.join(named)}, unless that was done before" if named else ""


def inherit_variables(
    spec: ServerSpec, usual: Iterable[str], environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of ``environ`` that a server inherits: the ``usual`` ones and these."""
    names = (*usual, *list_download_variables(spec, environ))
    return {name: environ[name] for name in names if name in environ}
