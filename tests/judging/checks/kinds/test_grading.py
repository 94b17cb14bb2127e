from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest

from harness.base.errors import InvalidValue, ModelError
from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.judge.faithfulness import STAND_IN
from harness.judging.checks.judge.judge import Judge
from harness.judging.checks.kind import Evidence
from harness.judging.trial import judge_trial
from harness.types import Case, CheckResult, Tool, ToolCall, ToolList, Trial
from tests.judging.checks.judges import judge_of, verdict
from tests.judging.checks.scenes import call, scene

TOOLS = ToolList(
    tools=(
        Tool(
            name="get_stock_price",
            title="Get Stock Price",
            description="Current price of a stock.",
            input_schema={},
        ),
        Tool(name="get_company_info", description="Facts about a company.", input_schema={}),
    )
)
APPLE = {
    "expected": [{"tool": "get_stock_price", "args": {"ticker": "AAPL"}}],
    "keywords": ["price", "Apple"],
}
BOTH = {
    "expected": [
        {"tool": "get_stock_price", "args": {"ticker": "AAPL"}},
        {"tool": "get_stock_price", "args": {"ticker": "MSFT"}},
    ],
    "keywords": ["Apple", "Microsoft"],
}


def price(ticker: str, **more: Any) -> ToolCall:
    return call("get_stock_price", {"ticker": ticker, **more}, text="187.5")


def judged(value: Any, evidence: Evidence, judge: Judge | None = None) -> CheckResult:
    ((_, check),) = VOCABULARY.parse("graded", value)
    case = Case(name="1", prompt="How much?", checks=(check,))
    whole = replace(evidence, case=case, tools=TOOLS, judge=judge)
    (result,) = anyio.run(evaluate_checks, whole)
    return result


def metrics(result: CheckResult) -> tuple[float | None, ...]:
    found = result.actual["metrics"]
    return tuple(
        found[name]["score"] for name in ("tool_selection", "argument_match", "faithfulness")
    )


def with_judge(value: Any, score: float, *calls: ToolCall) -> CheckResult:
    return judged(
        value,
        scene(*calls, answer="Apple's price is 187.5."),
        judge_of(verdict(score, "So it is."))[0],
    )


@pytest.mark.parametrize(
    ("value", "calls", "faith", "scores", "overall", "shown"),
    [
        (APPLE, [price("AAPL")], 1.0, (1.0, 1.0, 1.0), 1.0, "1.00"),
        (APPLE, [price("aapl", period="1d")], 0.95, (1.0, 1.0, 0.95), 0.983333333, "0.98"),
        (APPLE, [call("get_company_info", {"ticker": "AAPL"})], 0.0, (0.0, 0.0, 0.0), 0.0, "0.00"),
        (APPLE, [], 0.3, (0.0, 0.0, 0.3), 0.1, "0.10"),
        (BOTH, [price("AAPL")], 0.5, (0.5, 0.5, 0.5), 0.5, "0.50"),
        (APPLE, [price("MSFT")], 1.0, (1.0, 0.0, 1.0), 0.666666667, "0.67"),
        (BOTH, [price("MSFT"), price("AAPL")], 0.9, (1.0, 1.0, 0.9), 0.966666667, "0.97"),
    ],
)
def test_the_overall_score_is_the_mean_of_the_three_metrics(
    value: Any,
    calls: list[ToolCall],
    faith: float,
    scores: tuple[float, ...],
    overall: float,
    shown: str,
) -> None:
    result = with_judge(value, faith, *calls)
    assert metrics(result) == scores
    assert result.score == overall
    assert f"{result.score:.2f}" == shown
    assert result.verdict == ("passed" if overall >= 0.7 else "failed")


def test_exactly_the_threshold_passes_whatever_floats_make_of_a_mean_of_three() -> None:
    assert (0.7 + 0.7 + 0.7) / 3 < 0.7  # why it is rounded
    assert with_judge(APPLE | {"threshold": 0.7}, 0.1, price("AAPL")).verdict == "passed"
    assert with_judge(APPLE, 0.09, price("AAPL")).verdict == "failed"
    assert with_judge(APPLE | {"threshold": 1}, 0.99, price("AAPL")).verdict == "failed"


