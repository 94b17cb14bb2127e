"""Whether a value of the right type is one of the allowed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.checker.fault import Fault
from harness.leaderboards.bfcl.checker.strings import standardize_text, standardize_value

OPTIONAL = ""
"""Among the allowed values, this marks the parameter as optional."""


def find_string_fault(parameter: str, value: str, answers: Sequence[Any]) -> Fault | None:
    """Compare texts regardless of case, spaces and punctuation."""
    if standardize_text(value) in [
        standardize_text(answer) for answer in answers if isinstance(answer, str)
    ]:
        return None
    return _build_value_fault("value_error:string", parameter, value, answers)


def find_list_fault(parameter: str, value: Sequence[Any], answers: Sequence[Any]) -> Fault | None:
    """Compare lists in order, and texts in them loosely.

    The mark of an optional parameter is an empty text and equals the empty list.
    """
    if [standardize_value(item) for item in value] in [
        [standardize_value(item) for item in answer] for answer in answers
    ]:
        return None
    return _build_value_fault("value_error:list/tuple", parameter, value, answers)


def find_dict_fault(parameter: str, value: Any, answers: Sequence[Any]) -> Fault | None:
    """Compare objects key by key; each key of an answer has a list of allowed values."""
    fault: Fault | None = Fault(
        "dict_checker:unclear", f"parameter {parameter!r} has no answer to compare with"
    )
    for answer in answers if isinstance(value, Mapping) else ():
        if answer == OPTIONAL:
            continue
        # Upstream looks for missing keys last, and names a fault by the last mistake it finds.
        fault = _find_missing_key(value, answer) or _find_wrong_entry(value, answer)
        if fault is None:
            return None
    return fault


def find_list_of_dicts_fault(
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
            (found for item, one in pairs if (found := find_dict_fault(parameter, item, [one]))),
            None,
        )
        if fault is None:
            return None
    return fault


def find_plain_fault(parameter: str, value: Any, answers: Sequence[Any]) -> Fault | None:
    """Compare any other value unchanged."""
    return (
        None
        if value in answers
        else _build_value_fault("value_error:others", parameter, value, answers)
    )


def _find_missing_key(
    value: Mapping[str, Any], answer: Mapping[str, Sequence[Any]]
) -> Fault | None:
    missing = next(
        (key for key, allowed in answer.items() if key not in value and OPTIONAL not in allowed),
        None,
    )
    return (
        None
        if missing is None
        else Fault("value_error:dict_key", f"the key {missing!r} is missing")
    )


def _find_wrong_entry(
    value: Mapping[str, Any], answer: Mapping[str, Sequence[Any]]
) -> Fault | None:
    for key, item in value.items():
        if key not in answer:
            return Fault("value_error:dict_key", f"the key {key!r} is not expected")
        if standardize_value(item) not in [standardize_value(allowed) for allowed in answer[key]]:
            return _build_value_fault("value_error:dict_value", key, item, answer[key])
    return None


def _build_value_fault(
    error_type: str, parameter: str, value: Any, answers: Sequence[Any]
) -> Fault:
    return Fault(
        error_type, f"parameter {parameter!r} is {value!r}; expected one of {list(answers)!r}"
    )
