"""The network: proxies, the TLS trust store, and which addresses are loopback."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import field
from importlib.util import find_spec
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from harness.base.errors import UsageError
from harness.types import dataclass

LOCALHOST = ("127.0.0.1", "::1")
"""The addresses of this machine's own name; many machines know it by the first alone."""

_OTHER_NAMES = ("localhost.localdomain", "ip6-localhost", "ip6-loopback")
"""What systems call this machine beside localhost."""
_SOCKS = ("socks5", "socks5h")
_SCHEMES = ("http", "https", *_SOCKS)
_HOST = re.compile(r"[\w.-]+|[0-9a-fA-F:.]+(?:%\w+)?")
_WITH_PORT = re.compile(r"(?P<host>\[[^]]*\]|[^:]+):(?P<port>\d{1,5})")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that the environment names."""

    variable: str
    """What names it."""
    url: str = field(repr=False)
    """Its URL, which may have a password."""


def find_proxy(
    url: str, environ: Mapping[str, str] = os.environ, *, socks: str = "socksio"
) -> Proxy | None:
    """Return the proxy for requests to ``url``; ``None`` if there is none.

    ``socks`` is the package by which the caller speaks with a SOCKS proxy.

    Raises:
        UsageError: what is named is no proxy that can be used; the message does not show it.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host):
        return None
    named = _find_named_proxy(parts.scheme, host, environ)
    if named is None or _is_exempt(parts, _read_variable("no_proxy", environ)[1]):
        return None
    return _check_proxy(named, socks)


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine; 0.0.0.0, at which servers say they listen, leads here."""
    plain = host.strip("[]").partition("%")[0]
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(plain))  # 127.1, 0x7f000001
        except (OSError, ValueError):
            return is_localhost(host) or host.lower() in _OTHER_NAMES
    # ::ffff:127.0.0.1 is this machine, too.
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def is_localhost(host: str) -> bool:
    """Whether ``host`` is a name of this machine, whose addresses are 127.0.0.1 and ::1."""
    name = host.lower().rstrip(".")
    return name == "localhost" or name.endswith(".localhost")


def _find_named_proxy(scheme: str, host: str, environ: Mapping[str, str]) -> Proxy | None:
    found = [_read_variable(f"{kind}_proxy", environ) for kind in (scheme, "all")]
    # An empty variable is a decision, too: then not even the system's proxy counts.
    if any(variable for variable, _ in found):
        return next((Proxy(variable, value) for variable, value in found if value), None)
    # The system's settings belong to this process, not to an environment that is asked about.
    if environ is not os.environ or proxy_bypass(host):
        return None
    system = getproxies().get(scheme)  # of macOS and Windows; elsewhere there is none
    return Proxy("the system's settings", system) if system else None


def _read_variable(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the spelling of the variable ``name`` that is set, and its value; empty without."""
    spelled = next((one for one in (name, name.upper()) if one in environ), "")
    return spelled, environ.get(spelled, "").strip()


def _is_exempt(url: SplitResult, exempt: str) -> bool:
    host, port = (url.hostname or "").rstrip("."), url.port or _PORTS.get(url.scheme)
    for entry in re.split(r"[\s,]+", exempt.lower()):
        with_port = _WITH_PORT.fullmatch(entry)
        name = with_port["host"] if with_port else entry
        if with_port and int(with_port["port"]) != port:
            continue
        # No standard says how to write a domain here: `*.x`, `.x` and `x` are all in use.
        if entry == "*" or _is_within(host, name.strip("[]").removeprefix("*.").lstrip(".")):
            return True
    return False


def _is_within(host: str, name: str) -> bool:
    """Whether ``host`` is the address or domain ``name``, or in it."""
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False)
    except ValueError:
        return bool(name) and (host == name or host.endswith(f".{name}"))


def _check_proxy(proxy: Proxy, socks: str) -> Proxy:
    """Return ``proxy`` with a scheme, if it can be used."""
    has_scheme = "://" in proxy.url
    url = proxy.url if has_scheme else f"http://{proxy.url}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    # A bare word such as `none` is no proxy, though a URL could be made of it.
    written = has_scheme or port is not None or "." in host or ":" in host
    if not written or not _HOST.fullmatch(host) or re.search(r"[\s\\]", url):
        wrong = "does not name a proxy"
        meant = "Write its URL, http://HOST:PORT, or unset the variable."
    elif parts.scheme.lower() not in _SCHEMES:
        wrong = "names a proxy with a scheme that harness does not speak"
        meant = f"It speaks {', '.join(_SCHEMES)}. Or unset the variable."
    elif parts.scheme.lower() in _SOCKS and find_spec(socks) is None:
        package = {"socks": "pysocks"}.get(socks, socks)
        wrong = "names a SOCKS proxy, for which a package is missing"
        meant = f"Install it: pip install {package}. Or name an HTTP proxy, or unset it."
    else:
        return Proxy(proxy.variable, url)
    raise UsageError(f"{proxy.variable} {wrong}", meant=meant)


def is_web_address(url: str) -> bool:
    """Whether requests can be sent to ``url``: it has a scheme, a host and a port that can be."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port  # a port is at most 65,535
    except ValueError:
        return False
    # `urlsplit` accepts white space in a host.
    whole = bool(parts.hostname) and not re.search(r"\s", parts.netloc)
    return whole and parts.scheme in ("http", "https") and port != 0
