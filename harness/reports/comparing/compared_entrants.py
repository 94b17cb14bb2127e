"""Which entrants of runs are compared with each other."""

from __future__ import annotations

from harness.base import UsageError
from harness.runlog import Header
from harness.suites import list_disturbances
from harness.types import NOBODY_ASKED


def list_comparable(header: Header) -> list[str]:
    """Return the entrants of a run that are compared with each other.

    What no model answered is no side of a comparison of models, and a report has what was asked
    under faults or attacks beside the same model without them.
    """
    entrants = header.entrants.items()
    return [name for name, axes in entrants if name != NOBODY_ASKED and not list_disturbances(axes)]


def pair_models(first: Header, second: Header) -> list[tuple[str, str]]:
    """Return the entrants of two runs that are to be compared with each other."""
    one, other = list(first.entrants), list(second.entrants)
    # The names of models decide, not their order: a run may have further ones.
    if shared := [(name, name) for name in one if name in other]:
        return shared
    if len(one) == len(other) == 1:
        return [(one[0], other[0])]
    raise UsageError(
        f"runs {first.run_id} ({', '.join(one)}) and {second.run_id} ({', '.join(other)}) share no "
        "model, and it is not clear which is to be compared with which",
        meant="Compare runs of one model each, or of the same models.",
    )
