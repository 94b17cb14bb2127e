"""The expected call of a case, with the arguments that its checks give as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.judging import get_kind, is_matcher, wanted_calls
from harness.types import Case, JsonObject

_MOST = 8
"""Most calls that are considered; the reference of an end state may have any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that a case expects first."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject = field(default_factory=dict)
    """The arguments that are given as plain values; matchers are left out."""


def expected_call(case: Case) -> ExpectedCall | None:
    """Return the first call that the checks of ``case`` require; ``None`` if they require none."""
    return next(iter(expected_calls(case)), None)


def expected_calls(case: Case) -> tuple[ExpectedCall, ...]:
    """Return the calls that the checks of ``case`` require; of alternatives, only the first."""
    calls = [
        ExpectedCall(
            tool=tool,
            arguments={name: value for name, value in arguments.items() if _is_plain(value)},
        )
        for tool, arguments in wanted_calls(case)
    ]
    choice = any(check.options or get_kind(check).order == "one_of" for check in case.every_check)
    return tuple(calls[:1] if choice else calls[:_MOST])


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not is_matcher(value) and all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list | tuple) else True
