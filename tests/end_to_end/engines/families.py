"""The processes that a process has started, and those that these have started."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from tests.clock import BOUND_S


class Member(NamedTuple):
    """One process; an id may be given again, but not with the same start."""

    pid: int
    parent: int
    started: int
    title: str


def everybody() -> list[Member]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            facts = (folder / "stat").read_text().rpartition(")")[2].split()
            title = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, ValueError):
            continue
        if facts[0] != "Z":
            found.append(Member(int(folder.name), int(facts[1]), int(facts[19]), title))
    return found


def family(pid: int) -> list[Member]:
    """Return the descendants of ``pid``."""
    members, parents = everybody(), {pid}
    found: list[Member] = []
    while more := [one for one in members if one.parent in parents and one not in found]:
        found += more
        parents = {one.pid for one in more}
    return found


def workers(pid: int) -> list[Member]:
    """Return the workers of Ray below ``pid`` that run trials."""
    return [one for one in family(pid) if one.title.startswith("ray::Worker")]


def left_of(members: list[Member], *, within_s: float = BOUND_S) -> list[str]:
    """Wait until all of ``members`` have ended, and return the titles of those that have not."""
    known = {(one.pid, one.started) for one in members}
    deadline = time.monotonic() + within_s
    while True:
        left = [one.title for one in everybody() if (one.pid, one.started) in known]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)
