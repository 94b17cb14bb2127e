"""How a plan is divided: shards and engines keep what belongs together in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from harness.base import UsageError
from harness.runner.planning.plan import Job
from harness.runner.planning.request import MOST_IN_A_PROCESS

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
        # A server that locks its database, say, could not run on a second worker beside the first.
        shared = any(
            server.isolation == "none" and server.transport.command is not None
            for server in job.server.members or (job.server,)
        )
        # By model and not by entrant: the variants of a model stay together.
        own = (*get_unit_name(job), job.model.name, job.trial.number)
        units.setdefault(("server", job.server.name) if shared else own, []).append(job)
    return map(tuple, units.values())


def divide_seats(concurrency: int, units: int, processors: int) -> list[int]:
    """Divide the trials at the same time among as many workers as a cluster has processors.

    ``units`` are what can be handed out: no more workers than that are started.

    Raises:
        UsageError: there is no processor, or there are too few for so many trials.
    """
    if processors < 1:
        raise UsageError("the Ray cluster has no processor for a worker")
    workers = min(processors, concurrency, units)
    # The first `more` workers take one trial more than the others.
    each, more = divmod(concurrency, workers)
    if each + (more > 0) > MOST_IN_A_PROCESS:
        raise UsageError(
            f"{concurrency} trials at the same time are too many for this Ray cluster: a worker "
            f"runs at most {MOST_IN_A_PROCESS}, and there would be {workers}"
        )
    return [each + (place < more) for place in range(workers)]
