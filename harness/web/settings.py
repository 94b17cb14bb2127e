"""Settings of `harness serve`: address, limits, token."""

from __future__ import annotations

import ipaddress
from dataclasses import field
from pathlib import Path

from harness.runlog import RUNS
from harness.suites import MAX_CASES
from harness.types import DEFAULT_TIMEOUT_S, dataclass

MAX_BYTES = 5_000_000
"""Largest upload: as much as the readers of suites accept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The page's settings, which do not change while it runs."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8000
    """Port to listen on; 0 chooses a free one."""
    token: str | None = field(default=None, repr=False)
    """Token that every request needs; ``None``: no token is needed."""
    names: tuple[str, ...] = ()
    """Host names besides `host` by which the page is reached."""
    runs: Path = RUNS
    """Folder of the run logs."""
    max_bytes: int = MAX_BYTES
    """Largest upload."""
    max_cases: int = MAX_CASES
    """Most trials of one run."""
    case_timeout_s: float = DEFAULT_TIMEOUT_S
    """Most seconds of one trial, whatever the suite says."""
    at_once: int = 2
    """Runs at the same time."""
    queued: int = 20
    """Most waiting runs; more are refused."""
    heartbeat_s: float = 15.0
    """Seconds between keep-alive comments on an idle stream."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the page."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is only this machine: ``localhost``, 127.0.0.0/8, ``::1``."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    """Return whether ``host`` is a literal IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
