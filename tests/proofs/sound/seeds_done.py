"""What was probed, remembered by version of the code, so that a pass can be taken up again."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
_DECIDE = (
    "tests/proofs/planted",
    "tests/proofs/sound",
    "harness/judging/policy",
    "harness/judging/matching",
    "harness/probing",
    "harness/judging/secrecy",
    "harness/sessions",
)
"""Folders whose code and data decide what is asked, and what is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedDone:
    """One sound server that was probed with the data of one seed."""

    version: str
    """The version of the code (`version`)."""
    subject: str
    """Name of the server and of the way it was asked."""
    seed: int
    """The seed."""
    calls: int
    """How many calls were judged."""
    alarms: tuple[str, ...]
    """What was found, though nothing is wrong."""
    own_s: float
    """Processor time of the prober, in seconds."""
    servers_s: float
    """Processor time of the servers that it started, in seconds; not of those in Python, which are
    forked from a process that has imported their packages."""


@cache
def version() -> str:
    """Return eight letters that are others whenever the code or its data are."""
    found = hashlib.sha256()
    for folder in _DECIDE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".yml", ".mjs"}:
                found.update(f"{path.relative_to(ROOT)}\n".encode())
                found.update(path.read_bytes())
    return found.hexdigest()[:8]


def read(path: Path) -> Iterator[SeedDone]:
    """Yield what ``path`` remembers; nothing if there is no such file."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        given = json.loads(line)
        yield SeedDone(**{**given, "alarms": tuple(given["alarms"])})


def remember(path: Path, done: SeedDone) -> None:
    """Add ``done`` to ``path``; several programs may do so at the same time."""
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(asdict(done), ensure_ascii=False) + "\n")


def summary(every: Iterable[SeedDone]) -> Iterator[str]:
    """Yield a line for each version and server: seeds, calls, alarms and processor time of each."""
    groups: dict[tuple[str, str], dict[int, SeedDone]] = {}
    for one in every:
        groups.setdefault((one.version, one.subject), {})[one.seed] = one
    for (code, subject), seeds in groups.items():
        own, servers = (
            sum(getattr(one, name) for one in seeds.values()) / len(seeds)
            for name in ("own_s", "servers_s")
        )
        yield (
            f"{code} {subject}: {len(seeds)} seeds ({_ranges(seeds)}), "
            f"{sum(one.calls for one in seeds.values())} calls, "
            f"{sum(len(one.alarms) for one in seeds.values())} false alarms; "
            f"{own:.1f} s of the prober and {servers:.1f} s of unforked servers for a seed"
        )


def _ranges(seeds: Iterable[int]) -> str:
    """Return ``1-4, 7`` for these numbers."""
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and parts[-1][-1] == seed - 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else f"{one[0]}" for one in parts)
