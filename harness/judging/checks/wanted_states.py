"""The states of the server that checks need, which the runner reads after a conversation."""

from __future__ import annotations

from collections.abc import Iterable

from harness.base import canonical_json
from harness.judging.checks.kind import WantedState
from harness.judging.checks.nested_checks import walk_checks
from harness.judging.checks.registry import get_kind
from harness.types import Check


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
