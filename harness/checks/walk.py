"""All checks of a case, those inside of groups included."""

from __future__ import annotations

from collections.abc import Iterator

from harness.types import Case, JsonObject


def every_check(case: Case) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``(kind, params)`` of each check of ``case`` and of each check in the options of a group."""
    left = [(check.kind, check.params) for check in case.every_check]
    while left:
        kind, params = left.pop()
        yield kind, params
        left += [
            (member["kind"], member["params"])
            for option in params.get("options", ())
            for member in option
        ]
