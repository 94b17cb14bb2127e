"""The axes of a trial as fields of its record, which every output shows."""

from __future__ import annotations

from collections.abc import Mapping

from harness.suites import AXES


def axis_fields(axes: Mapping[str, str]) -> dict[str, str | None]:
    """Return the value of each axis, as every output shows it; ``None`` is the default."""
    return {axis.name: axes.get(axis.name) for axis in AXES}
