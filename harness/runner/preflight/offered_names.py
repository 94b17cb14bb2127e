"""Checks that every named tool is offered to some user: a misspelt prohibition always passes.

A name is a mistake if no user of the suite's server is offered such a tool: neither users of the
cases that run nor those of the suite's other cases. Lists are requested only while a name is in
none of the known lists, first for a user whose cases name it. So a plan without mistakes needs one
list at most, and only lists that its trials would request anyway.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from itertools import product

from harness.base import HarnessError, InvalidInput, NotAdmitted, Problem, canonical_json
from harness.runner.planning.plan import RunPlan
from harness.runner.preflight.named_tools import (
    CaseKey,
    Mention,
    Scope,
    build_unoffered_problem,
    collect_mentions,
    collect_titles,
    has_tools_per_case,
    iterate_named_tools,
    list_own_names,
)
from harness.runner.recordings.recorded_outputs import RECORDED
from harness.types import Case, Credential, JsonObject, ServerSpec, ToolList

_NEAR = 0.8
"""How similar to a tool's name a text must be to count as a misspelling of it."""
_UserKey = tuple[str, str]


@dataclass(slots=True, kw_only=True)
class ServerUser:
    """A user of a server, whose tool list is known or can be requested."""

    server: ServerSpec
    """The server that lists the tools."""
    user_context: JsonObject | None
    """The user's attributes."""
    credential: Credential
    """The token that the user presents."""
    suites: set[str] = field(default_factory=set)
    """The suites with a case of this user."""
    names: set[str] = field(default_factory=set)
    """Tools that these cases name."""
    asked: bool = False
    """Whether the list was requested."""
    failure: HarnessError | None = None
    """Why there is no list; a caller whose connection is refused is offered nothing, which counts
    as a list."""
    cut: str | None = None
    """Why only a part of the list is known."""

    def is_in(self, scope: Scope) -> bool:
        """Whether this user belongs to ``scope``."""
        suite, server = scope
        return (suite is None or suite in self.suites) and server in (None, self.server.name)


