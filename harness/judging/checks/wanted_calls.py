"""The calls that a case expects, read from its checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness.types import Case, Check, JsonObject

_ONE = frozenset(
    {
        "must_call",
        "must_succeed",
        "must_be_denied",
        "must_be_refused",
        "must_error",
        "tool_result",
    }
)
"""Checks that fail unless their only tool is called."""
_LISTS: Mapping[str, str] = {
    "must_call_any": "calls",
    "graded": "expected",
    "end_state": "same_state_as",
}
"""Kinds of checks on several calls → the setting with the calls."""
_IN_ORDER = "must_call_in_order"
_UNTRIED = frozenset({"hidden", "not_attempted"})

Wanted: TypeAlias = tuple[str, JsonObject]
"""A tool, and the arguments that a check requires (values or matchers)."""


@dataclass(frozen=True, slots=True)
class ExpectedFirstCalls:
    """The first calls that a case accepts."""

    tools: tuple[str, ...]
    """Tools that are right as the first call; empty if no call is right."""

    def matches_tool(self, tool: str | None) -> bool:
        """Return whether ``tool`` (``None``: no call) is an expected first call."""
        return tool in self.tools if self.tools else tool is None


def wanted_calls(case: Case) -> Iterator[Wanted]:
    """Yield every call that a check of ``case`` expects, including alternatives.

    The reference calls of an end state count as expected; prohibitions do not.
    """
    for check in _find_demands(case.every_check):
        yield from _read_calls(check)


def expected_tools(case: Case) -> frozenset[str]:
    """Return the tools that must or may be called for ``case`` to pass.

    A decision about a tool needs a call of it, unless the tool is to be hidden or not tried.
    """
    decided = (
        check.params["tool"]
        for check in _walk_checks(case.every_check)
        if check.kind == "decision"
        and isinstance(check.params.get("tool"), str)
        and not _UNTRIED.issuperset(check.params.get("is", ("allowed",)))
    )
    return frozenset((*(tool for tool, _ in wanted_calls(case)), *decided))


def wanted_first(case: Case) -> ExpectedFirstCalls | None:
    """Return the expected first call of ``case``, or ``None`` if its checks do not name one.

    A check of the order names the first call; without one, every tool that must or may be called is
    right. In a conversation of several turns, the first turn with checks counts.
    """
    groups = [turn.checks for turn in case.turns if turn.checks] or [case.checks]
    demands = list(_find_demands(groups[0]))
    ordered = [next(_read_calls(check))[0] for check in demands if check.kind == _IN_ORDER]
    named = ordered or [
        tool
        for check in demands
        if check.kind != "end_state"  # look-ups may precede it
        for tool, _ in _read_calls(check)
    ]
    if named:
        return ExpectedFirstCalls(tuple(dict.fromkeys(named)))
    return ExpectedFirstCalls(()) if any(map(_wants_none, case.every_check)) else None


def wanted_tool(case: Case) -> str | None:
    """Return the only expected first tool of ``case``; ``None`` if there is none or several.

    Studies of tool choice use only cases with one expected tool: if two were right, the choice
    would not show the effect of the text.
    """
    first = wanted_first(case)
    return first.tools[0] if first is not None and len(first.tools) == 1 else None


def _find_demands(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks that require calls, including those in groups."""
    return (check for check in _walk_checks(checks) if _call_form(check) is not None)


def _walk_checks(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks and those in groups, but none that only warns, and no negated one."""
    for check in checks:
        if check.kind == "not" or check.params.get("severity", check.severity) != "fail":
            continue
        yield check
        for option in check.options:
            yield from _walk_checks(option)


def _call_form(check: Check) -> Literal["one", "list"] | None:
    if check.kind in _ONE and isinstance(check.params.get("tool"), str):
        return "one"
    return "list" if check.kind in _LISTS or check.kind == _IN_ORDER else None


def _read_calls(check: Check) -> Iterator[Wanted]:
    if _call_form(check) == "one":
        yield check.params["tool"], check.params.get("args", {})
        return
    listed = check.params.get(_LISTS.get(check.kind, "calls"))
    for call in listed if isinstance(listed, list | tuple) else ():
        if isinstance(call, Mapping) and isinstance(call.get("tool"), str):
            yield call["tool"], call.get("args", {})


def _wants_none(check: Check) -> bool:
    if check.kind == "only_call":
        return not check.params.get("calls")
    return (
        check.kind == "max_calls"
        and check.params.get("tool") is None
        and check.params.get("limit") == 0
    )
