"""Whether a value has the right type, and is one of the allowed values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.catalog import Language
from harness.types import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an output is wrong."""

    error_type: str
    """The official name of the mistake: ``value_error:string``."""
    message: str
    """The mistake in words."""


_PASSED_OVER = re.compile(r"[ ,./\-_*^]")
_PASSED_OVER_IN_ANSWERS = re.compile(r"[,./\-_*^()]")


def standardize_text(text: str) -> str:
    """Return ``text`` in the form in which arguments are compared.

    That is lower case, without spaces and ``,./-_*^``, and with ``"`` instead of ``'``.
    """
    return _PASSED_OVER.sub("", text).lower().replace("'", '"')


def standardize_answer(text: str) -> str:
    """Return ``text`` in the form in which answers are searched: with spaces, no parentheses."""
    return _PASSED_OVER_IN_ANSWERS.sub("", text).lower().replace("'", '"')


def standardize_value(value: Any) -> Any:
    """Return a text in standardized form, any other value unchanged."""
    return standardize_text(value) if isinstance(value, str) else value


OPTIONAL = ""
"""Among the allowed values, this marks the parameter as optional."""


def find_string_fault(parameter: str, value: str, answers: Sequence[Any]) -> Fault | None:
    """Compare texts regardless of case, spaces and punctuation."""
    allowed = [standardize_text(answer) for answer in answers if isinstance(answer, str)]
    if standardize_text(value) in allowed:
        return None
    return _build_value_fault("value_error:string", parameter, value, answers)


def find_list_fault(parameter: str, value: Sequence[Any], answers: Sequence[Any]) -> Fault | None:
    """Compare lists in order, and texts in them loosely.

    The mark of an optional parameter is an empty text and equals the empty list.
    """
    allowed = [list(map(standardize_value, answer)) for answer in answers]
    if list(map(standardize_value, value)) in allowed:
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
        faults = (find_dict_fault(parameter, item, [one]) for item, one in pairs)
        fault = next(filter(None, faults), None)
        if fault is None:
            return None
    return fault


def find_plain_fault(parameter: str, value: Any, answers: Sequence[Any]) -> Fault | None:
    """Compare any other value unchanged."""
    if value in answers:
        return None
    return _build_value_fault("value_error:others", parameter, value, answers)


def _find_missing_key(
    value: Mapping[str, Any], answer: Mapping[str, Sequence[Any]]
) -> Fault | None:
    for key, allowed in answer.items():
        if key not in value and OPTIONAL not in allowed:
            return Fault("value_error:dict_key", f"the key {key!r} is missing")
    return None


def _find_wrong_entry(
    value: Mapping[str, Any], answer: Mapping[str, Sequence[Any]]
) -> Fault | None:
    for key, item in value.items():
        if key not in answer:
            return Fault("value_error:dict_key", f"the key {key!r} is not expected")
        if standardize_value(item) not in map(standardize_value, answer[key]):
            return _build_value_fault("value_error:dict_value", key, item, answer[key])
    return None


def _build_value_fault(
    error_type: str, parameter: str, value: Any, answers: Sequence[Any]
) -> Fault:
    return Fault(
        error_type, f"parameter {parameter!r} is {value!r}; expected one of {list(answers)!r}"
    )


TYPES: Mapping[Language, Mapping[str, type]] = {
    "python": {
        "integer": int,
        "float": float,
        "boolean": bool,
        "dict": dict,
        **dict.fromkeys(("string", "any"), str),
        **dict.fromkeys(("array", "tuple"), list),
    },
    "java": {
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        **dict.fromkeys(("char", "String", "any"), str),
        **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
        **dict.fromkeys(("HashMap", "Hashtable"), dict),
        "boolean": bool,
        "Set": set,
    },
    "javascript": {
        "integer": int,
        "Bigint": int,
        "float": float,
        "Boolean": bool,
        "String": str,
        "any": str,
        "array": list,
        "dict": dict,
    },
}
"""Language → name of a type in a schema → the Python type."""


@dataclass(frozen=True, slots=True)
class ExpectedType:
    """The expected type of one parameter."""

    name: str
    """Its name in the schema."""
    outer: type
    """The Python type."""
    inner: type | None = None
    """The type of an array's elements."""


@dataclass(frozen=True, slots=True)
class AcceptedType:
    """A value whose type is accepted."""

    is_variable: bool
    """Whether the answer has another type than the schema: it is then the name of a variable, or a
    mistake in the data, and is compared unchanged."""


def check_type(
    parameter: str, value: Any, answers: Sequence[Any], expected: ExpectedType
) -> AcceptedType | Fault:
    """Accept ``value`` if its type is that of the schema, or else that of the answers."""
    of_answers = find_answer_type(answers)
    if type(value) is expected.outer:
        inner = expected.inner
        if inner is None or (
            isinstance(value, list) and _elements_fit(parameter, value, answers, inner)
        ):
            return AcceptedType(
                is_variable=of_answers is not None and of_answers is not expected.outer
            )
        # As upstream, the type of the answers decides how the mistake is called.
        if of_answers is list:
            wanted = f"needs elements of type {inner.__name__}"
            return Fault("type_error:nested", f"parameter {parameter!r} {wanted}, got {value!r}")
    elif of_answers is not None and type(value) is of_answers:
        return AcceptedType(is_variable=True)
    message = (
        f"parameter {parameter!r} needs {expected.name}, got {type(value).__name__}: {value!r}"
    )
    return Fault("type_error:simple", message)


def find_answer_type(answers: Sequence[Any]) -> type | None:
    """Return the type of the first answer that does not mark the parameter as optional."""
    return next((type(answer) for answer in answers if answer != ""), None)


def _elements_fit(
    parameter: str, value: Sequence[Any], answers: Sequence[Any], inner: type
) -> bool:
    """Whether the elements have the right type for at least one of the answers.

    The rule checks one level of nesting.
    """
    element = ExpectedType(inner.__name__, inner)
    return any(
        # The mark of an optional parameter is no list, and then any elements will do.
        not isinstance(answer, list)
        or all(
            isinstance(check_type(parameter, item, answer, element), AcceptedType) for item in value
        )
        for answer in answers
    )
