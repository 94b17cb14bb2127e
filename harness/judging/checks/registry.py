"""All kinds of check by name, and what they declare of a case's checks.

The kinds are those of the files in ``kinds``, and those of other packages. What they declare is
asked before the first trial spends a token: the tools that checks name, to find misspelt ones; the
calls that they describe, to find those that no tool takes; the calls, states and judges that they
need.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from harness.base import Registry, canonical_json
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.kind import SECTIONS, CheckKind, WantedCall, WantedState
from harness.types import Case, Check, CheckTrait, NamedTool, dataclass

_PACKAGE = "harness.judging.checks.kinds"


@cache
def _find_kinds() -> Mapping[str, tuple[CheckKind, str]]:
    """Return each kind in the files of ``kinds`` with its ``module:attribute``, by name.

    They are in the order of the documentation. Reading any suite needs all of them for its keys,
    so nothing would be saved if the files were not imported here.
    """
    found: dict[str, tuple[CheckKind, str]] = {}
    for module in iter_modules([str(Path(__file__).with_name("kinds"))]):
        path = f"{_PACKAGE}.{module.name}"
        for attribute, member in vars(import_module(path)).items():
            if isinstance(member, CheckKind):
                # A kind that one file imports from another is in both.
                found.setdefault(member.name, (member, f"{path}:{attribute}"))
    return dict(sorted(found.items(), key=lambda item: _place(item[1][0])))


def _place(kind: CheckKind) -> int:
    section = None if kind.doc is None else kind.doc.section
    return SECTIONS.index(section) if section in SECTIONS else len(SECTIONS)


def _references(*, in_suites: bool) -> Mapping[str, str]:
    return {
        name: reference
        for name, (kind, reference) in _find_kinds().items()
        if kind.in_suites == in_suites
    }


KINDS: Registry[CheckKind] = Registry(
    "harness.checks",
    "check",
    # Asked for later, since the files of `kinds` import this module.
    lambda: _references(in_suites=True),
    unlisted=lambda: _references(in_suites=False),
    base=CheckKind,
)
"""Check name → its `CheckKind`. Leaderboards add their own, which no suite may name."""


def get_kind(check: Check) -> CheckKind:
    """Return the kind of ``check``."""
    return KINDS.get(check.kind)


def check_traits(check: Check) -> Collection[CheckTrait]:
    """Return what the kind of ``check`` says of it."""
    return get_kind(check).traits(check.params)


def checks_with(trait: CheckTrait, checks: Iterable[Check]) -> list[Check]:
    """Return those of ``checks``, and of the checks in their groups, that have ``trait``."""
    return [part for check in checks for part in check.walk() if trait in check_traits(part)]


def checks_of_model(checks: Iterable[Check]) -> list[Check]:
    """Return those of ``checks``, and of the checks in their groups, that judge a model."""
    return [part for part in walk_checks(checks) if get_kind(part).needs_model]


def needs_session(check: Check, *, has_tools: bool = False) -> bool:
    """Whether ``check``, or one in its groups, judges what only a session shows.

    ``has_tools``: whether the list of tools is known without one.
    """
    needed = {get_kind(part).needs_session for part in check.walk()}
    return bool(needed - ({False, "tools"} if has_tools else {False}))


def every_check(case: Case) -> Iterator[Check]:
    """Yield each check of ``case`` and each check in the options of a group, in order."""
    return walk_checks(case.every_check)


def walk_checks(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield each of ``checks``, and after a group every check inside it."""
    for check in checks:
        yield from check.walk()


def tool_names(check: Check) -> Iterator[NamedTool]:
    """Yield every tool that ``check`` names, including those inside groups, with its place."""
    for member in check.walk():
        for tool, allow_absent in get_kind(member).named_tools(member.params):
            yield NamedTool(tool=tool, at=check.at, allow_absent=allow_absent)


def valid_calls(check: Check) -> Iterator[WantedCall]:
    """Yield every call in a check, as far as it must be valid by the schema of its tool."""
    for member in check.walk():
        yield from get_kind(member).valid_calls(member.params)


