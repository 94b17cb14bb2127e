"""``interference`` of a suite in Python: a list of mappings, as in a YAML suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.base import DocumentReader, Problem, build_code_document
from harness.suites.cases import CaseReader
from harness.suites.format_tables import build_layouts
from harness.suites.interference import read_alterations
from harness.suites.readers import Vocabulary
from harness.types import Alteration, Location

_MEANT = "Write interference = [{'alters': '…', 'b': {'env': {…}}}], as in a YAML suite."


def read_python_alterations(
    given: Any, at: Location, vocabulary: Vocabulary
) -> tuple[tuple[Alteration, ...], list[Problem]]:
    """Return the altered values that a suite at ``at`` declares, and what is wrong with them."""
    if given is None:
        return (), []
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        message = f"interference: expected a list, found {type(given).__name__}."
        return (), [Problem(at=at, message=message, meant=_MEANT)]
    for number, one in enumerate(given, start=1):
        if not isinstance(one, Mapping):
            message = f"interference: number {number} is a {type(one).__name__}, not a mapping."
            return (), [Problem(at=at, message=message, meant=_MEANT)]
    # By the reader of YAML, so that both say the same of the same mistake.
    reading = DocumentReader(build_code_document(at))
    calls = CaseReader(reading, build_layouts(vocabulary), {}).read_calls
    found = tuple(read_alterations(reading, ("interference",), [*given], calls))
    return found, reading.problems
