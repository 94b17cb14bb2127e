from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.runner.case_rules import own_costs
from harness.types import Suite, Usage

USAGE = Usage(input_tokens=10, output_tokens=5)


def priced(cost: Any) -> float | None:
    price = own_costs(
        Suite(name="mine", cases=(), estimate_cost=lambda model, tokens_in, tokens_out: cost), "m"
    )
    assert price is not None
    return price(USAGE).cost_usd


@pytest.mark.parametrize("cost", [0, 0.25, None])
def test_a_suite_says_what_a_conversation_costs(cost: float | None) -> None:
    assert priced(cost) == cost


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -0.01])
def test_what_no_budget_could_be_held_to_is_an_error(cost: float) -> None:
    with pytest.raises(
        HarnessError,
        match=r"cost_estimator of suite mine returned (nan|inf|-0\.01), which is not a cost",
    ):
        priced(cost)


def test_what_is_no_number_is_an_error() -> None:
    with pytest.raises(
        HarnessError, match=r"cost_estimator of suite mine raised an error: .*ValueError"
    ):
        priced("much")
