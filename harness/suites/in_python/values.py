"""Converts the values of a Python suite for a `Suite`; each function accepts any object.

Each raises `InvalidValue` for invalid values, in terms of Python's types, not of YAML's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

from harness.base import (
    DocumentReader,
    InvalidValue,
    Problem,
    UsageError,
    build_code_document,
    json_value,
    parse_share,
    parse_single_line,
)
from harness.models import build_function_spec
from harness.suites.cases import CaseReader
from harness.suites.faults import FAULTS_LAYOUT, read_faults
from harness.suites.format_tables import build_layouts
from harness.suites.interference import read_alterations
from harness.suites.readers import Vocabulary
from harness.suites.variants import read_variants
from harness.types import (
    Alteration,
    FaultSet,
    GuardRails,
    Isolation,
    Location,
    ModelSpec,
    NamedTool,
    SimulatedUser,
    Variant,
)


def parse_text(value: Any) -> str:
    """Return a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue(f"expected text, found {_format_value(value)}")
    return value


def parse_model(value: Any) -> str | ModelSpec:
    """Return the name of a model, or a function that answers in its place."""
    if not callable(value):
        return parse_text(value)
    try:
        return build_function_spec(value)
    except UsageError as error:
        # A function that is assigned in the class is no method, and takes no suite.
        plain = getattr(value, "__func__", None)
        with suppress(UsageError):
            if plain is not None:
                return build_function_spec(plain)
        raise InvalidValue(error.message, meant=error.meant) from error


def parse_name(value: Any) -> str:
    """Return a name on one line; a whole number is allowed."""
    # Ids of datasets are often numbers; `True` is one only for Python.
    number = isinstance(value, int) and not isinstance(value, bool)
    return parse_single_line(str(value) if number else parse_text(value))


def parse_prompts(value: Any) -> tuple[str, ...]:
    """Return the user's messages: one text, or several."""
    if isinstance(value, str):
        return (parse_text(value),)
    # An empty list gets the message on a missing text.
    return parse_texts(value) or (parse_text(None),)


def parse_texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise InvalidValue(f"expected a list of texts, found {_format_value(value)}")
    return tuple(parse_text(item) for item in value)


def parse_user(value: Any) -> SimulatedUser:
    """Return a simulated user; a function plays it itself."""
    if isinstance(value, SimulatedUser):
        return value
    if not callable(value):
        raise InvalidValue(f"expected a SimulatedUser or a function, found {_format_value(value)}")
    return SimulatedUser(code=value)


def parse_mapping(value: Any) -> dict[str, Any]:
    """Return a mapping of JSON values."""
    if not isinstance(value, Mapping):
        raise InvalidValue(f"expected a mapping, found {_format_value(value)}")
    # Through JSON: what cannot be logged must not come into a case.
    return dict(json_value(dict(value)))


def parse_milliseconds(value: Any) -> float:
    """Return a number of milliseconds above zero in seconds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value < float("inf"):
        found = _format_value(value)
        raise InvalidValue(f"expected a number of milliseconds above 0, found {found}")
    return float(value) / 1000


def share(value: Any) -> float:
    """Return a share above 0 and up to 1."""
    return parse_share(value, _format_value)


def parse_boolean(value: Any) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise InvalidValue(f"expected True or False, found {_format_value(value)}")
    return value


def parse_guard_rails(value: Any, at: Location) -> GuardRails:
    """Return which tools may be called although they are not known to read: all, or those named."""
    if isinstance(value, bool):
        return GuardRails(allow_writes=value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) and one for one in value):
        return GuardRails(allowed=tuple(NamedTool(tool=one, at=at) for one in value))
    raise InvalidValue(f"expected True or a list of tools, found {_format_value(value)}")


def parse_isolation(value: Any) -> Isolation:
    """Return which users share a process."""
    known: tuple[Isolation, ...] = get_args(Isolation)
    if value in known:
        return known[known.index(value)]
    raise InvalidValue(f"expected {' or '.join(map(repr, known))}, found {_format_value(value)}")


def _format_value(value: Any) -> str:
    shown = repr(value)
    cut = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
    return f"{type(value).__name__} {cut}"


_LONGEST_SHOWN = 60


_ALTERATIONS_MEANT = (
    "Write interference = [{'alters': '…', 'b': {'env': {…}}}], as in a YAML suite."
)


def read_python_alterations(
    given: Any, at: Location, vocabulary: Vocabulary
) -> tuple[tuple[Alteration, ...], list[Problem]]:
    """Return the altered values that a suite at ``at`` declares, and what is wrong with them."""
    if given is None:
        return (), []
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        message = f"interference: expected a list, found {type(given).__name__}."
        return (), [Problem(at=at, message=message, meant=_ALTERATIONS_MEANT)]
    for number, one in enumerate(given, start=1):
        if not isinstance(one, Mapping):
            message = f"interference: number {number} is a {type(one).__name__}, not a mapping."
            return (), [Problem(at=at, message=message, meant=_ALTERATIONS_MEANT)]
    # By the reader of YAML, so that both say the same of the same mistake.
    reading = DocumentReader(build_code_document(at))
    calls = CaseReader(reading, build_layouts(vocabulary), {}).read_calls
    found = tuple(read_alterations(reading, ("interference",), [*given], calls))
    return found, reading.problems


_FAULTS_MEANT = "Give a list as under 'faults:' in YAML: faults = ['search_orders#1: timeout']."
_VARIANTS_MEANT = (
    "Write variants = [harness.Variant(name='…', …)], or a mapping as in a YAML suite."
)


def read_python_faults(given: Any, at: Location) -> tuple[tuple[FaultSet, ...], list[Problem]]:
    """Return the faults that a suite at ``at`` gives, as in YAML, and what is wrong with them."""
    if given is None:
        return (), []
    if isinstance(given, str) or not isinstance(given, Sequence):
        message = f"faults: expected a list, found {type(given).__name__}."
        return (), [Problem(at=at, message=message, meant=_FAULTS_MEANT)]
    reading = DocumentReader(build_code_document(at))
    values = reading.read_mapping((), {"faults": list(given)}, FAULTS_LAYOUT, "the suite")
    return read_faults(reading, ("faults",), values.get("faults", ())), reading.problems


def read_python_variants(given: Any, at: Location) -> tuple[tuple[Variant, ...], list[Problem]]:
    """Return the variants that a suite at ``at`` gives, and what is wrong with them."""
    if given is None:
        return (), []
    if isinstance(given, Mapping):
        reading = DocumentReader(build_code_document(at))
        return read_variants(reading, ("variants",), given), reading.problems
    if isinstance(given, str) or not isinstance(given, Sequence):
        message = f"variants: expected a list or a mapping, found {type(given).__name__}."
        return (), [Problem(at=at, message=message, meant=_VARIANTS_MEANT)]
    problems, found = [], dict[str, Variant]()
    for number, one in enumerate(given, start=1):
        if not isinstance(one, Variant):
            message = f"variants: number {number} is a {type(one).__name__}, not a Variant."
            problems.append(Problem(at=at, message=message, meant=_VARIANTS_MEANT))
        elif one.name in found:
            message = f"variants: two of them are named {one.name!r}."
            meant = "Give each variant a name of its own."
            problems.append(Problem(at=at, message=message, meant=meant))
        else:
            # Without a place of its own, messages point at the suite.
            found[one.name] = replace(one, at=one.at or at)
    return tuple(found.values()), problems
