"""``variants`` of a suite in Python: `harness.Variant` objects, or a mapping as in YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import DocumentReader, Problem, build_code_document
from harness.suites.variants import read_variants
from harness.types import Location, Variant

_MEANT = "Write variants = [harness.Variant(name='…', …)], or a mapping as in a YAML suite."


def read_python_variants(given: Any, at: Location) -> tuple[tuple[Variant, ...], list[Problem]]:
    """Return the variants that a suite at ``at`` gives, and what is wrong with them."""
    if given is None:
        return (), []
    if isinstance(given, Mapping):
        reading = DocumentReader(build_code_document(at))
        return read_variants(reading, ("variants",), given), reading.problems
    if isinstance(given, str) or not isinstance(given, Sequence):
        message = f"variants: expected a list or a mapping, found {type(given).__name__}."
        return (), [Problem(at=at, message=message, meant=_MEANT)]
    problems, found = [], dict[str, Variant]()
    for number, one in enumerate(given, start=1):
        if not isinstance(one, Variant):
            message = f"variants: number {number} is a {type(one).__name__}, not a Variant."
            problems.append(Problem(at=at, message=message, meant=_MEANT))
        elif one.name in found:
            message = f"variants: two of them are named {one.name!r}."
            meant = "Give each variant a name of its own."
            problems.append(Problem(at=at, message=message, meant=meant))
        else:
            # Without a place of its own, messages point at the suite.
            found[one.name] = replace(one, at=one.at or at)
    return tuple(found.values()), problems
