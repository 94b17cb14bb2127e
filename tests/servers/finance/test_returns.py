from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.finance.returns import Growth, grow

money = st.decimals(0, 10**12, places=2)
rates = st.decimals(-50, 100, places=4)
terms = st.integers(0, 1_200)


def grown(
    principal: float | str, rate: float | str, months: int, contribution: float | str = 0
) -> Growth:
    return grow(Decimal(str(principal)), Decimal(str(rate)), months, Decimal(str(contribution)))


def month_by_month(
    principal: Decimal, rate: Decimal, months: int, contribution: Decimal
) -> Fraction:
    """Return the exact balance, kept as a savings book would."""
    balance = Fraction(principal)
    for _ in range(months):
        balance += balance * Fraction(rate) / 1_200 + Fraction(contribution)
    return balance


@pytest.mark.parametrize(
    ("principal", "rate", "months", "contribution", "value"),
    [
        (10_000, 7, 120, 0, "20096.61"),  # 10000 · (1 + 0.07/12)^120
        (500, 6, 60, 0, "674.43"),
        (0, 6, 360, 100, "100451.50"),  # 100 · ((1.005^360 − 1) / 0.005)
        (10_000, 7, 240, 200, "144572.72"),
        (1_000, 12, 12, 0, "1126.83"),  # (1.01)^12
        (100, 0, 24, 10, "340.00"),  # no rate: what was paid in
        (1234.56, 7, 0, 200, "1234.56"),  # no time: what was there
        (0, 0, 0, 0, "0.00"),
        (0, 7, 120, 0, "0.00"),
        (1_000, -12, 12, 0, "886.38"),  # (0.99)^12
        (1, 100, 1, 0, "1.08"),
        ("0.01", 5, 1, 0, "0.01"),
    ],
)
def test_the_future_value_is_that_of_the_closed_form(
    principal: float, rate: float, months: int, contribution: float, value: str
) -> None:
    assert str(grown(principal, rate, months, contribution).future_value) == value


@given(money, rates, st.integers(0, 120), st.decimals(0, 10**6, places=2))
def test_the_closed_form_agrees_with_a_savings_book(
    principal: Decimal, rate: Decimal, months: int, contribution: Decimal
) -> None:
    growth = grow(principal, rate, months, contribution)
    assert abs(
        Fraction(growth.future_value) - month_by_month(principal, rate, months, contribution)
    ) <= Fraction(1, 200)


@given(money, terms, money)
def test_without_a_rate_there_is_no_interest(
    principal: Decimal, months: int, contribution: Decimal
) -> None:
    growth = grow(principal, Decimal(0), months, contribution)
    assert growth.future_value == growth.total_invested == principal + months * contribution
    assert growth.interest == 0
    assert growth.effective_rate == 0


@given(money, st.decimals(0, 100, places=2), st.integers(0, 1_199), money)
def test_more_time_or_a_higher_rate_is_never_less_money(
    principal: Decimal, rate: Decimal, months: int, contribution: Decimal
) -> None:
    value = grow(principal, rate, months, contribution).future_value
    assert grow(principal, rate, months + 1, contribution).future_value >= value
    assert grow(principal, rate + 1, months, contribution).future_value >= value


def test_cents_are_right_even_where_a_float_has_none_left() -> None:
    growth = grown("999999999999.99", "99.99", 1_200, "999999999.99")
    exact = month_by_month(
        Decimal("999999999999.99"), Decimal("99.99"), 1_200, Decimal("999999999.99")
    )
    assert growth.future_value > 10**50
    assert abs(Fraction(growth.future_value) - exact) <= Fraction(1, 200)


def test_the_effective_rate_is_that_of_a_year() -> None:
    assert str(grown(1, 12, 1).effective_rate) == "12.6825"
    assert str(grown(1, 7, 0).effective_rate) == "7.2290"
