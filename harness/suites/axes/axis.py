"""What an axis declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.types import Case, JsonObject, Suite

DEFAULT = "none"
"""What asks for the default among values of an axis."""


def _keep_case(case: Case, _: Any) -> Case:
    return case


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that may differ between trials of the same case with the same model.

    A value has a ``name``, which is unique in a run. The default is no value: ``None``, which is
    absent in logs and null in outputs.
    """

    name: str
    """Its key in logs and JSON, and its column in CSV and SQL."""
    doc: str
    """What its column says, in a sentence."""
    choose: Callable[[Suite, Any], Sequence[Any]]
    """``(suite, request of the run) → the values to run``; ``None`` is the default."""
    describe: Callable[[Any], JsonObject]
    """A value → what the log's header says of it: all that determines a trial, its ``digest``, and
    ``words`` for people."""
    reword: Callable[[Case, Any], Case] = _keep_case
    """``(case, value) → the case as it is asked``."""
