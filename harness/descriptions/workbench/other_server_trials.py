"""Compare another server with the suite's own: both run the same cases.

The trials on the other server are a run of their own, in a folder of its own (``ID-b``), which can
be read, graded and compared like any other run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import anyio

from harness.base import HarnessError, UsageError, canonical_json, make_one_line
from harness.descriptions.workbench.analysis.effects import list_names
from harness.descriptions.workbench.arms import CLEAN, Arm, ServerTexts, collect_texts
from harness.descriptions.workbench.stages import (
    WorkbenchContext,
    collect_logged_texts,
    logged_other_server,
    only_suite,
)
from harness.descriptions.workbench.study import OtherServer
from harness.models import get_traits
from harness.runlog import RunLog
from harness.runner import (
    Job,
    RunPlan,
    find_cause,
    has_tools_per_case,
    iterate_named_tools,
    require_trust,
    wrong_arguments,
)
from harness.sessions import open_sessions
from harness.types import Case, JsonObject, ServerSpec, Tool, ToolList, dataclass


def list_suite_texts(plan: RunPlan) -> ServerTexts:
    """Start the servers of ``plan``, and return the texts that its callers are shown.

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
        return collect_texts(anyio.run(_list_tools, list(jobs.values())))
    # Sessions run in a task group, which raises its errors as a group.
    except BaseExceptionGroup as group:
        cause = find_cause(group)
        if isinstance(cause, HarnessError):
            raise cause from group
        raise


async def _list_tools(jobs: list[Job]) -> list[ToolList]:
    lists = []
    async with open_sessions() as pool:
        for job in jobs:
            caller = job.trial.case.caller
            async with pool.lend_session(job.server, caller.user_context) as session:
                lists.append(session.tools)
    return lists


_SHOWN = 5
"""Most cases that are named in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherServerTrials:
    """The other server, ready for its trials."""

    ground: WorkbenchContext
    """The request for the other server, with this server for all cases."""
    server: OtherServer
    """The tools that it lists, and the cases that cannot run on it."""

    def build_arm(self, cases: Sequence[str]) -> Arm:
        """Return the other server's list, on those of ``cases`` that can run on it."""
        return replace(CLEAN, cases=frozenset(cases) - self.server.not_asked.keys())

    def plan_trials(
        self, cases: Sequence[str], settings: JsonObject, *, keyless: bool = False
    ) -> RunPlan:
        """Return the plan of those of ``cases`` that can run on it.

        A tool that is blocked for this suite need not exist here.
        """
        plan = self.ground.plan_stage([self.build_arm(cases)], settings, keyless=keyless).plan
        # By identity, so that jobs which share a server still share one.
        known: dict[int, ServerSpec] = {}
        jobs = [
            replace(job, server=known.setdefault(id(job.server), _allow_absent_tools(job.server)))
            for job in plan.jobs
        ]
        return replace(plan, jobs=tuple(jobs))

    def header_entry(self) -> JsonObject:
        """Return the other server's entry in the log's header."""
        return {"server": self.server.name, "not_asked": dict(self.server.not_asked)}


def start_other_server(
    ground: WorkbenchContext, server: str, clean: RunPlan, *, keyless: bool = False
) -> OtherServerTrials:
    """Start the other server, and return what it lists.

    Args:
        ground: Where the workbench works.
        server: A configured name, a URL or a command line.
        clean: The plan of the clean arm on the suite's own server.
        keyless: Whether models without their key are accepted, because no model is asked.

    Raises:
        UsageError: there is no such server, it is not trusted, a model only repeats what it said
            to another list, or no case can be asked.
        ServerError: it could not be started, or could not list its tools, in time.
    """
    # Before anything is started.
    for model in clean.models:
        if get_traits(model.provider).answers in ("replies", "outputs"):
            raise UsageError(
                f"{model.name} repeats what was said to one tool list, and cannot be asked about "
                f"that of {server}",
                meant="Name a model that is not a recording.",
            )
    other = replace(ground, request=replace(ground.request, server=server))
    plan = other.plan_clean(keyless=keyless).plan
    require_trust(plan)
    suite = only_suite(clean)
    tools = list_suite_texts(plan).tools
    name = make_one_line(plan.jobs[0].server.name)
    # Two versions of a server mostly have the same name.
    if name == make_one_line(clean.jobs[0].server.name):
        name = f"{name} (B)"
    not_asked = find_unusable_cases(suite.cases, tools)
    if len(not_asked) == len(suite.cases):
        raise UsageError(
            f"no case of suite {suite.name!r} can be asked of {name}: "
            f"{format_unusable_cases(not_asked)}",
            meant="Name a server that has the tools of the suite's checks.",
        )
    return OtherServerTrials(
        ground=other, server=OtherServer(name=name, tools=tools, not_asked=not_asked)
    )


def read_other_server(logs: Sequence[RunLog]) -> OtherServer | None:
    """Return the other server from the logs of a workbench; ``None`` if there is none."""
    for log in logs:
        if (described := logged_other_server(log)) is not None:
            return OtherServer(
                name=described["server"],
                tools=collect_logged_texts([log]).tools,
                not_asked=described["not_asked"],
            )
    return None


def find_unusable_cases(cases: Sequence[Case], tools: Sequence[Tool]) -> dict[str, str]:
    """Return case → why it cannot run on a server with ``tools``.

    Such a case has a server of its own, or a check or call of it names a tool or an argument that
    does not exist there: it would always fail, or always pass, whatever the model does.
    """
    listed = ToolList(tools=tuple(tools))
    obstacles = {case.name: next(_find_obstacles(case, listed), None) for case in cases}
    return {name: why for name, why in obstacles.items() if why is not None}


def format_unusable_cases(not_asked: Mapping[str, str]) -> str:
    """Return in words which cases cannot run there, by reason."""
    return "; ".join(
        f"{list_names(names, _SHOWN)} ({why})" for why, names in group_by_reason(not_asked).items()
    )


def group_by_reason(not_asked: Mapping[str, str]) -> dict[str, list[str]]:
    """Return why cases cannot run there → the cases."""
    found: dict[str, list[str]] = {}
    for case, why in not_asked.items():
        found.setdefault(why, []).append(case)
    return found


def _find_obstacles(case: Case, tools: ToolList) -> Iterator[str]:
    if case.server is not None:
        yield f"has a server of its own, {make_one_line(case.server.name)}"
    # Each case brings tools of its own, of which the list says nothing.
    if has_tools_per_case(case):
        return
    for named in iterate_named_tools(case):
        if not named.allow_absent and tools.get(named.tool) is None:
            yield f"names the tool {make_one_line(named.tool)}, which is not there"
    for problem in wrong_arguments([case], tools):
        yield problem.message.removesuffix(".")


def _allow_absent_tools(server: ServerSpec) -> ServerSpec:
    guard = server.guard
    absent = {named.tool: replace(named, allow_absent=True) for named in guard.blocked}
    return replace(
        server,
        guard=replace(guard, blocked=tuple(absent.values())),
        members=tuple(map(_allow_absent_tools, server.members)),
    )
