from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaderboards.bfcl.apis.scenes import an_api, text_of


def result(tool: str, **arguments: Any) -> Any:
    answer = json.loads(text_of(an_api("MathAPI"), tool, **arguments))
    return answer.get("result", answer)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("add", {"a": 1, "b": 2.5}, 3.5),
        ("add", {"a": "x", "b": "y"}, "xy"),
        ("add", {"a": 1, "b": "y"}, {"error": "Both inputs must be numbers"}),
        ("subtract", {"a": 1, "b": 2}, -1),
        ("multiply", {"a": 3, "b": 2}, 6),
        ("multiply", {"a": "x", "b": 2}, {"error": "Both inputs must be numbers"}),
        ("divide", {"a": 1, "b": 2}, 0.5),
        ("divide", {"a": 1, "b": 0}, {"error": "Cannot divide by zero"}),
        ("power", {"base": 2, "exponent": 10}, 1024),
        ("percentage", {"part": 1, "whole": 4}, 25.0),
        ("percentage", {"part": 1, "whole": 0}, {"error": "Whole value cannot be zero"}),
        ("absolute_value", {"number": -2}, 2),
        ("absolute_value", {"number": "x"}, {"error": "Input must be a number"}),
        ("round_number", {"number": 2.567, "decimal_places": 1}, 2.6),
        ("round_number", {"number": 2.567}, 3.0),
        ("mean", {"numbers": [1, 2, 6]}, 3.0),
        ("mean", {"numbers": []}, {"error": "Cannot calculate mean of an empty list"}),
        ("mean", {"numbers": ["x"]}, {"error": "All elements in the list must be numbers"}),
        ("standard_deviation", {"numbers": [2, 4]}, 1.0),
        (
            "standard_deviation",
            {"numbers": []},
            {"error": "Cannot calculate standard deviation of an empty list"},
        ),
        ("min_value", {"numbers": [3, 1]}, 1),
        ("min_value", {"numbers": []}, {"error": "Cannot find minimum of an empty list"}),
        ("max_value", {"numbers": [3, 1]}, 3),
        ("max_value", {"numbers": []}, {"error": "Cannot find maximum of an empty list"}),
        ("sum_values", {"numbers": [3, 1]}, 4),
        ("sum_values", {"numbers": []}, {"error": "Cannot calculate sum of an empty list"}),
        ("si_unit_conversion", {"value": 2, "unit_in": "km", "unit_out": "m"}, 2000.0),
        (
            "si_unit_conversion",
            {"value": 2, "unit_in": "km", "unit_out": "kg"},
            {"error": "Conversion from 'km' to 'kg' is not supported"},
        ),
        (
            "si_unit_conversion",
            {"value": "2", "unit_in": "km", "unit_out": "m"},
            {"error": "Value must be a number"},
        ),
        (
            "imperial_si_conversion",
            {"value": 100, "unit_in": "celsius", "unit_out": "fahrenheit"},
            212.0,
        ),
        (
            "imperial_si_conversion",
            {"value": 212, "unit_in": "fahrenheit", "unit_out": "celsius"},
            100.0,
        ),
        ("imperial_si_conversion", {"value": 2, "unit_in": "in", "unit_out": "cm"}, 5.08),
        ("imperial_si_conversion", {"value": 2, "unit_in": "cups", "unit_out": "cups"}, 2),
        (
            "imperial_si_conversion",
            {"value": 2, "unit_in": "cups", "unit_out": "cm"},
            {"error": "Conversion from 'cups' to 'cm' is not supported"},
        ),
        (
            "square_root",
            {"number": -1, "precision": 5},
            {"error": "Cannot calculate square root of a negative number"},
        ),
    ],
)
def test_every_tool_has_its_result_and_its_refusal(
    tool: str, arguments: dict[str, Any], expected: Any
) -> None:
    assert result(tool, **arguments) == expected


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        ("cm", "in", 0.393701), ("in", "cm", 2.54), ("m", "ft", 3.28084), ("ft", "m", 0.3048),
        ("m", "yd", 1.09361), ("yd", "m", 0.9144), ("km", "miles", 0.621371),
        ("miles", "km", 1.60934), ("kg", "lb", 2.20462), ("lb", "kg", 0.453592),
    ],
)  # fmt: skip
def test_imperial_units_have_one_factor_for_each_direction(
    source: str, target: str, factor: float
) -> None:
    assert result("imperial_si_conversion", value=3, unit_in=source, unit_out=target) == 3 * factor


