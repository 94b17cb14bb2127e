"""The faults, by name: each one replaces a decision of the clinic, or a check of its door."""

from __future__ import annotations

from tests.proofs.planted.faults import (
    arguments,
    attributes,
    encodings,
    frames,
    fresh,
    listings,
    masks,
    memory,
    oracles,
    other_names,
    sessions,
    smuggled,
    tokens,
    writes,
)
from tests.proofs.planted.faults.fault import Fault, faults_of

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for module in (
        frames, encodings, masks, other_names, attributes, smuggled, arguments, memory, listings,
        oracles, writes, tokens, sessions, fresh,
    )
    for fault in faults_of(module)
}  # fmt: skip
"""Every fault that can be planted."""
