"""Refuses a trial without tools, which would show nothing about their use by the model."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base import ServerError
from harness.judging import checks_with
from harness.types import Case, ToolList

_NAMED = 3
"""Most tools that are named in a message with the reason why they are unusable."""


def require_tools(case: Case, server: str, offers: Sequence[ToolList], stderr_tail: str) -> None:
    """Check that one of a trial's ``offers`` has a tool, or that ``case`` allows none.

    A case allows it by `Caller.allow_no_tools`, or by a check that accepts a hidden tool. The
    latter does not count if all tools of the server are unusable, since then nothing is hidden.

    Raises:
        ServerError: ``server`` offers no tool.
    """
    if case.caller.allow_no_tools or any(offer.tools for offer in offers):
        return
    broken = [problem for offer in offers for problem in offer.problems if not problem.usable]
    if broken:
        reasons = "; ".join(f"{each.tool}: {each.problem}" for each in broken[:_NAMED])
        more = f"; and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
        why = (
            "lists no tool that can be offered to a model, so there is nothing to judge: "
            f"{reasons}{more}"
        )
    else:
        access = checks_with("decides_access", case.every_check)
        if any("hidden" in check.params.get("is", ()) for check in access):
            return
        why = (
            "offers this user no tools, so there is nothing to judge. If that is intended, write "
            "'allow_no_tools: true' in the test, or expect the decision 'hidden' for a tool"
        )
    raise ServerError(f"server {server!r} {why}", stderr_tail=stderr_tail)
