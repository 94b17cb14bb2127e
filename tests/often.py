"""Parameters of a test of which `make test` tries a few, and `make proofs` the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def often(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Return ``cases`` with all but the first ``count`` marked as slow.

    A case is one value, or a tuple of values; put first what would break first.
    """
    return [
        case
        if place < count
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for place, case in enumerate(cases)
    ]