# ── The calls that a case expects ────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ExpectedFirstCalls:
    """The first calls that a case accepts."""

    tools: tuple[str, ...]
    """Tools that are right as the first call; empty if no call is right."""

    def matches_tool(self, tool: str | None) -> bool:
        """Return whether ``tool`` (``None``: no call) is an expected first call."""
        return tool in self.tools if self.tools else tool is None


def wanted_calls(case: Case) -> Iterator[WantedCall]:
    """Yield every call that a check of ``case`` expects, including alternatives.

    The reference calls of an end state count as expected; prohibitions do not.
    """
    for check in _find_demands(case.every_check):
        yield from get_kind(check).wanted_calls(check.params)


def expected_tools(case: Case) -> frozenset[str]:
    """Return the tools that must or may be called for ``case`` to pass."""
    return frozenset(
        tool
        for check in _find_demands(case.every_check)
        for tool in get_kind(check).needed_tools(check.params)
    )


def wanted_first(case: Case) -> ExpectedFirstCalls | None:
    """Return the expected first call of ``case``, or ``None`` if its checks do not name one.

    A check of the order names the first call; without one, every tool that must or may be called is
    right. In a conversation of several turns, the first turn with checks counts.
    """
    groups = [turn.checks for turn in case.turns if turn.checks] or [case.checks]
    ordered: list[str] = []
    named: list[str] = []
    for check in _find_demands(groups[0]):
        kind = get_kind(check)
        tools = [tool for tool, _ in kind.wanted_calls(check.params)]
        if kind.order == "in_order":
            ordered += tools[:1]
        elif kind.order != "effect":  # look-ups may precede it
            named += tools
    if ordered or named:
        return ExpectedFirstCalls(tuple(dict.fromkeys(ordered or named)))
    return ExpectedFirstCalls(()) if any(map(_wants_none, case.every_check)) else None


def wanted_tool(case: Case) -> str | None:
    """Return the only expected first tool of ``case``; ``None`` if there is none or several.

    Studies of tool choice use only cases with one expected tool: if two were right, the choice
    would not show the effect of the text.
    """
    first = wanted_first(case)
    return first.tools[0] if first is not None and len(first.tools) == 1 else None


def _find_demands(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks and those in groups, but none that only warns, and no negated one."""
    for check in checks:
        if (
            get_kind(check).group == "none"
            or check.params.get("severity", check.severity) != "fail"
        ):
            continue
        yield check
        for option in check.options:
            yield from _find_demands(option)


def _wants_none(check: Check) -> bool:
    """Whether a check claims that there is no call at all."""
    return CallsClaim(most=0) in [
        # Whether the claim alone decides its check does not matter here.
        replace(claim, enough=False)
        for claim in get_kind(check).claims(check.params)
        if isinstance(claim, CallsClaim)
    ]


# ── States of the server, and judges ─────────────────────────────────────────────────────────


def wanted_states(checks: Iterable[Check]) -> tuple[WantedState, ...]:
    """Return every state that ``checks`` need, once, including those inside groups."""
    found = (
        state
        for check in walk_checks(checks)
        for state in get_kind(check).wanted_states(check.params)
    )
    # Mappings have no hash, so equal states are found by their JSON.
    return tuple({canonical_json(state): state for state in found}.values())


def needs_fresh_copy(checks: Iterable[Check]) -> bool:
    """Whether one of ``checks`` compares with a fresh copy, so that trials need a fresh state."""
    return any(state.after is not None for state in wanted_states(checks))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeNeed:
    """One check that needs a judge."""

    model: str | None
    """The judge that it names; ``None`` means the suite's."""
    required: bool
    """Whether it cannot be judged without one."""
    is_rare: bool = False
    """Whether a judge is only asked about some answers: nothing is said if there is none."""


def find_judge_needs(checks: Iterable[Check]) -> Iterator[JudgeNeed]:
    """Yield a `JudgeNeed` for each of ``checks``, also inside groups, that asks a judge."""
    for check in walk_checks(checks):
        kind = get_kind(check)
        if kind.needs_judge is not None:
            yield JudgeNeed(
                model=check.params.get("model"), required=kind.needs_judge, is_rare=kind.asks_rarely
            )
