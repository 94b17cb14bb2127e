"""The two sets of data of an alteration: start a server with them, and validate declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from harness.base import GATE, InvalidInput, InvalidValue, Problem, RequestedAction, did_you_mean
from harness.probing.callers import ANONYMOUS, ProbeCaller
from harness.sessions import delivery_of, with_shared_process
from harness.suites import expand_references
from harness.types import Alteration, DataSet, JsonObject, Location, ServerSpec

Which: TypeAlias = Literal["A", "B"]
"""``A``: the original data. ``B``: the same data with the value altered."""


def data_set(alteration: Alteration, which: Which) -> DataSet:
    """Return one of the two sets of data."""
    return alteration.a if which == "A" else alteration.b


def set_server_data(server: ServerSpec, data: DataSet) -> ServerSpec:
    """Return ``server`` with ``data`` for the lifetime of its process."""
    transport = server.transport
    return replace(
        # A separate process is new anyway, and a reset for each caller would undo the setup.
        with_shared_process(server.with_isolation("identity")),
        reset=None,
        transport=replace(
            transport, env={**transport.env, **data.env}, args=(*transport.args, *data.args)
        ),
    )


def iterate_data_servers(
    server: ServerSpec, alterations: Iterable[Alteration]
) -> Iterator[ServerSpec]:
    """Yield ``server`` with each set of data; redaction takes the secrets from them."""
    return (
        set_server_data(server, data)
        for alteration in alterations
        for data in (alteration.a, alteration.b)
    )


def describe_alteration(one: Alteration) -> JsonObject:
    """Return ``one`` as JSON, secrets included."""
    return {
        "field": one.field,
        "withheld_from": list(one.withheld_from),
        "may_depend": [[each.tool, *each.fields] for each in one.may_depend],
        "setup_as": one.setup_as,
        "data": [
            {
                "env": dict(data.env),
                "args": list(data.args),
                "setup": [[call.tool, dict(call.arguments)] for call in data.setup],
            }
            for data in (one.a, one.b)
        ],
    }


def expand_alterations(
    alterations: Iterable[Alteration], environ: Mapping[str, str]
) -> tuple[Alteration, ...]:
    """Return ``alterations`` with ``${NAME}`` replaced by variables of ``environ``.

    Raises:
        InvalidInput: one is not set.
    """
    problems: list[InvalidValue] = []
    ready = []
    for alteration in alterations:
        before = len(problems)
        a, b = (
            replace(
                each,
                env=expand_references(dict(each.env), environ, problems),
                args=tuple(expand_references(list(each.args), environ, problems)),
            )
            for each in (alteration.a, alteration.b)
        )
        ready.append(replace(alteration, a=a, b=b))
        if len(problems) > before:
            raise InvalidInput(
                [_build_problem(alteration.at, problems[-1].message, problems[-1].meant)]
            )
    return tuple(ready)


def check_alterations(
    alterations: Iterable[Alteration], server: ServerSpec, callers: Sequence[ProbeCaller]
) -> None:
    """Refuse declarations that cannot work with ``server``, before any call.

    Raises:
        InvalidInput: with all of them.
        UsageError: a file that is not the user's own would start a server with other data.
    """
    # Gone through twice, and an iterator would be used up by the first loop.
    alterations = tuple(alterations)
    if problems := [
        problem
        for alteration in alterations
        for problem in _find_problems(alteration, server, callers)
    ]:
        raise InvalidInput(problems)
    # Only once the declarations are right: nobody should have to trust what cannot run.
    GATE.require_trust(
        [deed for alteration in alterations for deed in _list_data_commands(alteration, server)]
    )


def setup_caller(alteration: Alteration, callers: Iterable[ProbeCaller]) -> ProbeCaller:
    """Return the caller of the setup calls, which `check_alterations` has validated."""
    given = alteration.setup_as
    if isinstance(given, str):
        return next(caller for caller in callers if caller.name == given)
    return ProbeCaller(name="setup" if given else ANONYMOUS, user_context=given)


def _find_problems(
    one: Alteration, server: ServerSpec, callers: Sequence[ProbeCaller]
) -> Iterable[Problem]:
    names = [caller.name for caller in callers]
    given = (one.setup_as,) if isinstance(one.setup_as, str) else ()
    for name in (*one.withheld_from, *given):
        if name not in names:
            meant = did_you_mean(name, names) or f"Known: {', '.join(names)}."
            yield _build_problem(one.at, f"there is no identity {name!r}.", meant)
    starts, calls = one.a.starts_anew or one.b.starts_anew, one.a.setup or one.b.setup
    if starts and (server.members or server.transport.command is None):
        what = "several joined servers" if server.members else "a server that is already running"
        message = f"'env' and 'args' cannot alter the data of {what}."
        yield _build_problem(one.at, message, "Alter it by calls: 'setup'.")
    if calls and delivery_of(server.identity).has_process_per_user:
        message = (
            f"each identity has a process of its own (identity: {server.identity.via}), so that a "
            "call of 'setup' alters the data of one of them alone."
        )
        yield _build_problem(one.at, message, "Start the server with other data: 'env' or 'args'.")
    # What harness starts has its own data back with the next process.
    runs = server.members or server.transport.command is None
    if calls and runs and not one.a.setup and server.reset is None:
        message = "nothing brings the data back after 'b' was set up."
        meant = "Add 'a: {setup: […]}', or 'reset:' of the server."
        yield _build_problem(one.at, message, meant)


def _build_problem(at: Location | None, message: str, meant: str | None) -> Problem:
    return Problem(at=at or Location(file="interference"), message=message, meant=meant)


def _list_data_commands(one: Alteration, server: ServerSpec) -> Iterable[RequestedAction]:
    for data in (one.a, one.b):
        # Without a place it comes from no file that could be somebody else's.
        if data.starts_anew and one.at is not None:
            given = " ".join((*(f"{name}={value}" for name, value in data.env.items()), *data.args))
            yield RequestedAction(Path(one.at.file), f"start {server.name} with {given}")
