"""The two sets of data of an alteration: declare, validate and log them, and set up a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio

from harness.base import (
    GATE,
    InvalidInput,
    InvalidValue,
    Problem,
    RequestedAction,
    ServerError,
    did_you_mean,
)
from harness.judging import fold_text, read_masks
from harness.probing.callers import ANONYMOUS, ProbeCaller
from harness.probing.planned_calls import Expectations, ProbeCall
from harness.sessions import Pool, delivery_of, with_shared_process
from harness.suites import expand_references
from harness.types import (
    Alteration,
    Check,
    DataSet,
    DependentTool,
    JsonObject,
    Location,
    ServerSpec,
    ToolRequest,
    dataclass,
)

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
    return (set_server_data(server, data) for one in alterations for data in (one.a, one.b))


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
            last = problems[-1]
            raise InvalidInput([_build_problem(alteration.at, last.message, last.meant)])
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
    GATE.require_trust([deed for one in alterations for deed in _list_data_commands(one, server)])


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


async def set_up_data(
    pool: Pool,
    spec: ServerSpec,
    alteration: Alteration,
    which: Which,
    callers: Sequence[ProbeCaller],
) -> None:
    """Make the calls that set up the data of ``which`` on ``spec``.

    Raises:
        ServerError: one fails.
    """
    data = data_set(alteration, which)
    # A process that harness starts is new anyway.
    fresh = spec.reset if spec.transport.command is None else None
    calls = (*([fresh] if fresh else []), *data.setup)
    if not calls:
        return
    caller = setup_caller(alteration, callers)
    server = set_server_data(spec, data)
    async with pool.lend_session(server, caller.user_context, caller.credential) as session:
        for call in calls:
            request = ToolRequest(id="setup", tool=call.tool, arguments=call.arguments)
            made = await session.call(request, reply=0, epoch=anyio.current_time())
            if made.is_error:
                raise ServerError(
                    f"the data of {which} of {alteration.name} could not be set up: "
                    f"{call.tool} as {caller.name}: {made.outcome}: {made.text}"
                )


_REFUSED = frozenset({"denied", "hidden"})
_GIVEN = frozenset({"allowed", "filtered"})
# Whether a model tries a call says nothing about the field.
_OF_THE_MODEL = frozenset({"not_attempted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterationDeclaration:
    """The declaration of one altered value, without its data."""

    name: str
    """Name of the value in messages."""
    field: str
    """Name of the field that has it."""
    at: str = ""
    """File and line of the declaration, for messages."""
    withheld_from: frozenset[str] = frozenset()
    """Identities that must not see the value although they get the field."""
    may_depend: tuple[DependentTool, ...] = ()
    """Answers that may depend on the value."""
    refused: Mapping[str, Sequence[str]]
    """Call → identities that the suite expects not to get the field from it."""
    granted: Mapping[str, Sequence[str]]
    """Call → identities that the suite expects to get the field from it. Then it does not matter
    that another call is refused to them as a whole."""


def declare_alteration(
    alteration: Alteration,
    callers: Iterable[ProbeCaller],
    calls: Iterable[ProbeCall],
    expected: Expectations,
) -> JsonObject:
    """Return ``alteration`` as JSON for the log."""
    callers = tuple(callers)
    asked = [
        (call.label, one.name, expected.find_checks(one.user_context, call.tool, call.arguments))
        for call in calls
        for one in callers
    ]

    def list_callers_where(says: Callable[[Check, str], bool]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for label, name, checks in asked:
            if any(says(check, alteration.field) for check in checks):
                found.setdefault(label, []).append(name)
        return found

    return {
        "name": alteration.name,
        "field": alteration.field,
        "at": str(alteration.at or ""),
        "withheld_from": list(alteration.withheld_from),
        "may_depend": [
            {"tool": one.tool, "fields": list(one.fields)} for one in alteration.may_depend
        ],
        "refused": list_callers_where(_expects_withheld),
        "granted": list_callers_where(_expects_field),
    }


def iterate_declarations(settings: Mapping[str, Any]) -> Iterator[AlterationDeclaration]:
    """Yield the altered values that the settings of a probe's log declare."""
    for one in settings.get("alterations", ()):
        yield AlterationDeclaration(
            name=one["name"],
            field=one["field"],
            at=one["at"],
            withheld_from=frozenset(one["withheld_from"]),
            may_depend=tuple(
                DependentTool(tool=each["tool"], fields=tuple(each["fields"]))
                for each in one["may_depend"]
            ),
            refused=one["refused"],
            granted=one["granted"],
        )


def _expects_withheld(check: Check, name: str) -> bool:
    """Whether ``check`` expects the field ``name`` to be withheld."""
    words = set(check.params.get("is", ())) - _OF_THE_MODEL
    if words and words <= _REFUSED:
        return True
    return fold_text(name) in {fold_text(each) for each in read_masks(check.params)}


def _expects_field(check: Check, name: str) -> bool:
    """Whether a suite expects that the field ``name`` is given: all, or all but others."""
    words = set(check.params.get("is", ())) - _OF_THE_MODEL
    left_out = {fold_text(each) for each in read_masks(check.params)}
    if not words or not words <= _GIVEN or fold_text(name) in left_out:
        return False
    # "filtered" without names may leave out this very field.
    return bool(left_out) or words == {"allowed"}
