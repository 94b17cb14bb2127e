"""The server's state after a conversation, compared with its state after reference calls.

A reference state is read once per run for each server, user, setup and list of calls, in a session
with a fresh state, after the setup of the case: the calls are the same for every trial, and so are
their effects.
"""

from __future__ import annotations

import hashlib
import shlex
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from harness.base import (
    HarnessError,
    ServerError,
    canonical_json,
    did_you_mean,
    find_shortcoming,
    parsed_json,
)
from harness.judging import WantedState, wanted_states
from harness.sessions import Session, SessionPool
from harness.types import (
    DEFAULT_TIMEOUT_S,
    Case,
    JsonObject,
    ServerSpec,
    StateQuery,
    StateReading,
    ToolRequest,
)

QUERY_S = 10.0
_TOLD_CHARS = 300


async def run_query(server: ServerSpec, name: str) -> Any:
    """Return the result of the query ``name``: rows as objects, or its command's output.

    Raises:
        HarnessError: there is no such query, it failed, or it took longer than `QUERY_S`.
    """
    query = server.queries.get(name)
    if query is None:
        meant = (
            did_you_mean(name, server.queries)
            or f"Its queries: {', '.join(server.queries) or 'none'}."
        )
        raise HarnessError(f"server {server.name!r} declares no query {name!r}. {meant}")
    with anyio.move_on_after(QUERY_S):
        if query.command is not None:
            return await _run_command(query.command, server, name)
        # A thread in SQLite cannot be interrupted, so it is left to itself.
        return await anyio.to_thread.run_sync(_query_rows, query, server, abandon_on_cancel=True)
    raise HarnessError(f"the query {name!r} took longer than {QUERY_S:g} s")


def _query_rows(query: StateQuery, server: ServerSpec) -> list[dict[str, Any]]:
    path = Path(server.transport.cwd or ".") / (query.database or "")
    # Half of the time for a locked database, so that SQLite's own error comes first.
    place, timeout = f"{path.resolve().as_uri()}?mode=ro", QUERY_S / 2
    try:
        with closing(sqlite3.connect(place, uri=True, timeout=timeout)) as database:
            rows = database.execute(query.sql or "")
            names = [column for column, *_ in rows.description or ()]
            # A row is an object by column: of two with one name, one would be lost unseen.
            if twice := {name for name in names if names.count(name) > 1}:
                columns = ", ".join(sorted(twice))
                raise HarnessError(f"the query has two columns named {columns}: name them with AS")
            return [
                {
                    name: value.hex() if isinstance(value, bytes) else value
                    for name, value in zip(names, row, strict=True)
                }
                for row in rows
            ]
    except sqlite3.Error as error:
        raise HarnessError(f"the query of {path.name} failed: {error}") from error


async def _run_command(command: str, server: ServerSpec, name: str) -> Any:
    try:
        ended = await anyio.run_process(shlex.split(command), cwd=server.transport.cwd, check=False)
    except (OSError, ValueError) as error:
        raise HarnessError(f"the query {name!r} cannot be run: {error}") from error
    if ended.returncode != 0:
        said = ended.stderr.decode("utf-8", "replace").strip()[-_TOLD_CHARS:]
        raise HarnessError(f"the query {name!r} ended with exit code {ended.returncode}: {said}")
    return parsed_json(ended.stdout.decode("utf-8", "replace").strip())


KEPT_BYTES = 100_000
"""Larger states are compared by digest, and not kept in the log."""


def _get_reading_s(case: Case) -> float:
    """Return the seconds for all states of a trial together, and for each reference state.

    As long as the conversation may take: on a busy machine both are slow.
    """
    return case.limits.timeout_s or DEFAULT_TIMEOUT_S


def _format_late(case: Case) -> str:
    return f"it was not read within the case's {_get_reading_s(case):g} s"


class EndStates:
    """The reference states of one run."""

    def __init__(self) -> None:
        """Start without reference states."""
        self._references: dict[str, StateReading] = {}
        self._locks: dict[str, anyio.Lock] = {}

    async def read_references(
        self, case: Case, server: ServerSpec, pool: SessionPool
    ) -> tuple[StateReading, ...]:
        """Return the reference states for ``case``; an unreadable one has the reason.

        Call it before the trial has its own session: trials that each hold one session and wait for
        another would wait forever.
        """
        wanted = [state for state in wanted_states(case.every_check) if state.after is not None]
        return tuple([await self._read_reference(one, case, server, pool) for one in wanted])

    async def _read_reference(
        self, wanted: WantedState, case: Case, server: ServerSpec, pool: SessionPool
    ) -> StateReading:
        user = [case.caller.user_context, case.caller.credential]
        setup = [{"tool": call.tool, "args": call.arguments} for call in case.setup]
        command = [server.transport.command, list(server.transport.args)]
        key = canonical_json([server.name, *command, user, setup, wanted])
        # Trials that begin together wait for the one that reads it.
        async with self._locks.setdefault(key, anyio.Lock()):
            if key not in self._references:
                # Kept if it is late, too, so that no other trial waits as long for nothing.
                self._references[key] = await _read_fresh_copy(wanted, case, setup, server, pool)
            return self._references[key]