@pytest.mark.parametrize(
    ("unit", "power"), [("km", 3), ("m", 0), ("cm", -2), ("mm", -3), ("um", -6), ("nm", -9)]
)
def test_metric_units_are_powers_of_ten(unit: str, power: int) -> None:
    assert math.isclose(
        result("si_unit_conversion", value=7, unit_in=unit, unit_out="m"), 7 * 10.0**power
    )
    assert math.isclose(
        result("si_unit_conversion", value=7, unit_in="m", unit_out=unit), 7 / 10.0**power
    )


def test_what_json_has_no_number_for_is_written_as_python_does() -> None:
    maths = an_api("MathAPI")
    assert text_of(maths, "square_root", number=2, precision=5) == "{'result': Decimal('1.4142')}"
    assert text_of(maths, "logarithm", value=8, base=2, precision=5) == "{'result': mpf('3.0')}"
    assert (
        text_of(maths, "logarithm", value=10, base=3, precision=10)
        == "{'result': mpf('2.095903274283')}"
    )


def test_sums_are_rounded_after_each_addition_in_every_version_of_python() -> None:
    tenths = [0.1] * 10  # Python 3.12's own `sum` of them is 1.0
    assert result("sum_values", numbers=tenths) == 0.9999999999999999
    assert result("mean", numbers=tenths) == 0.09999999999999999


def test_one_precision_does_not_leak_into_the_next_call() -> None:
    maths = an_api("MathAPI")
    text_of(maths, "square_root", number=2, precision=2)
    assert text_of(maths, "square_root", number=3, precision=7) == "{'result': Decimal('1.732051')}"
    text_of(maths, "logarithm", value=10, base=3, precision=3)
    assert (
        text_of(maths, "logarithm", value=10, base=3, precision=10)
        == "{'result': mpf('2.095903274283')}"
    )


def test_a_logarithm_that_does_not_exist_says_why() -> None:
    assert text_of(an_api("MathAPI"), "logarithm", value="x", base=2, precision=5).startswith(
        '{"error": '
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("power", {"base": 9, "exponent": 10**12}, "Exceeds the limit (4300 digits)"),
        ("square_root", {"number": 2, "precision": 10**9}, "at most 10000 digits"),
        ("logarithm", {"value": 2, "base": 3, "precision": 10**9}, "at most 10000 digits"),
    ],
)
def test_a_result_that_would_take_for_ever_is_refused_at_once(
    tool: str, arguments: dict[str, int], said: str
) -> None:
    assert said in text_of(an_api("MathAPI"), tool, **arguments)


@given(st.integers(-12, 12), st.integers(4200, 4400))
def test_a_power_is_refused_where_python_would_not_write_it_out(base: int, exponent: int) -> None:
    try:
        expected = json.dumps({"result": base**exponent})
    except ValueError as problem:
        expected = f"Error during execution: {problem}"
    assert text_of(an_api("MathAPI"), "power", base=base, exponent=exponent) == expected


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_no_deviation_is_larger_than_the_range(numbers: list[float]) -> None:
    spread = max(numbers) - min(numbers)
    assert 0 <= result("standard_deviation", numbers=numbers) <= spread + 1e-6
    assert math.isclose(
        result("mean", numbers=numbers) * len(numbers), result("sum_values", numbers=numbers)
    )
