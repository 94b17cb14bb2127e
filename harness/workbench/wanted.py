"""Which tool a case wants called first, as far as its checks say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.types import Case, Check

_OF_ONE = {"must_call", "must_succeed", "must_be_denied", "must_be_refused", "must_error"}
"""Checks that want a call of the tool that they name."""
_OF_SEVERAL = {"must_call_any", "graded"}
"""Checks that want calls of any of several tools."""
_IN_ORDER = "must_call_in_order"
_GROUPS = {"all_of", "any_of"}


def wanted_first(case: Case) -> frozenset[str]:
    """Return the tools of which one is right as the first call of ``case``.

    A check of an order names the first; without one, every tool that must or may be called is
    right. Empty where no check wants a call.
    """
    checks = [check for check in case.every_check if check.severity == "fail"]
    ordered = [check for check in checks if check.kind == _IN_ORDER]
    return frozenset(_wanted(ordered or checks))


def wanted_tool(case: Case) -> str | None:
    """Return the one tool that ``case`` wants called first; ``None`` if there is none or several.

    Studies of which tool is chosen use only cases that want one: where two would be right, a choice
    says nothing of the words.
    """
    tools = wanted_first(case)
    return next(iter(tools)) if len(tools) == 1 else None


def _wanted(checks: Iterable[Check]) -> Iterator[str]:
    for check in checks:
        params = check.params
        if check.kind in _OF_ONE:
            yield params["tool"]
        elif check.kind == _IN_ORDER:
            yield from (call["tool"] for call in params["calls"][:1])
        elif check.kind in _OF_SEVERAL:
            calls = params.get("calls") or params.get("expected") or ()
            yield from (call["tool"] for call in calls)
        elif check.kind in _GROUPS:
            yield from _wanted(member for option in check.options for member in option)