def test_every_metric_the_pairs_and_the_extra_calls_are_in_the_result() -> None:
    result = with_judge(
        BOTH, 0.95, price("MSFT", period="1d"), call("get_company_info"), price("AAPL")
    )
    assert result.verdict == "passed"
    assert result.explanation == ""
    assert result.expected["threshold"] == 0.7
    assert result.expected["keywords"] == ["Apple", "Microsoft"]
    found = result.actual
    assert found["overall"] == result.score
    assert found["metrics"]["argument_match"]["pairs"][1] == {
        "tool": "get_stock_price",
        "expected": {"ticker": "MSFT"},
        "actual": {"ticker": "MSFT", "period": "1d"},
        "score": 1.0,
    }
    assert [made["expected"] for made in found["calls"]] == [True, False, True]
    assert found["metrics"]["faithfulness"] == {
        "score": 0.95,
        "explanation": "So it is.",
        "judge": "j",
        "prompt_version": "1",
    }


def test_without_a_judge_keywords_and_grounding_stand_in_and_are_labelled_so() -> None:
    result = judged(APPLE, scene(price("AAPL"), answer="The price of Apple is 187.5, up from 150."))
    assert metrics(result)[2] == 0.5
    faith = result.actual["metrics"]["faithfulness"]
    assert faith["judge"] is None
    assert faith["label"] == STAND_IN == "no judge: keywords and grounding"
    failed = judged(APPLE, scene(price("MSFT"), answer="I do not know."))
    assert f"({STAND_IN})" in failed.explanation
    assert "The answer lacks “price”, “Apple”." in failed.explanation


def test_a_failure_says_which_metric_fell_short_and_why() -> None:
    result = with_judge(BOTH, 0.4, price("AAP", period="1mo"), call("get_company_info"))
    assert result.explanation.splitlines() == [
        (
            "Overall score 0.30 is below 0.70: tool selection 0.50, argument match 0.00, "
            "faithfulness "
            "0.40."
        ),
        'Tool called with unexpected arguments: get_stock_price: ticker expected "AAPL", got "AAP"',
        'Expected call not found: get_stock_price({"ticker": "MSFT"})',
        "Faithfulness 0.40 (judge j): So it is.",
    ]
    assert result.hint
    assert result.hint.startswith("Describe the parameters")


@pytest.mark.parametrize(
    ("value", "calls", "faith", "hint"),
    [
        (
            BOTH,
            [price("AAPL")],
            0.6,
            "Say in the tool's description when",
        ),  # 0.5, 0.5, 0.6: the first of equals
        (BOTH, [price("AAPL"), price("X")], 0.4, "See in the transcript"),  # 1, 0.5, 0.4
        (BOTH, [price("AAPL"), price("X")], 0.5, "Describe the parameters"),  # 1, 0.5, 0.5
        (BOTH, [price("X"), price("Y")], 0.9, "Describe the parameters"),  # 1, 0, 0.9
        (APPLE, [], 0.0, "Say in the tool's description when"),  # 0, 0, 0
        (APPLE, [price("AAPL")], 0.0, "See in the transcript"),  # 1, 1, 0
    ],
)
def test_the_hint_is_about_the_metric_that_fell_short_most(
    value: Any, calls: list[ToolCall], faith: float, hint: str
) -> None:
    result = with_judge({**value, "threshold": 0.99}, faith, *calls)
    assert str(result.hint).startswith(hint)


def test_without_a_judge_the_hint_on_faithfulness_is_about_words() -> None:
    result = judged(APPLE | {"threshold": 0.99}, scene(price("AAPL"), answer="I do not know."))
    assert str(result.hint).startswith("Let the tool return what people ask for")


def test_a_matcher_for_all_arguments_is_told_with_all_that_was_given() -> None:
    expected = {
        "expected": [{"tool": "get_stock_price", "args": {"$contains": {"ticker": "AAPL"}}}]
    }
    told = with_judge(expected, 0.4, price("AAP")).explanation
    assert 'all expected containing {"ticker": "AAPL"}, got {"ticker": "AAP"' in told
    assert "(not given)" not in told


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Get_Stock_Price", "Get_Stock_Price is only the title of the tool get_stock_price"),
        (
            "get_stock_prices",
            "There is no tool get_stock_prices on this server. Did you mean 'get_stock_price'?",
        ),
        (
            "weather",
            (
                "There is no tool weather on this server. It offers: get_stock_price, "
                "get_company_info."
            ),
        ),
    ],
)
def test_a_name_that_the_server_does_not_know_is_explained(name: str, words: str) -> None:
    assert words in with_judge({"expected": [name]}, 0.1, price("AAPL")).explanation


