"""Mistakes that change nothing which anybody can observe, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EQUIVALENT: Final[Mapping[str, str]] = {}
"""Name of the mistake → why no test could tell it from the code."""
