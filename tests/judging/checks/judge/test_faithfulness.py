from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.checks.judge.faithfulness import describe_conversation, grade_without_judge
from harness.judging.checks.kind import Evidence
from tests.judging.checks.scenes import call, scene

PRICE = call(
    "get_stock_price",
    {"ticker": "AAPL"},
    text="",
    structured={"ticker": "AAPL", "current_price": 189.8437},
)


def told(answer: str, keywords: list[str], evidence: Evidence | None = None) -> tuple[float, str]:
    found = grade_without_judge(
        keywords, evidence or scene(PRICE, answer=answer, prompt="What is Apple's stock price?")
    )
    assert found.judgement is None
    return found.score, found.explanation


def test_all_keywords_and_only_figures_with_a_source_score_1() -> None:
    score, words = told("Apple's current price is $189.84.", ["current price", "apple"])
    assert score == 1.0
    assert words == "All keywords and figures are accounted for."


def test_missing_keywords_cost_their_share_and_are_named() -> None:
    score, words = told("It is $189.84.", ["current price", "Apple"])
    assert score == 0.0
    assert words == "The answer lacks “current price”, “Apple”."
    assert told("Apple: $189.84.", ["current price", "Apple"])[0] == 0.5


def test_invented_figures_cost_their_share_and_are_named() -> None:
    score, words = told("Apple stands at $189.84, up from 172.10.", ["Apple"])
    assert score == 0.5
    assert "No tool returned “172.10”." in words


@pytest.mark.parametrize("figure", ["$189.84", "190", "189.8", "$189.8437"])
def test_a_figure_may_be_rounded(figure: str) -> None:
    assert told(f"Apple: {figure}", ["Apple"])[0] == 1.0


@pytest.mark.parametrize("figure", ["192", "$18.98", "1,898"])
def test_a_figure_beyond_rounding_is_invented(figure: str) -> None:
    assert told(f"Apple: {figure}", ["Apple"])[0] == 0.0


def test_figures_of_the_question_and_small_counts_need_no_source() -> None:
    evidence = scene(
        answer="For 10,000 over 2 years: 1. yes, two options.", prompt="What becomes of 10000?"
    )
    assert told("", [], evidence)[0] == 1.0


def test_the_result_of_a_call_that_failed_is_no_source() -> None:
    failed = call("get_stock_price", outcome="tool_error", text="limit of 500 reached")
    assert told("", [], scene(failed, answer="It is 500."))[0] == 0.0


def test_no_answer_scores_0() -> None:
    assert told(" ", []) == (0.0, "There is no answer.")


@given(
    st.text(max_size=60),
    st.lists(st.text(max_size=6).filter(str.strip), max_size=4),
    st.text(max_size=60),
)
def test_the_score_stays_between_0_and_1_and_every_keyword_found_raises_it(
    answer: str, keywords: list[str], result: str
) -> None:
    def score(answer: str) -> float:
        return grade_without_judge(keywords, scene(call("t", text=result), answer=answer)).score

    assert 0.0 <= score(answer) <= 1.0


WORDS = st.lists(st.sampled_from(["price", "Apple", "growth", "ratio"]), unique=True)


@given(WORDS, WORDS, WORDS)
def test_a_further_keyword_in_the_answer_never_lowers_the_score(
    keywords: list[str], said: list[str], more: list[str]
) -> None:
    before = grade_without_judge(keywords, scene(answer=f"x {' '.join(said)}")).score
    after = grade_without_judge(keywords, scene(answer=f"x {' '.join([*said, *more])}")).score
    assert after >= before


@given(st.permutations(["price", "Apple", "growth"]), WORDS)
def test_the_order_of_keywords_does_not_matter(keywords: list[str], said: list[str]) -> None:
    evidence = scene(answer=f"x {' '.join(said)}")
    assert (
        grade_without_judge(keywords, evidence).score
        == grade_without_judge(sorted(keywords), evidence).score
    )


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("There are 12 of them.", 1.0),
        ("There are 13 of them.", 0.0),
        ("There are 1.5 of them.", 0.0),
        ("There are -12 of them.", 1.0),
        ("That is 12% of them.", 0.0),  # 0.12 counts nothing
        ("15, at most", 1.0),
    ],
)
def test_whole_numbers_up_to_twelve_need_no_source(answer: str, score: float) -> None:
    assert told(answer, [], scene(call("t", text="15"), answer=answer))[0] == score


@pytest.mark.parametrize(
    ("source", "answer", "score"),
    [
        ("15.075", "15", 1.0),  # half a percent above, and just beyond
        ("15.0751", "15", 0.0),
        ("14.925", "15", 1.0),
        ("14.9249", "15", 0.0),
    ],
)
def test_half_a_percent_is_rounding(source: str, answer: str, score: float) -> None:
    assert told(answer, [], scene(call("t", text=source), answer=answer))[0] == score


def test_five_of_what_is_missing_are_named_and_the_others_counted() -> None:
    words = [f"word{n}" for n in range(7)]
    for number, more in ((5, "."), (6, " and 1 more."), (7, " and 2 more.")):
        named = ", ".join(f"“{word}”" for word in words[:5])
        assert told("nothing", words[:number])[1] == f"The answer lacks {named}{more}"


def test_figures_are_looked_for_in_the_first_hundred_thousand_characters() -> None:
    for ahead, score in ((99_996, 1.0), (99_997, 0.0)):
        text = f"{'x' * (ahead - 1)} 4711"
        assert told("4711", [], scene(call("t", text=text), answer="4711"))[0] == score
        said = f"{text} and 5813"
        assert told(said, [], scene(call("t", text="4711"), answer=said))[0] == score


@pytest.mark.parametrize(
    ("text", "structured", "shown"),
    [
        ("it is 5", {"n": 5}, "it is 5"),
        ("it is 5", None, "it is 5"),
        (" ", {"n": 5}, '{"n": 5}'),
        ("", 0, "0"),
        (" ", None, " "),
    ],
)
def test_a_judge_is_shown_the_text_of_a_result_or_else_its_structure(
    text: str, structured: object, shown: str
) -> None:
    made = scene(call("t", text=text, structured=structured), answer="5")
    assert describe_conversation(made)["tool_outputs"][0]["result"] == shown
