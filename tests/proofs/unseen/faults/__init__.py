"""60 faults, each a firm that gets one thing wrong.

A coin put each into ``dev``, to improve a prober by, or ``held_out``, to measure it by; so whoever
improves a prober leaves the modules ``held_out*`` closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.proofs.unseen.chambers import Chambers
from tests.proofs.unseen.faults import dev_answers, dev_calls, held_out_answers, held_out_calls
from tests.proofs.unseen.faults.base import Fault, faults_of

DEV: Final[Mapping[str, Fault]] = faults_of(dev_answers, dev_calls)
"""Faults to improve a prober by."""
HELD_OUT: Final[Mapping[str, Fault]] = faults_of(held_out_answers, held_out_calls)
"""Faults to measure it by."""
FAULTS: Final[Mapping[str, type[Chambers]]] = {
    name: fault.firm for name, fault in {**DEV, **HELD_OUT}.items()
}
"""The firm of each fault by its name."""
