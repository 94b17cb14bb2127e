"""The tools of a suite: those listed for any of its identities, determined before a run."""

from __future__ import annotations

import anyio

from harness.base import HarnessError, canonical_json
from harness.runner import Job, RunPlan, find_cause
from harness.sessions import open_sessions
from harness.types import Tool


def list_suite_tools(plan: RunPlan) -> tuple[Tool, ...]:
    """Start the servers of ``plan``, and return every tool that any caller is offered, once.

    If two callers are offered a tool with different texts, the list has that of the first.

    Raises:
        ServerError: a server could not be started, or could not list its tools, in time.
    """
    jobs: dict[tuple[str, str], Job] = {}
    for job in plan.jobs:
        # A flawed token must not be let in anywhere.
        if job.trial.case.caller.credential == "valid":
            who = canonical_json(job.trial.case.caller.user_context)
            jobs.setdefault((job.server.name, who), job)
    try:
        return anyio.run(_list_tools, list(jobs.values()))
    # Sessions run in a task group, which raises its errors as a group.
    except BaseExceptionGroup as group:
        cause = find_cause(group)
        if isinstance(cause, HarnessError):
            raise cause from group
        raise


async def _list_tools(jobs: list[Job]) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    async with open_sessions() as pool:
        for job in jobs:
            caller = job.trial.case.caller
            async with pool.lend_session(job.server, caller.user_context) as session:
                for tool in session.tools.tools:
                    tools.setdefault(tool.name, tool)
    return tuple(tools.values())
