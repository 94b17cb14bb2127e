"""The call that a case expects, with the arguments that are written down as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.matching.matchers import is_matcher
from harness.types import Case, JsonObject
from harness.workbench.wanted import wanted_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that a case expects first."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject = field(default_factory=dict)
    """The arguments that are written down as plain values; matchers are left out."""


def expected_call(case: Case) -> ExpectedCall | None:
    """Return the first call that the checks of ``case`` require; ``None`` if they require none."""
    for tool, arguments in wanted_calls(case):
        plain = {name: value for name, value in arguments.items() if _is_plain(value)}
        return ExpectedCall(tool=tool, arguments=plain)
    return None


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not is_matcher(value) and all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list | tuple) else True
