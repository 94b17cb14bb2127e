"""Every axis. Plan, key, log, resume, shards, merging, comparison, grids and reports iterate here.

Whoever adds an axis declares it in a file beside this one and lists it here; what its values do
while a trial runs is read from `harness.runner.planning.plan.Job.point`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from harness.suites.axes.axis import Axis
from harness.suites.axes.variant import VARIANT
from harness.types import Case, JsonObject, Suite

Point: TypeAlias = Mapping[str, Any]
"""Name of an axis → the value itself, without axes at their default."""

AXES: tuple[Axis, ...] = (VARIANT,)
"""In the order of an entrant's name."""


def list_points(suite: Suite, request: Any) -> list[Point]:
    """Return every combination of the values that ``request`` wants of ``suite``."""
    chosen = product(*(axis.choose(suite, request) for axis in AXES))
    return [
        {axis.name: value for axis, value in zip(AXES, values, strict=True) if value is not None}
        for values in chosen
    ]


def name_values(point: Point) -> dict[str, str]:
    """Return the names of the values at ``point``, by axis: `Trial.axes`."""
    return {axis: value.name for axis, value in point.items()}


def describe_values(points: Sequence[Point]) -> dict[str, dict[str, JsonObject]]:
    """Return what the log's header says of the values at ``points``: axis → name → description."""
    described: dict[str, dict[str, JsonObject]] = {}
    for axis in AXES:
        values = {point[axis.name].name: point[axis.name] for point in points if axis.name in point}
        if values:
            described[axis.name] = {name: axis.describe(one) for name, one in values.items()}
    return described


def reword_case(case: Case, point: Point) -> Case:
    """Return ``case`` as it is asked at ``point``."""
    for axis in AXES:
        if axis.name in point:
            case = axis.reword(case, point[axis.name])
    return case
