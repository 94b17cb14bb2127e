"""The faults, each a newsroom that gets one thing wrong.

A coin put each fault of a kind into the ``first`` half, to improve a prober by, or the ``second``,
to measure it by, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.proofs.gazette.faults import first_rights, first_roads, second_rights, second_roads
from tests.proofs.gazette.faults.base import Fault, faults_of

FIRST: Final[Mapping[str, Fault]] = faults_of(first_rights, first_roads)
"""Faults to improve a prober by."""
SECOND: Final[Mapping[str, Fault]] = faults_of(second_rights, second_roads)
"""Faults to measure it by."""
FAULTS: Final[Mapping[str, Fault]] = {**FIRST, **SECOND}
"""All, by name."""
