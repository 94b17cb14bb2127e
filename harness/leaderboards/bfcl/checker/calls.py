"""Whether calls are the expected ones: a single call, several in order, or several in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.catalog import Language
from harness.leaderboards.bfcl.checker.java import parse_java_value
from harness.leaderboards.bfcl.checker.javascript import parse_javascript_value
from harness.leaderboards.bfcl.checker.values import (
    OPTIONAL,
    TYPES,
    ExpectedType,
    Fault,
    check_type,
    find_dict_fault,
    find_list_fault,
    find_list_of_dicts_fault,
    find_plain_fault,
    find_string_fault,
)
from harness.leaderboards.bfcl.transcript_steps import OutputCall

_NESTED = ("array", "tuple", "Array", "ArrayList")
# Types whose elements have a type of their own.

_WRITTEN = {
    "java": ("type_error:java", parse_java_value),
    "javascript": ("type_error:js", parse_javascript_value),
}
# Languages whose values are passed as text, and their readers.


def find_calls_fault(
    category: str,
    language: Language,
    functions: Sequence[Mapping[str, Any]],
    calls: Sequence[OutputCall],
    expected: Sequence[Mapping[str, Any]],
) -> Fault | None:
    """Return what is wrong with ``calls``, by the rule of their category.

    Args:
        category: its name tells whether several functions are offered and several calls expected.
        language: the notation of the arguments.
        functions: the offered functions, as the data describes them.
        calls: the calls that the model requested.
        expected: ``[{function: {parameter: [allowed values]}}]``.
    """
    if "parallel" in category:
        return _find_parallel_fault(language, functions, calls, expected)
    several = "multiple" in category
    if len(calls) != (len(expected) if several else 1):
        rule = "multiple_function_checker" if several else "simple_function_checker"
        return _build_count_fault(rule, calls, len(expected))
    described = _find_function(functions, expected[0]) if several else functions[0]
    return find_call_fault(language, described, calls[0], expected[0])


def _find_parallel_fault(
    language: Language,
    functions: Sequence[Mapping[str, Any]],
    calls: Sequence[OutputCall],
    expected: Sequence[Mapping[str, Any]],
) -> Fault | None:
    """Pair each expected call with the first matching call that is not paired yet."""
    if len(calls) != len(expected):
        return _build_count_fault("parallel_function_checker_no_order", calls, len(expected))
    free = list(calls)
    for one in expected:
        described = _find_function(functions, one)
        faults = []
        for place, call in enumerate(free):
            fault = find_call_fault(language, described, call, one)
            if fault is None:
                del free[place]
                break
            faults.append(f"{call.name}: {fault.message}")
        else:
            words = f"no call matches the expected {one!r}:\n  " + "\n  ".join(faults)
            return Fault("parallel_function_checker_no_order:cannot_find_match", words)
    return None


def find_call_fault(
    language: Language, function: Mapping[str, Any], call: OutputCall, expected: Mapping[str, Any]
) -> Fault | None:
    """Return what is wrong with one call of ``function``."""
    allowed: Mapping[str, Sequence[Any]] = next(iter(expected.values()))
    parameters = function["parameters"]
    if call.name != function["name"]:
        words = f"called {call.name} instead of {function['name']}"
        return Fault("simple_function_checker:wrong_func_name", words)
    for name in parameters["required"]:
        if name not in call.arguments:
            words = f"the required parameter {name!r} is missing"
            return Fault("simple_function_checker:missing_required", words)
    for name, value in call.arguments.items():
        if name not in parameters["properties"] or name not in allowed:
            words = f"the parameter {name!r} is not expected"
            return Fault("simple_function_checker:unexpected_param", words)
        schema = parameters["properties"][name]
        fault = find_argument_fault(language, name, value, schema, allowed[name])
        if fault is not None:
            return fault
    return _find_missing_parameter(call, allowed)


def find_argument_fault(
    language: Language, name: str, value: Any, schema: Mapping[str, Any], answers: Sequence[Any]
) -> Fault | None:
    """Return what is wrong with one argument."""
    expected = _get_expected_type(language, schema)
    if language in _WRITTEN:
        error_type, read = _WRITTEN[language]
        if not isinstance(value, str):
            words = f"parameter {name!r} must be a string, got {type(value).__name__}: {value!r}"
            return Fault(error_type, words)
        value = read(value, schema["type"], _get_element_type(schema))
    value = _convert_value(value, language, schema["type"])
    accepted = check_type(name, value, answers, expected)
    if isinstance(accepted, Fault):
        return accepted
    if accepted.is_variable:
        return find_plain_fault(name, value, answers)
    return _find_value_fault(name, value, answers, expected)


def _find_value_fault(
    name: str, value: Any, answers: Sequence[Any], expected: ExpectedType
) -> Fault | None:
    if expected.outer is dict:
        return find_dict_fault(name, value, answers)
    if expected.outer is list and expected.inner is dict:
        return find_list_of_dicts_fault(name, value, answers)
    if expected.outer is str:
        return find_string_fault(name, value, answers)
    if expected.outer is list:
        return find_list_fault(name, value, answers)
    return find_plain_fault(name, value, answers)


def _get_expected_type(language: Language, schema: Mapping[str, Any]) -> ExpectedType:
    types, element = TYPES[language], _get_element_type(schema)
    inner = None if element is None else types.get(element, str)
    return ExpectedType(schema["type"], types.get(schema["type"], str), inner)


def _get_element_type(schema: Mapping[str, Any]) -> str | None:
    """Return the type of the elements, if they have one."""
    element: str | None = None
    if schema["type"] in _NESTED:
        element = schema.get("items", {}).get("type")
    return element


def _convert_value(value: Any, language: Language, kind: str) -> Any:
    """Convert the value as the rule does: integers to floats where needed, tuples to lists."""
    if kind == "tuple" and isinstance(value, tuple):
        return list(value)
    # Exactly an integer: in Python a bool is one, too, but not by the rule.
    if language == "python" and kind == "float" and type(value) is int:
        try:
            return float(value)
        except OverflowError:  # it stays an integer, and so has the wrong type
            return value
    return value


def _find_missing_parameter(call: OutputCall, allowed: Mapping[str, Sequence[Any]]) -> Fault | None:
    for name, values in allowed.items():
        if name not in call.arguments and OPTIONAL not in values:
            words = f"the parameter {name!r} is missing but required"
            return Fault("simple_function_checker:missing_optional", words)
    return None


def _find_function(
    functions: Sequence[Mapping[str, Any]], expected: Mapping[str, Any]
) -> Mapping[str, Any]:
    wanted = next(iter(expected))
    return next(function for function in functions if function["name"] == wanted)


def _build_count_fault(rule: str, calls: Sequence[OutputCall], expected: int) -> Fault:
    return Fault(f"{rule}:wrong_count", f"{len(calls)} calls were made, {expected} expected")
