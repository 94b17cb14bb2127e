"""Checks before tokens are spent that the named tools exist and have the named arguments.

Only a running server tells the arguments of its tools, and they may differ between users. So tools
are listed for the users of a plan before its first trial opens a session; the sessions stay open
for the trials. Users beyond the first `LISTED_AHEAD`, and those whose server did not start, are
checked when their own session opens: starting every process at once would cost more than it saves.
If a named tool is in none of these lists, all other users' lists are requested as well
(`harness.runner.preflight.offered_names`).

Also, before servers start, that each credential can be presented; and, in a trial, that there are
tools at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import anyio

from harness.base import (
    HarnessError,
    InvalidInput,
    Problem,
    ServerError,
    UsageError,
    canonical_json,
)
from harness.judging import ANY, checks_with, find_mismatches, valid_calls
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.preflight.named_tools import sorted_problems
from harness.runner.preflight.offered_names import OfferedTools, ServerUser
from harness.runner.recordings.recorded_outputs import RECORDED
from harness.sessions import (
    TRANSPORTS,
    SessionPool,
    check_credential,
    check_identity,
    delivery_of,
)
from harness.types import Case, JsonObject, Location, ToolList

LISTED_AHEAD = 8
"""Users whose tools are listed before any model is asked: as many as a machine starts within a few
seconds."""


@dataclass(slots=True, kw_only=True)
class _User(ServerUser):
    """A user, and the cases that name arguments of the server's tools.

    `failure` is why there was no session, until a trial has reported it.
    """

    cases: list[Case] = field(default_factory=list)


class Preflight:
    """The check of all tools that a plan names."""

    def __init__(self, plan: RunPlan) -> None:
        """Collect the users whose tools must be listed: only those of cases that name arguments."""
        users: dict[tuple[int, str], _User] = {}
        self._user_of: dict[tuple[str, str], _User] = {}
        self._over = anyio.Event()
        self._offers = OfferedTools(plan)
        for job in plan.jobs:
            key, case, caller = _case_key(job), job.trial.case, job.trial.case.caller
            # The recorded calls were made with other tools. A case that names no argument needs no
            # list ahead of its own session.
            if (
                job.model.provider == RECORDED
                or key in self._user_of
                or not any(arguments for _, arguments, _ in _iterate_described_calls(case))
            ):
                continue
            who = (id(job.server), canonical_json([caller.user_context, caller.credential]))
            new = _User(
                server=job.server, user_context=caller.user_context, credential=caller.credential
            )
            self._user_of[key] = users.setdefault(who, new)
            self._user_of[key].cases.append(case)
        self._users = list(users.values())

    @classmethod
    def from_trial(cls, job: Job) -> Preflight:
        """Return the check of one trial, whose plan was checked in another process."""
        alone = cls(RunPlan(jobs=(job,)))
        # Nobody lists tools for it, so it must not wait.
        alone._over.set()
        return alone

    async def list_tools(self, pool: SessionPool) -> None:
        """List the tools of the first users; a failed start is reported by the server's trials.

        Raises:
            InvalidInput: the error names every tool that no user is offered, and every argument
              that a tool does not have.
        """
        problems: list[Problem] = []

        async def list_user_tools(user: ServerUser) -> None:
            who = user.server, user.user_context, user.credential
            try:
                async with pool.lend_session(*who) as session:
                    self._offers.record_tools(*who, session.tools)
                    if isinstance(user, _User):
                        problems.extend(wrong_arguments(user.cases, session.tools))
            except HarnessError as error:
                self._offers.record_failure(*who, error)
                if isinstance(user, _User):
                    user.failure = error

        # Arguments first: their lists mostly settle the names of tools as well.
        wave: Sequence[ServerUser]
        wave = self._users[:LISTED_AHEAD] or self._offers.next_users(1)
        while wave:
            async with anyio.create_task_group() as group:
                for user in wave:
                    group.start_soon(list_user_tools, user)
            wave = self._offers.next_users(LISTED_AHEAD)
        problems += self._offers.find_problems()
        if problems:
            raise InvalidInput(sorted_problems(problems))
        self._over.set()

    @property
    def tool_lists(self) -> Iterable[tuple[ServerUser, ToolList]]:
        """Every requested list, with its first user."""
        return self._offers.lists.values()

    async def wait_until_checked(self, job: Job) -> None:
        """Wait for the check to end; a trial that held a session meanwhile could block it.

        Raises:
            HarnessError: the server of this user did not start. It is raised once; the next trial
                tries again.
        """
        # A plan that names no tool and no argument has nothing to wait for.
        if self._users or self._offers:
            await self._over.wait()
        user = self._user_of.get(_case_key(job))
        if user is not None and user.failure is not None:
            # The server may start when it is tried again, so only one trial fails by this.
            failure, user.failure = user.failure, None
            raise failure

    def check_tools(self, job: Job, tools: ToolList) -> None:
        """Check ``tools``, in case those of this user were not listed before.

        Raises:
            InvalidInput: the job's case names a tool that no user is offered, or an argument that a
                tool does not have.
            HarnessError: a named tool cannot be checked, because a server does not start.
        """
        case = job.trial.case
        self._offers.record_tools(
            job.server, case.caller.user_context, case.caller.credential, tools
        )
        self.check_names(job)
        if _case_key(job) in self._user_of and (problems := list(wrong_arguments([case], tools))):
            raise InvalidInput(sorted_problems(problems))

    def check_names(self, job: Job) -> None:
        """Check the tools that the job's case names against the known lists.

        Raises:
            InvalidInput: no user is offered one of them.
            HarnessError: one of them cannot be checked, because a server does not start.
        """
        self._offers.recheck_case(_case_key(job))


def _case_key(job: Job) -> tuple[str, str]:
    return job.suite.name, job.trial.case.name


def _iterate_described_calls(case: Case) -> Iterator[tuple[str, JsonObject, Location | None]]:
    """Yield ``(tool, arguments, place)`` for every call that a case describes."""
    for call in (*case.setup, *case.teardown):
        yield call.tool, dict.fromkeys(call.arguments, ANY), call.at
    for check in case.every_check:
        for tool, args in valid_calls(check):
            yield tool, args, check.at


def wrong_arguments(cases: Iterable[Case], tools: ToolList) -> Iterator[Problem]:
    """Yield every argument that ``cases`` name and that no valid call of ``tools`` has."""
    for case in cases:
        for name, args, at in _iterate_described_calls(case):
            tool = tools.get(name)
            for why in () if tool is None else find_mismatches(tool, args):
                place = at or case.at or Location(file=case.name)
                yield Problem(at=place, message=why.message, meant=why.meant)


def check_credentials(plan: RunPlan) -> None:
    """Check that each case's identity and credential can be sent to its server.

    Raises:
        InvalidInput: the error names every case for which it cannot.
    """
    # Each case once for each server, however many models and repeats it has.
    cases = {(id(job.server), id(job.trial.case)): job for job in plan.jobs}
    problems = [problem for job in cases.values() for problem in _find_problems(job)]
    if problems:
        raise InvalidInput(dict.fromkeys(problems))


def check_routes(plan: RunPlan) -> None:
    """Check that the environment names no proxy or certificates that a server's URL cannot use.

    Raises:
        UsageError: it names one; every trial with that server would end as an error.
    """
    servers = [one for server in plan.servers for one in server.members or (server,)]
    urls = {one.transport.url for one in servers if one.transport.command is None}
    for url in sorted(filter(None, urls)):
        from harness.base import check_route  # loads httpx2, which a local server does not need

        check_route(url)


def _find_problems(job: Job) -> Iterator[Problem]:
    case, server = job.trial.case, job.server
    at = case.at or Location(file=job.suite.name)
    servers = server.members or (server,)
    # With joined servers, a credential is presented to those that take one.
    takers = [server for server in servers if delivery_of(server.identity).takes_tokens]
    caller = case.caller
    try:
        for each in takers or servers[:1]:
            check_credential(each, caller.user_context, caller.credential)
        for each in servers:
            check_identity(each, caller.user_context)
    except UsageError as error:
        yield Problem(at=at, message=f"test {case.name!r}: {error.message}.", meant=error.meant)
    refused = checks_with("wants_refused_session", case.every_check)
    if refused and all(TRANSPORTS.get(server.transport.kind).over != "http" for server in servers):
        yield Problem(
            at=at,
            message=f"test {case.name!r}: {refused[0].kind!r} needs a server over HTTP; "
            f"{server.name!r} is on {server.transport.kind}.",
            meant="A stdio server has no connection to refuse: assert must_be_denied instead.",
        )


_NAMED = 3
"""Most tools that are named in a message with the reason why they are unusable."""


def require_tools(case: Case, server: str, offers: Sequence[ToolList], stderr_tail: str) -> None:
    """Check that one of a trial's ``offers`` has a tool, or that ``case`` allows none.

    A case allows it by `Caller.allow_no_tools`, or by a check that accepts a hidden tool. The
    latter does not count if all tools of the server are unusable, since then nothing is hidden.

    Raises:
        ServerError: ``server`` offers no tool.
    """
    if case.caller.allow_no_tools or any(offer.tools for offer in offers):
        return
    broken = [problem for offer in offers for problem in offer.problems if not problem.usable]
    if broken:
        reasons = "; ".join(f"{each.tool}: {each.problem}" for each in broken[:_NAMED])
        more = f"; and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
        why = (
            "lists no tool that can be offered to a model, so there is nothing to judge: "
            f"{reasons}{more}"
        )
    else:
        access = checks_with("decides_access", case.every_check)
        if any("hidden" in check.params.get("is", ()) for check in access):
            return
        why = (
            "offers this user no tools, so there is nothing to judge. If that is intended, write "
            "'allow_no_tools: true' in the test, or expect the decision 'hidden' for a tool"
        )
    raise ServerError(f"server {server!r} {why}", stderr_tail=stderr_tail)
