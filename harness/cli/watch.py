"""``--watch``: run again whenever a suite, the configuration or the server's source changes.

Each run is a process of its own, so that nothing of the previous run is left, Python modules in
particular. Files are polled twice a second, which works on every file system without a dependency.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from harness.runner import RunPlan
from harness.suites import PROJECT_FILES
from harness.types import ServerSpec

INTERVAL_S = 0.5
"""Seconds between two polls; a change counts if nothing else has changed since the last poll."""
MOST_FILES = 5_000
"""Most files that are watched."""

_SOURCES = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".toml"})
"""Suffixes of a server's source files. Data that it writes must not start the next run."""
_SUITES = frozenset({".yml", ".yaml", ".csv", ".jsonl", ".py"})
_NOT_OURS = frozenset({"node_modules", "__pycache__", "site-packages", "dist", "build"})

Watched: TypeAlias = Collection[tuple[Path, frozenset[str]]]
"""Watched files, and watched folders with the suffixes that count in them."""
_Stamps: TypeAlias = Mapping[str, tuple[int, int]]


def find_watched_files(plan: RunPlan | None, project: Path, others: Sequence[str] = ()) -> Watched:
    """Return the files that runs of ``plan`` depend on; without a plan, the usual places of suites.

    ``others`` are further files, or texts that may name a file.
    """
    # Whether they exist or not: a file that appears is a change, too.
    found = {(project / name, frozenset[str]()) for name in (*PROJECT_FILES, *others)}
    found.add((project / "evals", _SUITES))
    for suite in plan.suites if plan is not None else ():
        if suite.at is not None:
            found.add((project / suite.at.file, frozenset()))
    for server in plan.servers if plan is not None else ():
        found |= {(place, _SOURCES) for place in _source_folders(server, project)}
    return found


def watch_files(
    arguments: Sequence[str], look: Callable[[], Watched], tell: Callable[[str], None]
) -> None:
    """Run ``harness`` with ``arguments`` now and after each change, until Ctrl-C."""
    process: subprocess.Popen[bytes] | None = None
    try:
        while True:
            watched = look()
            before = _read_stamps(watched)  # a change during the run starts the next one
            process = subprocess.Popen([sys.executable, "-m", "harness.cli", *arguments])  # noqa: S603 - our own command
            process.wait()
            tell(f"Watching {len(before)} files for changes; Ctrl-C ends.")
            changed = _wait_for_change(watched, before)
            tell(f"Changed: {', '.join(changed[:3])}{' …' if len(changed) > 3 else ''}")  # noqa: PLR2004
    finally:
        # The run has received Ctrl-C as well, and so it does another one.
        while process is not None and process.poll() is None:
            with suppress(KeyboardInterrupt):
                process.wait()


def _wait_for_change(watched: Watched, before: _Stamps) -> list[str]:
    """Wait until files have changed and stay unchanged for one poll; return them."""
    latest = before
    while True:
        time.sleep(INTERVAL_S)
        now = _read_stamps(watched)
        # Editors and builds write several files in turn: a run in their midst would see half of
        # them.
        if now == latest != before:
            return sorted(
                os.path.relpath(path)
                for path in {*before, *now}
                if before.get(path) != now.get(path)
            )
        latest = now


def _read_stamps(watched: Watched) -> _Stamps:
    stamps = {}
    for path in islice(_iterate_files(watched), MOST_FILES):
        try:
            state = path.stat()
        except OSError:  # removed meanwhile, or not yet there
            continue
        stamps[str(path)] = (state.st_mtime_ns, state.st_size)
    return stamps


def _iterate_files(watched: Watched) -> Iterator[Path]:
    # Single files first, so that a huge folder cannot take all of `MOST_FILES`.
    for place, suffixes in sorted(watched, key=lambda pair: (pair[0].is_dir(), str(pair[0]))):
        if not place.is_dir():
            yield place
            continue
        for parent, folders, names in os.walk(place):
            # In place: `os.walk` goes only into what is left in its list.
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".")
                and name not in _NOT_OURS
                and not Path(parent, name, "pyvenv.cfg").exists()
            )
            found = (Path(parent, name) for name in sorted(names))
            yield from (path for path in found if path.suffix in suffixes)


def _source_folders(server: ServerSpec, project: Path) -> Iterator[Path]:
    """Yield the folders of the scripts and modules that a server's command names."""
    home = project / (server.transport.cwd or "")
    for before, word in zip(("", *server.transport.args), server.transport.args, strict=False):
        module = home.joinpath(*word.split(".")) if before == "-m" else None
        if module is not None:
            yield module if module.is_dir() else module.with_name(f"{module.name}.py")
        elif (home / word).is_file():
            yield (home / word).parent
