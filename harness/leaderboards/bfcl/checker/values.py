"""Whether a value of the right type is one of the allowed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.checker.fault import Fault
from harness.leaderboards.bfcl.checker.strings import loosely, standardized

OPTIONAL = ""
"""Among the allowed values, this marks the parameter as optional."""


def string_fault(parameter: str, value: str, answers: Sequence[Any]) -> Fault | None:
    """Compare texts regardless of case, spaces and punctuation."""
    if standardized(value) in [
        standardized(answer) for answer in answers if isinstance(answer, str)
    ]:
        return None
    return _unexpected("value_error:string", parameter, value, answers)


def list_fault(parameter: str, value: Sequence[Any], answers: Sequence[Any]) -> Fault | None:
    """Compare lists in order, and texts in them loosely.

    The mark of an optional parameter is an empty text and equals the empty list.
    """
    if [loosely(item) for item in value] in [
        [loosely(item) for item in answer] for answer in answers
    ]:
        return None
    return _unexpected("value_error:list/tuple", parameter, value, answers)


def dict_fault(parameter: str, value: Any, answers: Sequence[Any]) -> Fault | None:
    """Compare objects key by key; each key of an answer has a list of allowed values."""
    fault: Fault | None = Fault(
        "dict_checker:unclear", f"parameter {parameter!r} has no answer to compare with"
    )
    for answer in answers if isinstance(value, Mapping) else ():
        if answer == OPTIONAL:
            continue
        fault = _missing_key(value, answer) or _wrong_entry(value, answer)
        if fault is None:
            return None
    return fault


def list_of_dicts_fault(
    parameter: str, value: Sequence[Any], answers: Sequence[Any]
) -> Fault | None:
    """Compare lists of objects in order."""
    fault: Fault | None = Fault(
        "list_dict_checker:unclear", f"parameter {parameter!r} has no answer to compare with"
    )
    for answer in answers:
        if len(value) != len(answer):
            words = f"parameter {parameter!r} has {len(value)} objects instead of {len(answer)}"
            fault = Fault("value_error:list_dict_count", words)
            continue
        pairs = zip(value, answer, strict=True)
        fault = next(
            (found for item, one in pairs if (found := dict_fault(parameter, item, [one]))), None
        )
        if fault is None:
            return None
    return fault


def plain_fault(parameter: str, value: Any, answers: Sequence[Any]) -> Fault | None:
    """Compare any other value unchanged."""
    return (
        None if value in answers else _unexpected("value_error:others", parameter, value, answers)
    )


def _missing_key(value: Mapping[str, Any], answer: Mapping[str, Sequence[Any]]) -> Fault | None:
    missing = next(
        (key for key, allowed in answer.items() if key not in value and OPTIONAL not in allowed),
        None,
    )
    return (
        None
        if missing is None
        else Fault("value_error:dict_key", f"the key {missing!r} is missing")
    )


def _wrong_entry(value: Mapping[str, Any], answer: Mapping[str, Sequence[Any]]) -> Fault | None:
    for key, item in value.items():
        if key not in answer:
            return Fault("value_error:dict_key", f"the key {key!r} is not expected")
        if loosely(item) not in [loosely(allowed) for allowed in answer[key]]:
            return _unexpected("value_error:dict_value", key, item, answer[key])
    return None


def _unexpected(error_type: str, parameter: str, value: Any, answers: Sequence[Any]) -> Fault:
    return Fault(
        error_type, f"parameter {parameter!r} is {value!r}; expected one of {list(answers)!r}"
    )
