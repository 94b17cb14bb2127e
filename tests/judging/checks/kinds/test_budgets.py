from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from harness.types import Usage
from tests.judging.checks.scenes import fails, judge, passes, scene


@pytest.mark.parametrize(
    ("kind", "limit", "used", "said"),
    [
        ("max_replies", 3, {"replies": 4}, "Too many replies: 4, at most 3 expected"),
        (
            "max_tokens",
            1_000,
            {"usage": Usage(input_tokens=900, output_tokens=101)},
            "Too many tokens: 1,001, at most 1,000",
        ),
        (
            "max_cost",
            0.01,
            {"usage": Usage(cost_usd=0.0125)},
            "Too many dollars: 0.0125, at most 0.01 expected",
        ),
        (
            "max_seconds",
            2,
            {"latency_s": 5.5, "waited_s": 3},
            "Too many seconds: 2.5, at most 2 expected",
        ),
    ],
)
def test_more_than_the_limit_is_told(kind: str, limit: float, used: Any, said: str) -> None:
    fails(kind, limit, scene(**used), said)
    passes(kind, limit * 2, scene(**used))
    result = judge(kind, {"limit": limit, "severity": "warn"}, scene(**used))
    assert (result.verdict, result.severity) == ("failed", "warn")


def test_the_limit_itself_passes() -> None:
    passes("max_replies", 4, scene(replies=4))
    passes("max_tokens", {"limit": 5.0}, scene(usage=Usage(input_tokens=2, output_tokens=3)))


def test_waiting_for_a_rate_limit_is_not_counted() -> None:
    passes("max_seconds", 1.5, scene(latency_s=60.0, waited_s=59.0))


@pytest.mark.parametrize(
    ("kind", "usage", "said", "hint"),
    [
        (
            "max_tokens",
            Usage(output_tokens=None),
            "The limit of 5 tokens cannot be checked",
            "did not report its tokens",
        ),
        (
            "max_cost",
            Usage(cost_usd=None),
            "The limit of 5 dollars cannot be checked",
            "give input_price and output_price",
        ),
    ],
)
def test_what_is_unknown_is_not_judged(kind: str, usage: Usage, said: str, hint: str) -> None:
    result = judge(kind, 5, scene(usage=usage))
    assert result.verdict == "not_judged"
    assert result.explanation.startswith(said)
    assert hint in str(result.hint)
    assert result.actual is None


@pytest.mark.parametrize(
    ("kind", "value", "path", "said"),
    [
        ("max_replies", 1.5, (), "1.5 is not a whole number"),
        ("max_replies", 0, (), "0 is less than 1"),
        ("max_tokens", -1, (), "-1 is less than 0"),
        ("max_tokens", "many", (), "this is a string where a number belongs"),
        ("max_cost", {"limit": None}, ("limit",), "this is empty where a number belongs"),
        ("max_seconds", {"seconds": 5}, ("seconds",), "unknown key"),
        ("max_seconds", [5], (), "this is a list where a number belongs"),
    ],
)
def test_a_limit_that_does_not_fit_is_refused(kind: str, value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse(kind, value)
    assert caught.value.path == path
    assert said in caught.value.message
