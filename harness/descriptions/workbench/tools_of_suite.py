"""The tools of a suite: those listed for any of its identities, determined before a run."""

from __future__ import annotations

import anyio

from harness.base import HarnessError, canonical_json
from harness.runner import Job, Plan, cause_of
from harness.sessions import open_sessions
from harness.types import Tool


def tools_of(plan: Plan) -> tuple[Tool, ...]:
    """Start the servers of ``plan``, and return every tool that any caller is offered, once.

    If two callers are offered a tool with different texts, the list has that of the first.

    Raises:
        ServerError: a server could not be started, or could not list its tools, in time.
    """
    try:
        return anyio.run(_listed, _one_job_of_each_caller(plan))
    except BaseExceptionGroup as group:
        cause = cause_of(group)
        if isinstance(cause, HarnessError):
            raise cause from group
        raise


def _one_job_of_each_caller(plan: Plan) -> list[Job]:
    seen: dict[tuple[str, str], Job] = {}
    for job in plan.jobs:
        if job.trial.case.caller.credential == "valid":
            who = canonical_json(job.trial.case.caller.user_context)
            seen.setdefault((job.server.name, who), job)
    return list(seen.values())


async def _listed(jobs: list[Job]) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    async with open_sessions() as pool:
        for job in jobs:
            caller = job.trial.case.caller
            async with pool.session(job.server, caller.user_context) as session:
                for tool in session.tools.tools:
                    tools.setdefault(tool.name, tool)
    return tuple(tools.values())