def test_a_metric_that_cannot_be_judged_makes_the_case_an_error_and_never_a_zero() -> None:
    judge, _ = judge_of(ModelError("529 overloaded"))
    evidence = scene(price("AAPL"), answer="187.5")
    result = judged(APPLE, evidence, judge)
    assert result.verdict == "not_judged"
    assert result.score is None
    assert result.actual["overall"] is None
    assert metrics(result) == (1.0, 1.0, None)
    assert (
        result.explanation
        == "Faithfulness could not be judged: the judge j gave no reply: 529 overloaded"
    )
    case = Case(name="1", prompt="", checks=())
    run = judge_trial(
        Trial(suite="s", case=case, model="m", number=1, key="k"), evidence.transcript, [result]
    )
    assert run.status == "error"
    assert run.error
    assert run.error.kind == "judge"
    assert "529 overloaded" in run.error.message


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        ({}, (), "'expected' is missing"),
        ({"expected": "a"}, ("expected",), "list of tools"),
        ({"expected": [], "keyword": ["a"]}, ("keyword",), "unknown key"),
        ({"expected": [], "keywords": "a"}, ("keywords",), "list of keywords"),
        ({"expected": [], "threshold": 1.5}, ("threshold",), "above 0 and up to 1"),
        ({"expected": [], "threshold": -0.1}, ("threshold",), "above 0"),
        ({"expected": [], "threshold": 0}, ("threshold",), "above 0"),
        ({"expected": [], "model": ""}, ("model",), "empty"),
        ({"expected": ["a"] * 101}, ("expected",), "at most 100"),
        (
            {"expected": [{"tool": "a", "severity": "warn"}]},
            ("expected", 0, "severity"),
            "whole check",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    value: Any, path: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("graded", value)
    assert caught.value.path == path
    assert words in caught.value.message


@pytest.mark.parametrize(("poor", "more"), [(4, None), (5, 1), (7, 3)])
def test_the_first_four_calls_that_are_not_as_expected_are_told(
    poor: int, more: int | None
) -> None:
    expected = [{"tool": "get_stock_price", "args": {"ticker": f"T{n}"}} for n in range(poor)]
    told = with_judge({"expected": expected}, 0.0).explanation
    assert told.count("Expected call not found") == 4
    assert ("more calls that are not as expected" in told) == (more is not None)
    assert more is None or f"… and {more} more calls" in told


def test_the_first_hundred_calls_are_reported_and_a_hundred_may_be_expected() -> None:
    result = with_judge(APPLE, 1.0, *[price("AAPL")] * 101)
    assert len(result.actual["calls"]) == 100
    assert len(VOCABULARY.parse("graded", {"expected": ["a"] * 100})) == 1


@pytest.mark.parametrize("threshold", [1e-9, 1])
def test_a_threshold_may_be_next_to_nothing_or_all(threshold: float) -> None:
    result = with_judge(APPLE | {"threshold": threshold}, 0.0)
    assert result.verdict == "failed"


def test_calls_and_arguments_that_are_as_expected_are_not_told() -> None:
    expected = [
        {"tool": "get_stock_price", "args": {"ticker": "AAPL"}},
        {"tool": "get_stock_price", "args": {"ticker": "MSFT", "period": "1d"}},
    ]
    calls = (price("AAPL"), price("MSFT", period="1mo"))
    result = with_judge({"expected": expected, "threshold": 1}, 1.0, *calls)
    told = [line for line in result.explanation.splitlines() if line.startswith("Tool called")]
    assert told == [
        'Tool called with unexpected arguments: get_stock_price: period expected "1d", got "1mo"'
    ]
    assert result.label == "graded get_stock_price"


def test_a_case_that_expects_no_call_is_labelled_so() -> None:
    assert with_judge({"expected": []}, 1.0).label == "graded no tool expected"
