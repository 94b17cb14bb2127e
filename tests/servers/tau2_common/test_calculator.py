import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.tau2_common.calculator import calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", "4.0"),
        ("1/3", "0.33"),
        ("2.675", "2.67"),
        ("-0.001", "-0.0"),
        ("10//3", "3.0"),
        ("2**70", "1.1805916207174113e+21"),
        ("  (1 + 2) * -3", "-9.0"),
        ("2**-1", "0.5"),
        ("0.125 + .5", "0.62"),
        ("+-+5", "-5.0"),
    ],
)
def test_arithmetic_is_rounded_to_two_places(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("two", "Invalid characters in expression"),
        ("1e5", "Invalid characters in expression"),
        ("1\n", "Invalid characters in expression"),
        ("1/0", "division by zero"),
        ("", "invalid syntax (<string>, line 0)"),
        ("  ", "invalid syntax (<string>, line 0)"),
        ("2 +", "invalid syntax (<string>, line 1)"),
        ("(2", "'(' was never closed (<string>, line 1)"),
        (
            "012",
            (
                "leading zeros in decimal integer literals are not permitted; "
                "use an 0o prefix for octal integers (<string>, line 1)"
            ),
        ),
        ("10**400", "int too large to convert to float"),
        ("5(3)", "'int' object is not callable"),
        ("5(*())", "'int' object is not callable"),
        ("5(*3)", "5 argument after * must be an iterable, not int"),
        ("5(1/0)", "division by zero"),
        ("()", "float() argument must be a string or a real number, not 'tuple'"),
    ],
)
def test_what_has_no_value_is_told_in_pythons_words(expression: str, message: str) -> None:
    with pytest.raises((ValueError, SyntaxError, ArithmeticError, TypeError)) as caught:
        calculate(expression)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "expression", ["9**9**9**9", "(9**99999)*(9**99999)*(9**99999)", "1+" * 20_000 + "1"]
)
def test_nothing_takes_long(expression: str) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        calculate(expression)


@given(st.text(alphabet="0123456789+-*/(). ", max_size=14).filter(lambda text: "**" not in text))
def test_it_says_what_python_says(expression: str) -> None:
    assert outcome(calculate, expression) == outcome(by_python, expression)


def by_python(expression: str) -> str:
    with warnings.catch_warnings(action="ignore"):
        return str(round(float(eval(expression, {"__builtins__": {}})), 2))


def outcome(reckon: Callable[[str], str], expression: str) -> str:
    try:
        return reckon(expression)
    except Exception as error:  # noqa: BLE001 - whatever it says, both say it
        return f"{type(error).__name__}: {error}"