class OfferedTools:
    """Known tool lists by user, and the names of a plan that are in none."""

    def __init__(self, plan: RunPlan) -> None:
        """Collect the tools that ``plan`` names, and the users who may be offered them."""
        # Recorded outputs are judged without any server.
        jobs = [job for job in plan.jobs if job.model.provider != RECORDED]
        self._mentions = {
            mention: cases
            for mention, cases in collect_mentions(jobs).items()
            if not mention.named.allow_absent
        }
        self._narrowed = plan.settings.get("shard") is not None
        self._open: list[Mention] = []
        self._users: dict[_UserKey, ServerUser] = {}
        self._known: dict[Scope, dict[str, str | None]] = {}
        self._own_names: dict[Scope, set[str]] = {}
        self.lists: dict[str, tuple[ServerUser, ToolList]] = {}
        """Digest → a list that was requested for a name, and its first user."""
        for job in {(job.suite.name, job.trial.case.name): job for job in jobs}.values():
            self._add_user(job.suite.name, job.server, job.trial.case)
        # The users of cases that do not run: tools offered only to them are valid names.
        own = [job for job in jobs if not job.trial.case.server]
        for job in {job.suite.name: job for job in own}.values():
            for case in (*job.suite.cases, *job.suite.left_out):
                if case.server is None:
                    self._add_user(job.suite.name, job.server, case)

    def __bool__(self) -> bool:
        """Whether the plan names any tool."""
        return bool(self._mentions)

    def _add_user(self, suite: str, server: ServerSpec, case: Case) -> None:
        if has_tools_per_case(case):
            return
        who, credential = case.caller.user_context, case.caller.credential
        user = self._users.setdefault(
            _build_user_key(server, who, credential),
            ServerUser(server=server, user_context=who, credential=credential),
        )
        user.suites.add(suite)
        user.names.update(named.tool for named in iterate_named_tools(case))

    # ── Known lists ──────────────────────────────────────────────────────────────────────────

    def record_tools(
        self, server: ServerSpec, who: JsonObject | None, credential: Credential, tools: ToolList
    ) -> None:
        """Record the tool list of a user."""
        user = self._users.get(_build_user_key(server, who, credential))
        # After a failure the list still counts: a trial may have reached the server meanwhile.
        if user is None or (user.asked and user.failure is None):
            return
        user.asked, user.failure, user.cut = True, None, tools.cut_reason
        names, own = collect_titles(tools), list_own_names(tools, server)
        # Equal lists of several users are logged once.
        self.lists.setdefault(tools.digest, (user, tools))
        for scope in product((None, *user.suites), (None, server.name)):
            self._known.setdefault(scope, {}).update(names)
            self._own_names.setdefault(scope, set()).update(own)

    def record_failure(
        self,
        server: ServerSpec,
        who: JsonObject | None,
        credential: Credential,
        error: HarnessError,
    ) -> None:
        """Record that a user has no tool list."""
        if user := self._users.get(_build_user_key(server, who, credential)):
            user.asked, user.failure = True, error

    def next_users(self, most: int) -> list[ServerUser]:
        """Return the users whose lists to request next; empty once all names are settled.

        At first one user of each server, then up to ``most``; users whose cases name a missing tool
        come first.
        """
        missing = [mention for mention in self._mentions if self._is_missing(mention)]
        scopes = {mention.scope for mention in missing}
        names = {mention.named.tool for mention in missing}
        waiting = [
            user
            for user in self._users.values()
            if not user.asked and any(user.is_in(scope) for scope in scopes)
        ]
        # False sorts before True: users whose cases name a missing tool come first.
        waiting.sort(key=lambda user: user.names.isdisjoint(names))
        listed = {user.server.name for user in self._users.values() if user.asked}
        # From the end, so that the first user of each server is the one that stays.
        servers = {user.server.name: user for user in reversed(waiting)}
        fresh = [user for name, user in servers.items() if name not in listed]
        return fresh[:most] or waiting[:most]

    # ── Mistakes ─────────────────────────────────────────────────────────────────────────────

    def find_problems(self) -> list[Problem]:
        """Return every name that no user is offered.

        A name stays open if a server that failed, or an unread part of a list, might have it. If
        there are no tools at all, names are not reported: the trials end as errors instead.
        """
        # An empty list of tools is `{}`, and where none is known there is `None`.
        self._open = [
            mention
            for mention in self._mentions
            if self._is_missing(mention) and self._known.get(mention.scope) != {}
        ]
        return [
            self._build_problem(mention)
            for mention in self._open
            if self._list_asked_users(mention.scope) and not self._list_silent_users(mention.scope)
        ]

    def recheck_case(self, case: CaseKey) -> None:
        """Check the names of a case again, in case a server did not respond before.

        Raises:
            InvalidInput: no user is offered a tool of one of these names.
            HarnessError: no known list has the name, but some list is missing or incomplete.
        """
        for mention in self._open:
            # What names a tool for no case alone concerns all of its suite.
            cases = self._mentions[mention]
            concerned = case in cases if cases else mention.scope[0] in (None, case[0])
            if not concerned or not self._is_missing(mention):
                continue
            if not self._list_asked_users(mention.scope):
                continue
            problem, silent = self._build_problem(mention), self._list_silent_users(mention.scope)
            if not silent:
                raise InvalidInput([problem])
            why = silent[0].failure or silent[0].cut
            raise HarnessError(f"{problem} Some tool lists are missing or incomplete: {why}")

    def _is_missing(self, mention: Mention) -> bool:
        """Whether no known list has the tool; a word that may not be one must be similar to one."""
        name, scope = mention.named.tool, mention.scope
        known = self._known.get(scope, {})
        if name in known or (mention.by_own_name and name in self._own_names.get(scope, ())):
            return False
        # The server of a tool that `--block` names may have no case in this shard.
        maybe = mention.only_near or (self._narrowed and scope == (None, None))
        return (
            not maybe
            or bool(difflib.get_close_matches(name, known, n=1, cutoff=_NEAR))
            or not self._list_asked_users(scope)
        )

    def _list_asked_users(self, scope: Scope) -> list[ServerUser]:
        return [
            user
            for user in self._users.values()
            if user.asked and user.failure is None and user.is_in(scope)
        ]

    def _list_silent_users(self, scope: Scope) -> list[ServerUser]:
        return [
            user
            for user in self._users.values()
            if (
                user.cut is not None
                or (user.failure is not None and not isinstance(user.failure, NotAdmitted))
            )
            and user.is_in(scope)
        ]

    def _build_problem(self, mention: Mention) -> Problem:
        asked, (suite, server) = self._list_asked_users(mention.scope), mention.scope
        several = len({canonical_json([user.user_context, user.credential]) for user in asked}) > 1
        if server is None and suite is None:
            who = "no server of this run offers a"
        elif several:
            who = f"no identity of this {'suite' if suite else 'run'} is offered a"
        else:
            who = f"the server {asked[0].server.name!r} offers no"
        known = self._known.get(mention.scope, {})
        return build_unoffered_problem(
            mention.named, who, known, may_say_absent=mention.may_say_absent
        )


def _build_user_key(server: ServerSpec, who: JsonObject | None, credential: Credential) -> _UserKey:
    return server.name, canonical_json([who, credential])