async def read_states(case: Case, server: ServerSpec, session: Session) -> tuple[StateReading, ...]:
    """Return the states that ``case`` and its attack are judged by, or why they are unreadable."""
    wanted = [state for state in wanted_states(case.every_check) if state.after is None]
    attack = case.repeats.attack
    if attack is not None and (goal := attack.goal.state) is not None:
        source = {"tool": goal.tool, "args": dict(goal.arguments)}
        if all(one.source != source for one in wanted):
            wanted.append(WantedState(source, None))
    readings: list[StateReading] = []
    with anyio.move_on_after(_get_reading_s(case)):
        for one in wanted:
            readings.append(await read_state(one, server, session))  # noqa: PERF401 - partial results
    late = _format_late(case)
    return (*readings, *(_build_unread(one, late) for one in wanted[len(readings) :]))


async def _read_fresh_copy(
    wanted: WantedState,
    case: Case,
    setup: Sequence[JsonObject],
    server: ServerSpec,
    pool: SessionPool,
) -> StateReading:
    calls = [
        (what, number, call)
        for what, some in (("setup", setup), ("reference", wanted.after or ()))
        for number, call in enumerate(some, start=1)
    ]
    who = case.caller.user_context, case.caller.credential
    try:
        # The clock starts once there is a session: other trials decide how long that takes.
        async with pool.lend_session(server, *who) as session:
            with anyio.fail_after(_get_reading_s(case)):
                for what, number, call in calls:
                    request = ToolRequest(
                        id=f"{what}_{number}", tool=call["tool"], arguments=call["args"]
                    )
                    made = await session.call(request, reply=0, epoch=anyio.current_time())
                    # Without an answer nobody knows what the call changed, even if it may fail.
                    if made.is_error and not (call.get("may_fail") and not made.is_unanswered):
                        failed = f"{what} call {number} failed"
                        words = f"{failed}: {made.tool} → {made.outcome}: {made.text}"
                        return _build_unread(wanted, words)
                return await read_state(wanted, server, session)
    except TimeoutError:
        return _build_unread(wanted, _format_late(case))
    except ServerError as error:
        return _build_unread(wanted, str(error))


async def read_state(wanted: WantedState, server: ServerSpec, session: Session) -> StateReading:
    """Return one state as it is now, or why it is unreadable."""
    try:
        value = await _read_value(wanted.source, server, session)
    except HarnessError as error:
        return _build_unread(wanted, str(error))
    # Two states that differ only in an unread part must not count as equal.
    if (why := find_shortcoming(value)) is not None:
        return _build_unread(wanted, f"the state cannot be compared: {why}")
    data = canonical_json(value).encode("utf-8", "replace")
    # The digest is of the whole state, so a cut one can still be compared.
    cut = len(data) > KEPT_BYTES
    return StateReading(
        source=wanted.source,
        after=wanted.after,
        digest=hashlib.sha256(data).hexdigest(),
        value=None if cut else value,
        cut=cut,
    )


def _build_unread(wanted: WantedState, why: str) -> StateReading:
    return StateReading(source=wanted.source, after=wanted.after, error=why)


async def _read_value(source: JsonObject, server: ServerSpec, session: Session) -> Any:
    if "resource" in source:
        result = await session.send_request("resources/read", {"uri": source["resource"]})
        parts = [part for part in result.get("contents") or () if isinstance(part, dict)]
        values = [parsed_json(part.get("text", part.get("blob"))) for part in parts]
        if not values:
            raise ServerError("the resource is empty")
        return values[0] if len(values) == 1 else values
    if "tool" not in source:
        return await run_query(server, source["query"])
    tool = session.tools.get(source["tool"])
    # To look at a state must not change it.
    if tool is None or not tool.read_only:
        which = "is not offered to this user" if tool is None else "is not marked as read-only"
        raise HarnessError(f"the tool {source['tool']!r} {which}")
    request = ToolRequest(id="state", tool=tool.name, arguments=source["args"])
    made = await session.call(request, reply=0, epoch=anyio.current_time())
    if made.is_error:
        raise ServerError(f"{made.tool} → {made.outcome}: {made.text}")
    # Two states that differ in the part that is missing would look equal.
    if made.cut is not None:
        raise HarnessError(f"only a part of the result of {made.tool} was read, {made.cut}")
    return parsed_json(made.text) if made.structured is None else made.structured
