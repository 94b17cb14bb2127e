"""What `harness serve` was told: address, limits, token."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from harness.runner.runs.folders import RUNS
from harness.suites.csv_dataset import MAX_CASES
from harness.types import DEFAULT_TIMEOUT_S

MAX_BYTES = 5_000_000
"""One upload; as much as the readers of suites take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the page is served; nothing of it is changed while it runs."""

    host: str = "127.0.0.1"
    """Where to listen."""
    port: int = 8000
    """Likewise; 0 takes a free one."""
    token: str | None = field(default=None, repr=False)
    """What everybody must show who asks for anything; ``None`` lets in whoever reaches the
    address."""
    names: tuple[str, ...] = ()
    """Names besides `host` by which the page is reached from elsewhere."""
    runs: Path = RUNS
    """Where run logs are."""
    max_bytes: int = MAX_BYTES
    """Size of an upload."""
    max_cases: int = MAX_CASES
    """Trials of one run."""
    case_timeout_s: float = DEFAULT_TIMEOUT_S
    """The most that one trial may take, whatever a suite says."""
    at_once: int = 2
    """Runs at the same time."""
    queued: int = 20
    """Runs that may wait for their turn; more are refused."""
    heartbeat_s: float = 15.0
    """Between signs of life on a stream that has nothing to say."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the page."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is this machine and nothing else: ``localhost``, 127.0.0.0/8, ``::1``."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    """Return whether ``host`` is a literal IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
