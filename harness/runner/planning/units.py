"""The units of a plan that belong together; shards and engines divide it alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from harness.runner.planning.plan import Job
from harness.types import ServerSpec

Unit: TypeAlias = tuple[Job, ...]
"""Trials that one worker runs, in the order of the plan."""


def get_unit_name(job: Job) -> tuple[str, str]:
    """Return the name of the case of ``job``, or of the test whose identities are compared."""
    return job.suite.name, job.trial.case.caller.group or job.trial.case.name


def work_units(jobs: Iterable[Job]) -> Iterator[Unit]:
    """Yield ``jobs`` in units of what belongs together, each as small as possible.

    A unit is one repeat of a case, with all identities of its test and all values of each axis.
    If all identities share one process of a server (``isolation: none``), all cases of that server
    are one unit.
    """
    units: dict[tuple[str | int, ...], list[Job]] = {}
    for job in jobs:
        units.setdefault(_build_key(job), []).append(job)
    return map(tuple, units.values())


def _build_key(job: Job) -> tuple[str | int, ...]:
    if _shares_a_process(job.server):
        return ("server", job.server.name)
    # By model and not by entrant: the variants of a model stay together.
    return ("case", *get_unit_name(job), job.model.name, job.trial.number)


def _shares_a_process(server: ServerSpec) -> bool:
    # A server that locks its database, say, could not run on a second worker beside the first.
    return any(
        one.isolation == "none" and one.transport.command is not None
        for one in server.members or (server,)
    )
