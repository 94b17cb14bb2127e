"""The decisions that suites expect of the server, by identity and call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.base import canonical_json
from harness.judging import check_traits, stated_arguments
from harness.types import Case, Check, JsonObject, Tool

# Whether a model tries a call says nothing of the server's policy.
_OF_THE_MODEL = frozenset({"not_attempted"})
_HIDING = frozenset({"hidden"})


class Expectations:
    """The decisions that suites expect, by identity and call."""

    def __init__(self, cases: Iterable[Case], tools: Mapping[str, Tool]) -> None:
        """Read the checks of ``cases``; ``tools`` has every listed tool by name."""
        self._tools = tools
        self._checks: dict[str, list[Check]] = {}
        for case in cases:
            own = self._checks.setdefault(canonical_json(case.caller.user_context), [])
            own += [check for check in _iterate_decisions(case) if check not in own]

    def find_checks(
        self, user_context: JsonObject | None, tool: str, arguments: JsonObject
    ) -> tuple[Check, ...]:
        """Return the checks on one call of one identity: those with exactly these arguments.

        A decision without ``args``, or with ``{}``, concerns any arguments that a model may choose,
        so it applies to no particular call, unless the tool takes no arguments; ``{$equals: {}}``
        is the call without arguments. An expected ``hidden`` applies to all calls of the tool.
        """
        return tuple(
            check
            for check in self._checks.get(canonical_json(user_context), ())
            if check.params["tool"] == tool
            and (self._is_exact(check, tool, arguments) or _is_hiding(check))
        )

    def list_hidden_tools(self, user_context: JsonObject | None) -> list[str]:
        """Return the tools that must not be listed for an identity."""
        own = self._checks.get(canonical_json(user_context), ())
        return list(dict.fromkeys(check.params["tool"] for check in own if _is_hiding(check)))

    def _is_exact(self, check: Check, tool: str, arguments: JsonObject) -> bool:
        pattern = check.params.get("args", {})
        takes_none = tool in self._tools and not self._tools[tool].input_schema.get("properties")
        stated = stated_arguments(pattern) if pattern or takes_none else None
        return stated is not None and canonical_json(stated) == canonical_json(arguments)


def _iterate_decisions(case: Case) -> Iterator[Check]:
    for check in case.every_check:
        telling = set(check.params.get("is", ())) - _OF_THE_MODEL or "without" in check.params
        if "decides_access" in check_traits(check) and "tool" in check.params and telling:
            yield check


def _is_hiding(check: Check) -> bool:
    return set(check.params.get("is", ())) - _OF_THE_MODEL == _HIDING
