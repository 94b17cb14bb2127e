"""How many trials run at the same time on each worker of a cluster."""

from __future__ import annotations

from harness.base import UsageError
from harness.runner.planning.request import MOST_IN_A_PROCESS


def divide_seats(concurrency: int, units: int, processors: int) -> list[int]:
    """Divide the trials at the same time among as many workers as there are processors.

    ``units`` are what can be handed out: no more workers than that are started.

    Raises:
        UsageError: there is no processor, or there are too few for so many trials.
    """
    if processors < 1:
        raise UsageError("the Ray cluster has no processor for a worker")
    workers = min(processors, concurrency, units)
    # The first `more` workers take one trial more than the others.
    each, more = divmod(concurrency, workers)
    if each + (more > 0) > MOST_IN_A_PROCESS:
        raise UsageError(
            f"{concurrency} trials at the same time are too many for this Ray cluster: a worker "
            f"runs at most {MOST_IN_A_PROCESS}, and there would be {workers}"
        )
    return [each + (place < more) for place in range(workers)]
