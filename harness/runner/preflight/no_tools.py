"""Whether a trial has anything to judge: who is offered no tool at all shows nothing of how it uses them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.walk import every_check
from harness.errors import ServerError
from harness.types import Case, ToolList

_NAMED = 3
"""Tools of which a message says why they cannot be offered."""


def require_tools(case: Case, server: str, offers: Sequence[ToolList], stderr_tail: str) -> None:
    """Return if one of the ``offers`` of a trial has a tool, or if ``case`` says that there may be none.

    It says so by `Case.allow_no_tools`, or by a check that accepts a hidden tool. A server of which
    every tool is unusable hides nothing from anybody, so only the former helps there.

    Raises:
        ServerError: ``server`` offers no tool.
    """
    if case.allow_no_tools or any(offer.tools for offer in offers):
        return
    broken = [problem for offer in offers for problem in offer.problems if not problem.usable]
    if broken:
        reasons = "; ".join(f"{each.tool}: {each.problem}" for each in broken[:_NAMED])
        more = f"; and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
        why = (
            f"lists no tool that can be offered to a model, so there is nothing to judge: "
            f"{reasons}{more}"
        )
    elif not _accepts_hidden(case):
        why = (
            "offers this user no tool, so there is nothing to judge. If that is what it should do, "
            "say so by "
            "'allow_no_tools: true' in the test, or by the decision 'hidden' on a tool"
        )
    else:
        return
    raise ServerError(f"server {server!r} {why}", stderr_tail=stderr_tail)


def _accepts_hidden(case: Case) -> bool:
    return any(
        check.kind == "decision" and "hidden" in check.params.get("is", ())
        for check in every_check(case)
    )
