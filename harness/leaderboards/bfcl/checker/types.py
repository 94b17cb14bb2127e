"""Whether a value has exactly the required type; true is not a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.leaderboards.bfcl.checker.fault import Fault

PYTHON_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
"""Name of a type in a schema → the Python type."""

JAVA_TYPES: Mapping[str, type] = {
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "boolean": bool,
    "char": str,
    "String": str,
    "any": str,
    "Array": list,
    "ArrayList": list,
    "Queue": list,
    "Stack": list,
    "Set": set,
    "HashMap": dict,
    "Hashtable": dict,
}
"""Name of a Java type in a schema → the Python type."""

JAVASCRIPT_TYPES: Mapping[str, type] = {
    "String": str,
    "integer": int,
    "float": float,
    "Bigint": int,
    "Boolean": bool,
    "dict": dict,
    "array": list,
    "any": str,
}
"""Name of a JavaScript type in a schema → the Python type."""


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
            message = (
                f"parameter {parameter!r} needs elements of type {inner.__name__}, got {value!r}"
            )
            return Fault("type_error:nested", message)
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
