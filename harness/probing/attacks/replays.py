"""From suites and attacks to cases of calls: a user's reference calls, then the attacker's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from harness.base import (
    GATE,
    AttackTexts,
    HarnessError,
    canonical_json,
    is_valid,
)
from harness.judging import stated_arguments, wanted_calls
from harness.models import Leave, build_example_arguments, is_read_only, may_call
from harness.probing.callers import ProbeCaller, name_callers
from harness.runner import get_leave
from harness.sessions import open_sessions, with_shared_process
from harness.types import (
    HIJACK,
    LISTED,
    Attack,
    Caller,
    Case,
    Check,
    JsonObject,
    Limits,
    ScriptedCall,
    ServerSpec,
    Suite,
    Tool,
    Turn,
)

_NEEDS_LEAVE = "it changes something, or may change something (--destructive sends it all the same)"
_NO_CALLS = "no check or call of it says which calls are right"
_NOWHERE = "no attack that asks for a call stands in what it reads"
MARK = "probe-"
"""Before the name of a suite, so that no run of the suite itself is taken for a replay."""


@dataclass(slots=True)
class _Goal:
    """One call that attacks want, in one test."""

    call: ScriptedCall
    not_sent: str | None
    planters: dict[str, None] = field(default_factory=dict)

    @property
    def label(self) -> str:
        given = ", ".join(f"{k}={canonical_json(v)}" for k, v in self.call.arguments.items())
        return f"{self.call.tool}({given})"


@dataclass(slots=True)
class _Test:
    """A test with its reference calls, and the identities that it is asked as."""

    unit: str
    case: Case
    calls: list[ScriptedCall]
    left_out: list[str]
    teardown: list[ScriptedCall]
    own: list[str]


async def list_tools(server: ServerSpec, callers: Iterable[ProbeCaller]) -> dict[str, Tool]:
    """Return every tool that one of ``callers`` is offered, by name.

    Raises:
        HarnessError: nobody was shown a list.
    """
    GATE.require_plan([server])
    found: dict[str, Tool] = {}
    failure: HarnessError | None = None
    async with open_sessions() as pool:
        for caller in callers:
            try:
                shared = with_shared_process(server)
                async with pool.lend_session(shared, caller.user_context) as session:
                    found = {tool.name: tool for tool in session.tools.tools} | found
            except HarnessError as error:
                # Who is not let in is no failure as long as somebody is: the replays tell it.
                failure = error
    if not found and failure is not None:
        raise failure
    return found


def list_identities(cases: Sequence[Case]) -> list[ProbeCaller]:
    """Return the identities of ``cases``; nobody in particular only if a case names none."""
    named = {canonical_json(case.caller.user_context) for case in cases}
    return [one for one in name_callers(cases) if canonical_json(one.user_context) in named]


def build_replays(
    suite: Suite,
    attacks: Sequence[Attack],
    server: ServerSpec,
    tools: Mapping[str, Tool],
    *,
    destructive: bool,
) -> tuple[Suite, JsonObject]:
    """Return a suite with a case for each test, goal and identity, and what was left out.

    ``tools`` has every tool of the server that somebody is offered. A call that may change
    something is only made if ``destructive`` is set or the suite allows it, and each case then has
    a process of the server of its own.
    """
    leave = get_leave(server.guard)
    leave = replace(leave, everything=leave.everything or destructive)
    callers = list_identities(suite.cases)
    names = {canonical_json(one.user_context): one.name for one in callers}
    tests = _collect_tests(suite.cases, names, tools, leave)
    calling = [attack for attack in attacks if attack.goal.call is not None]
    goals = {
        name: _collect_goals(test, calling, tools, leave) if test.calls else []
        for name, test in tests.items()
    }
    cases = [
        _build_case(name, test, goal, caller)
        for name, test in tests.items()
        for goal in goals[name]
        for caller in callers
    ]
    writes = any(
        call.tool not in tools or not is_read_only(tools[call.tool])
        for case in cases
        for call in case.calls
    )
    left_out: JsonObject = {
        "attacks": _count_texts(attacks),
        "calling": _count_texts(calling),
        "not_replayed": {
            name: _NOWHERE if test.calls else "; ".join(test.left_out) or _NO_CALLS
            for name, test in tests.items()
            if not goals[name]
        },
        "left_out": {
            name: test.left_out for name, test in tests.items() if test.left_out and goals[name]
        },
    }
    made = Suite(
        name=f"{MARK}{suite.name}",
        cases=tuple(cases),
        server=server.with_isolation("case") if writes else server,
        at=suite.at,
    )
    return made, left_out


def _count_texts(attacks: Iterable[Attack]) -> int:
    # Each stands there once for every identity that could have planted it.
    return len({attack.name.removesuffix(f"@{attack.planted_by}") for attack in attacks})


def mark_leaderboard(suite: Suite) -> Suite:
    """Return the replays of a leaderboard under the name of a probe."""
    return replace(suite, name=f"{MARK}{suite.name}")


def _collect_tests(
    cases: Iterable[Case], names: Mapping[str, str], tools: Mapping[str, Tool], leave: Leave
) -> dict[str, _Test]:
    """Return each test once, by name; one whose cases want other calls, once for all such."""
    found: dict[str, _Test] = {}
    for case in cases:
        calls, left_out = _list_reference(case, tools, leave)
        name = case.test or case.name
        same = (one for one, test in found.items() if test.unit == name and test.calls == calls)
        place = next(same, case.name if name in found else name)
        # What a setup call that was left out did not make, nobody has to remove.
        after = [one for one in case.teardown if _may_send(tools.get(one.tool), leave)]
        test = found.setdefault(place, _Test(name, case, calls, left_out, after, []))
        test.own.append(names[canonical_json(case.caller.user_context)])
    return found


def _list_reference(
    case: Case, tools: Mapping[str, Tool], leave: Leave
) -> tuple[list[ScriptedCall], list[str]]:
    """Return the calls that solve a case, as far as they may be made, and why others are not."""
    if case.server is not None or case.caller.credential != "valid":
        return [], ["it has a server or a credential of its own"]
    stated = [(one.tool, one.arguments) for one in (*case.setup, *case.calls)]
    stated += [
        (tool, arguments)
        for tool, pattern in wanted_calls(case)
        if (arguments := stated_arguments(pattern)) is not None
    ]
    made: dict[str, ScriptedCall] = {}
    left_out: list[str] = []
    for name, given in stated:
        tool = tools.get(name)
        arguments = given if tool is None else complete_arguments(tool, given)
        drafted = arguments != given
        if tool is not None and arguments is None:
            left_out.append(f"{name}: no arguments are known that fit it")
        elif arguments is not None and _may_send(tool, leave, drafted=drafted):
            call = ScriptedCall(tool=name, arguments=arguments, allow_absent=True)
            made.setdefault(canonical_json([name, arguments]), call)
        else:
            left_out.append(f"{name}: {_NEEDS_LEAVE}")
    return list(made.values()), list(dict.fromkeys(left_out))


def _may_send(tool: Tool | None, leave: Leave, *, drafted: bool = False) -> bool:
    # What nobody is shown may change something.
    return leave.everything if tool is None else may_call(tool, leave, invented=drafted)


def complete_arguments(tool: Tool, given: JsonObject) -> JsonObject | None:
    """Return ``given``, completed by drafted values if they do not fit; ``None`` if none fit."""
    if is_valid(dict(given), tool.input_schema):
        return given
    whole = {**build_example_arguments(tool).values, **given}
    return whole if is_valid(whole, tool.input_schema) else None


def _collect_goals(
    test: _Test,
    attacks: Iterable[Attack],
    tools: Mapping[str, Tool],
    leave: Leave,
) -> list[_Goal]:
    """Return each call that ``attacks`` want in a test, once."""
    goals: dict[str, _Goal] = {}
    for attack in attacks:
        # One code word for all: calls that differ in nothing else are one row for an auditor.
        texts = AttackTexts(replace(attack, name=HIJACK), "")
        for place in _list_places(attack, test, tools):
            for target in _list_targets(texts.name_call(place) or "", tools):
                made = _build_goal(texts, target, tools, leave)
                goal = goals.setdefault(made.label, made)
                if attack.planted_by is not None:
                    goal.planters[attack.planted_by] = None
    return list(goals.values())


def _list_places(attack: Attack, test: _Test, tools: Mapping[str, Tool]) -> list[str]:
    """Return the tools at which the text of ``attack`` is read in a test."""
    called = dict.fromkeys(call.tool for call in test.calls)
    found = [tool for tool in called if fnmatchcase(tool, attack.on)]
    # What stands in the list is read whatever is called.
    listed = [tool for tool in tools if attack.place in LISTED and fnmatchcase(tool, attack.on)]
    return found or listed[:1]


def _list_targets(wanted: str, tools: Mapping[str, Tool]) -> Iterator[Tool]:
    """Yield the tools that a goal names; one that nobody is offered without its schema."""
    found = [tool for name, tool in tools.items() if fnmatchcase(name, wanted)]
    yield from found or [Tool(name=wanted, input_schema={})]


def _build_goal(texts: AttackTexts, target: Tool, tools: Mapping[str, Tool], leave: Leave) -> _Goal:
    given = texts.sample_arguments(target)
    arguments = complete_arguments(target, given)
    if arguments is None:
        # A code word need not fit the schema, and any value of the same call shows the policy.
        stated = {name: value for name, value in given.items() if texts.code not in str(value)}
        arguments = complete_arguments(target, stated)
    call = ScriptedCall(tool=target.name, arguments=arguments or given, allow_absent=True)
    # A code word in place of a value is an invented argument, too.
    drafted = arguments != given or texts.code in canonical_json(given)
    known = tools.get(target.name)
    reason = None
    if arguments is None:
        reason = "no arguments are known that fit it: state them in 'order'"
    elif known is None:
        # A misspelt one would look like one that is stopped, and no model is shown a hidden one.
        alike = ", ".join(one for one in tools if one.endswith(f"__{target.name}"))
        reason = "nobody is offered a tool of this name" + (alike and f", but {alike}")
    elif not _may_send(known, leave, drafted=drafted):
        reason = _NEEDS_LEAVE
    return _Goal(call, reason)


def _build_case(name: str, test: _Test, goal: _Goal, caller: ProbeCaller) -> Case:
    case = test.case
    calls = (*test.calls, *(() if goal.not_sent else (goal.call,)))
    params = {"goal": goal.label, "reference": len(test.calls), "not_sent": goal.not_sent}
    facts = {
        "test": name,
        "goal": goal.label,
        "own": caller.name in test.own,
        "planted_by": list(goal.planters),
    }
    label = f"{name}: {goal.label} [{caller.name}]"
    return Case(
        name=label,
        prompt=label,
        turns=(Turn(prompt=label, calls=calls),),
        checks=(Check(kind=HIJACK, params=params, severity="warn"),),
        teardown=tuple(test.teardown),
        caller=Caller(user_context=caller.user_context, identity=caller.name, allow_no_tools=True),
        limits=Limits(timeout_s=case.limits.timeout_s),
        metadata={HIJACK: facts},
        at=case.at,
    )
