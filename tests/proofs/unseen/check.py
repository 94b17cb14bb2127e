"""``python -m tests.proofs.unseen.check [NAME…]``: show each fault by its own exploit.

The exit code is 1 if an exploit does not work on its fault, or works on the sound firm.
"""

from __future__ import annotations

import sys

import anyio

from tests.proofs.unseen.exploits import succeeds
from tests.proofs.unseen.faults import DEV, HELD_OUT

FAULTS = {**DEV, **HELD_OUT}
"""By name."""


async def _all(names: list[str]) -> int:
    if unknown := set(names) - FAULTS.keys():
        raise SystemExit(f"there is no fault named {', '.join(sorted(unknown))}")
    wrong = 0
    for name in names or FAULTS:
        fault = FAULTS[name]
        with_it = await succeeds(fault, planted=True)
        without = await succeeds(fault, planted=False)
        if not with_it or without:
            wrong += 1
            print(f"{name}: works with the fault: {with_it}, on the sound firm: {without}")
    print(f"{len(names or FAULTS)} faults, {wrong} not shown by their exploit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(anyio.run(_all, sys.argv[1:]))
