"""TODO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput
from harness.judging.checks.judge.faithfulness import RUBRIC
from harness.judging.checks.judge.labelled_answers import (
    Agreement,
    LabelledAnswer,
    compare_labels,
    read_labelled,
)
from harness.judging.checks.judge.prompt import GRADE, SCORE
from harness.judging.checks.kinds.answer_judge import COMPARE


def read(folder: Path, content: str, name: str = "labels.csv") -> tuple[LabelledAnswer, ...]:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return read_labelled(path)


def test_a_csv_row_is_a_question_and_what_a_person_thinks(tmp_path: Path) -> None:
    content = (
        "query,answer,human,tool_outputs,keywords,rubric,expected_answer\n"
        'q1,a1,0.9,"[""187.5"", {""tool"": ""t"", ""result"": ""r""}]","price, Apple",,\n'
        "q2,,fail,plain output,,Is it polite?,\n"
        "q3,a3,Partially Correct,,,,The truth.\n"
    )
    first, second, third = read(tmp_path, content)
    assert (first.human, second.human, third.human) == (0.9, "fail", "partially correct")
    assert [item.at.line for item in (first, second, third)] == [2, 3, 4]
    assert first.question.instructions == RUBRIC
    assert first.question.material == {
        "query": "q1",
        "tool_outputs": [{"result": "187.5"}, {"tool": "t", "result": "r"}],
        "answer": "a1",
        "keywords": ["price", "Apple"],
    }
    assert "Is it polite?" in second.question.instructions
    assert second.question.material["answer"] == ""
    assert second.question.material["tool_outputs"] == [{"result": "plain output"}]
    assert (third.question.instructions, third.question.scale) == (COMPARE, GRADE)
    assert third.question.material["expected_answer"] == "The truth."


def test_jsonl_says_the_same(tmp_path: Path) -> None:
    record = {
        "query": "q",
        "answer": "a",
        "human": 1,
        "tool_outputs": ["x"],
        "keywords": ["k"],
        "id": 7,
    }
    content = (
        "\ufeff" + json.dumps(record) + "\n\n" + json.dumps({**record, "human": "pass"}) + "\n"
    )
    first, second = read(tmp_path, content, "labels.jsonl")
    assert (first.human, second.human, second.at.line) == (1.0, "pass", 3)
    assert first.question == second.question
    assert first.question.scale is SCORE


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"human": "good"}, "a score from 0 to 1, pass or fail; not 'good'"),
        ({"human": 2}, "not '2'"),
        ({"human": True}, "not 'True'"),
        ({"human": "nan"}, "not 'nan'"),
        ({"human": [1]}, "a score from 0 to 1"),
        ({"human": "pass", "expected_answer": "x"}, "one of: correct, partially correct, wrong"),
        ({"rubric": "r", "expected_answer": "x"}, "not both"),
        ({"tool_outputs": [5]}, "texts, or objects with a text under 'result'"),
        ({"keywords": "a,b"}, "'keywords' must be a list"),
        ({"query": 5}, "'query' must be text"),
        ({"quality": 5}, "unknown key 'quality'"),
        ({"expected_anser": "x"}, "Did you mean 'expected_answer'"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, record: dict[str, Any], words: str
) -> None:
    right = {"query": "q", "answer": "a", "human": 0.5}
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, f"{json.dumps(right)}\n{json.dumps(right | record)}\n", "labels.jsonl")
    assert "labels.jsonl:2: " in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("l.jsonl", "", "l.jsonl:1: the file is empty"),
        ("l.jsonl", "[]\n", "l.jsonl:1: this line is not a JSON object"),
        (
            "l.jsonl",
            '{"query": "q", "query": "r", "answer": "a", "human": 1}\n',
            "the key 'query' is given twice",
        ),
        ("l.jsonl", '{"query": "q", "answer": "a", "human": NaN}\n', "NaN is not a number in JSON"),
        ("l.jsonl", "{\n", "l.jsonl:1: this is not JSON"),
        ("l.jsonl", '{"query": "q", "answer": "a"}\n', "'human' is missing"),
        ("l.csv", "query,answer\n", "the column 'human' is missing"),
        ("l.csv", "query,answer,human\n", "no labelled answer"),
        ("l.csv", "query,answer,human\nq,a,\n", "l.csv:2: 'human' is missing or empty"),
        ("l.csv", "query,answer,human\nq,a\n", "2 columns"),
        ("l.csv", 'query,answer,human,tool_outputs\nq,a,1,"[x"\n', "l.csv:2: this is not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_so(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, content, name)
    assert words in str(caught.value)


def test_every_mistake_of_a_file_is_told_at_once_in_order(tmp_path: Path) -> None:
    content = 'query,answer,human,tool_outputs\nq,a,good,\nq,a,1,"[x"\nq,a\nq,a,1,\n'
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, content)
    assert [problem.at.line for problem in caught.value.problems] == [2, 3, 4]


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    for name in ("no.csv", "no.jsonl"):
        with pytest.raises(InvalidInput, match="cannot be read"):
            read_labelled(tmp_path / name)


@given(content=st.binary(max_size=80), name=st.sampled_from(["fuzz.csv", "fuzz.jsonl"]))
def test_any_bytes_are_labels_or_invalid(
    content: bytes, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    for head in (b"", b"query,answer,human\n", b'{"query": "q", "answer": "a", "human": 1}\n'):
        path.write_bytes(head + content)
        try:
            assert read_labelled(path)
        except InvalidInput as error:
            assert error.problems  # noqa: PT017 - both outcomes are right


LABELS = ("pass", "fail")
PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=30)


@pytest.mark.parametrize(
    ("confusion", "kappa"),
    [
        (((20, 5), (10, 15)), 0.4),
        (((45, 15), (25, 15)), 0.130434782608),
        (((25, 35), (5, 35)), 0.259259259259),
        (((10, 0), (0, 10)), 1.0),
        (((0, 10), (10, 0)), -1.0),
        (((5, 5), (5, 5)), 0.0),
        (((88, 14, 18), (10, 40, 10), (2, 6, 12)), 0.29 / 0.59),
    ],
)
def test_kappa_is_what_the_literature_computes(
    confusion: tuple[tuple[int, ...], ...], kappa: float
) -> None:
    labels = tuple("abc"[: len(confusion)])
    assert Agreement(labels=labels, confusion=confusion).kappa == pytest.approx(kappa, abs=1e-9)


def test_kappa_is_undefined_where_nothing_can_be_told_apart() -> None:
    assert compare_labels([], LABELS).kappa is None
    assert compare_labels([("pass", "pass")] * 5, LABELS).kappa is None


def test_pairs_are_counted_by_label() -> None:
    found = compare_labels(
        [("pass", "pass"), ("pass", "fail"), ("fail", "fail"), ("fail", "fail")], LABELS
    )
    assert found.confusion == ((1, 1), (0, 2))
    assert (found.equal_pairs, found.total, found.kappa) == (3, 4, 0.5)


@given(PAIRS)
def test_kappa_lies_between_minus_1_and_1_and_the_raters_may_change_places(
    pairs: list[tuple[str, str]],
) -> None:
    kappa = compare_labels(pairs, LABELS).kappa
    assert kappa is None or -1.0 <= kappa <= 1.0
    assert compare_labels([(right, left) for left, right in pairs], LABELS).kappa == kappa
    assert compare_labels(pairs, LABELS[::-1]).kappa == kappa
