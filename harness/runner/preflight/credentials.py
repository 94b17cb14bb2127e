"""Checks before servers start that each case's credential can be presented to its server."""

from __future__ import annotations

from collections.abc import Iterator

from harness.base import InvalidInput, Problem, UsageError
from harness.judging import checks_with
from harness.runner.planning.plan import Job, RunPlan
from harness.sessions import TRANSPORTS, check_credential, delivery_of
from harness.types import Location


def check_credentials(plan: RunPlan) -> None:
    """Check that each case's credential can be presented to its server.

    Raises:
        InvalidInput: the error names every case for which it cannot.
    """
    # Each case once for each server, however many models and repeats it has.
    cases = {(id(job.server), id(job.trial.case)): job for job in plan.jobs}
    problems = [problem for job in cases.values() for problem in _find_problems(job)]
    if problems:
        raise InvalidInput(dict.fromkeys(problems))


def _find_problems(job: Job) -> Iterator[Problem]:
    case, server = job.trial.case, job.server
    at = case.at or Location(file=job.suite.name)
    servers = server.members or (server,)
    # With joined servers, a credential is presented to those that take one.
    takers = [server for server in servers if delivery_of(server.identity).takes_tokens]
    for each in takers or servers[:1]:
        try:
            check_credential(each, case.caller.user_context, case.caller.credential)
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
