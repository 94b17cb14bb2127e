"""Reads memory suites in JSON Lines: a long text told in chunks, and many questions about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.builtin import builtin_suites
from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites import memory_dataset
from harness.suites.ingest import INGEST_PROMPT, split_into_chunks
from harness.suites.readers import make_reader, read_suite
from harness.types import Case, Suite

ROW = {
    "context": "Ann lives in Lisbon.",
    "questions": ["Where?"],
    "answers": [["Lisbon", "Lissabon"]],
}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "towns.jsonl"
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    )
    return path


def read(folder: Path, *rows: Any) -> Suite:
    return read_suite(write(folder, *rows), VOCABULARY)


def case(folder: Path, **columns: Any) -> Case:
    (only,) = read(folder, {**ROW, **columns}).cases
    return only


def refusal(path: Path, max_cases: int = 100) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        make_reader(max_cases)(path, VOCABULARY)
    return [
        f"{problem.at.line}: {problem.message} | {problem.meant}"
        for problem in caught.value.problems
    ]


def mistake(folder: Path, **columns: Any) -> str:
    """Return the one thing that is wrong with a line that is right but for ``columns``."""
    row = {name: value for name, value in {**ROW, **columns}.items() if value is not ...}
    (only,) = refusal(write(folder, row))
    return only


def test_a_line_is_one_case_that_tells_first_and_then_asks_each_question_afresh(
    tmp_path: Path,
) -> None:
    suite = read(tmp_path, {**ROW, "questions": ["Where?", "Who?"], "answers": [["Lisbon"], "Ann"]})
    assert (suite.name, suite.isolation, suite.server) == ("towns", "case", None)
    (only,) = suite.cases
    assert only.prompts == (
        INGEST_PROMPT.replace("{chunk}", "Ann lives in Lisbon."),
        "Where?",
        "Who?",
    )
    assert [turn.fresh for turn in only.turns] == [True] * 3
    assert [turn.ingest for turn in only.turns] == [True, False, False]
    assert [[check.params["answers"] for check in turn.checks] for turn in only.turns] == [
        [],
        [["Lisbon"]],
        [["Ann"]],
    ]
    assert [(check.kind, check.params) for check in only.checks] == [
        ("turns_passed", {"at_least": 1.0})
    ]
    assert (only.limits.max_replies, only.limits.max_calls) == (60, 300)
    assert only.at is not None
    assert only.at.line == 1


def test_all_columns_count(tmp_path: Path) -> None:
    chosen = case(
        tmp_path,
        name="ann",
        metadata={"level": 3, "sessions": ["x" * 2000]},
        metric="exact_match",
        at_least=0.5,
        ingest_prompt="Note: {chunk}",
        question_prompt="{question} One word.",
        answers=["Lisbon"],
    )
    assert (chosen.name, chosen.metadata) == ("ann", {"level": 3})
    assert chosen.prompts == ("Note: Ann lives in Lisbon.", "Where? One word.")
    assert chosen.turns[1].checks[0].params == {
        "answers": ["Lisbon"],
        "by": "exact",
        "at_least": 1.0,
    }
    assert chosen.checks[0].params == {"at_least": 0.5}


def test_chunks_may_be_given_as_they_are(tmp_path: Path) -> None:
    told = case(tmp_path, context=None, chunks=["One.", ["Two.", "Three."]])
    assert [turn.fresh for turn in told.turns] == [True, True, False, True]


def test_a_context_is_cut_to_the_size_that_is_asked_for(tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 30 for number in range(5))
    told = case(tmp_path, context=text, chunk_chars=200)
    assert [turn.prompt.partition("\n\n")[2][:11] for turn in told.turns if turn.ingest] == [
        f"Paragraph {number}" for number in range(5)
    ]


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_cutting_loses_nothing_but_white_space(text: str, size: int) -> None:
    pieces = split_into_chunks(text, size)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= size for piece in pieces)


def test_a_case_without_a_name_is_called_by_its_source_or_line(tmp_path: Path) -> None:
    sourced = {**ROW, "metadata": {"source": "event qa"}}
    assert [one.name for one in read(tmp_path, sourced, "", ROW, sourced).cases] == [
        "event_qa_1",
        "line_3",
        "event_qa_2",
    ]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"questions": ...},
            "columns are missing: 'questions'. | See docs/memory.md for the format.",
        ),
        ({"chunk_char": 200}, "there is no column 'chunk_char'. | Did you mean 'chunk_chars'?"),
        (
            {"xyz": 1},
            "there is no column 'xyz'. | The columns are context, chunks, questions, answers",
        ),
        ({"context": ...}, "there is neither 'context' nor 'chunks'."),
        ({"chunks": ["x"]}, "there are both 'context' and 'chunks'. | Keep one of them."),
        ({"context": None, "chunks": ["x"], "chunk_chars": 500}, "'chunks' are not cut."),
        ({"context": "  "}, "context: it is empty."),
        ({"context": ["x"]}, "context: expected a text, found a list"),
        ({"context": ..., "chunks": []}, "chunks: there are no chunks."),
        ({"context": ..., "chunks": ["x", ""]}, "chunks[2]: this chunk is empty."),
        ({"questions": []}, "questions: expected a list of at least one question"),
        ({"questions": [""]}, "questions[1]: it is empty."),
        (
            {"questions": ["a"] * 2},
            "there are 2 questions and 1 lists of answers. | Give each question its list",
        ),
        ({"answers": [[]]}, "answers[1]: there is no accepted answer."),
        ({"answers": [["x", 5]]}, "answers[1]: expected a text, found 5. | Quote it"),
        ({"answers": [["?!"]]}, 'nothing is left of "?!" without punctuation'),
        ({"answers": {"a": 1}}, "answers: expected a list, one item for each question"),
        ({"metric": "exact_matc"}, "Did you mean 'exact_match'?"),
        (
            {"metric": "f1"},
            "metric: expected one of substring, exact, recall, substring_exact_match, exact_match",
        ),
        ({"context": "A town. " * 150_000, "chunk_chars": 100}, "context: there are 12,"),
        ({"chunk_chars": 5}, "chunk_chars: expected a whole number from 100 up"),
        (
            {"at_least": 80},
            "at_least: expected a share above 0 and up to 1, found 80. | Write 80 % as 0.8.",
        ),
        ({"at_least": "x"}, "at_least: expected a share above 0 and up to 1, found a string"),
        ({"ingest_prompt": "x"}, "ingest_prompt: it has no {chunk}."),
        ({"question_prompt": "x"}, "question_prompt: it has no {question}."),
        ({"metadata": "x"}, "metadata: expected a mapping"),
        ({"metadata": {"source": 5}}, "metadata.source: expected a text, found 5."),
        ({"metadata": {"source": ["x"]}}, "metadata.source: expected a text, found a list"),
        ({"name": "a\nb"}, "name: "),
    ],
)
def test_a_mistake_in_a_line_is_told_with_its_column(
    tmp_path: Path, columns: dict[str, Any], said: str
) -> None:
    told = mistake(tmp_path, **columns)
    assert said in told
    assert told.startswith("1: ")


@pytest.mark.parametrize(
    ("source", "by", "competency"),
    [
        ("eventqa_full", "substring", "Accurate Retrieval"),
        ("EventQA 65536", "substring", "Accurate Retrieval"),
        ("ruler_qa1_197K", "substring", "Accurate Retrieval"),
        ("RULER-QA2_421K", "substring", "Accurate Retrieval"),
        ("ruler_niah_mq_128k", "recall", "Accurate Retrieval"),
        ("icl_banking77_5900shot_balance", "exact", "Test-Time Learning"),
        ("ICL_trec_fine_6400shot_balance", "exact", "Test-Time Learning"),
        ("detective_qa", "exact", "Long-Range Understanding"),
        (" Detective-QA* ", "exact", "Long-Range Understanding"),
        ("factconsolidation_mh_32k", "substring", "Conflict Resolution"),
        ("Fact Consolidation SH 262k", "substring", "Conflict Resolution"),
    ],
)
def test_answers_are_compared_as_the_source_officially_is(
    tmp_path: Path, source: str, by: str, competency: str
) -> None:
    chosen = case(tmp_path, metadata={"source": source})
    assert chosen.turns[1].checks[0].params["by"] == by
    assert chosen.metadata["category"] == competency
    own = "exact" if by == "recall" else "recall"
    chosen = case(tmp_path, metadata={"source": source}, metric=own)
    assert chosen.turns[1].checks[0].params["by"] == own
    assert "category" not in chosen.metadata


@pytest.mark.parametrize(
    ("source", "official"),
    [
        ("longmemeval_s*", "judged by a model"),
        ("LongMemEval_S_-1_500", "judged by a model"),
        ("infbench_sum_eng_shots2", "an F1 that a model judges"),
        ("InfBench-Sum", "an F1 that a model judges"),
        ("recsys_redial_full", "recall of film ids"),
        ("RecSys ReDial", "recall of film ids"),
    ],
)
def test_a_source_whose_measure_is_missing_is_refused(
    tmp_path: Path, source: str, official: str
) -> None:
    told = mistake(tmp_path, metadata={"source": source})
    assert (
        f"metadata.source: the answers of {source} are officially {official}, which is not "
        "supported. | Leave these lines"
    ) in told
    # Whoever names a measure knows that it is not the official one.
    assert case(tmp_path, metadata={"source": source}, metric="exact").turns[1].checks


@pytest.mark.parametrize(
    ("source", "near"),
    [
        ("evenqta_full", "Did you mean 'eventqa'? "),
        ("longmem_eva_s*", "Did you mean 'longmemeval'? "),
        ("facts_consolidation_mh_6k", "Did you mean 'factconsolidation'? "),
        ("ruler_vt_16k", "Did you mean 'ruler_"),
        ("eventqavil", "Did you mean 'eventqa'? "),
        ("icling_on_the_cake", ""),
        ("our_handbook", ""),
        ("x" * 2000, ""),
    ],
)
def test_a_source_that_the_dataset_does_not_have_needs_a_measure(
    tmp_path: Path, source: str, near: str
) -> None:
    told = mistake(tmp_path, metadata={"source": source})
    assert "is no source of MemoryAgentBench, so it has no official measure. | " in told
    assert near in told
    assert told.endswith("name its 'metric': substring, exact or recall.")
    assert case(tmp_path, metadata={"source": source}, metric="recall").turns[1].checks


@pytest.mark.parametrize("source", [None, "", " "])
def test_a_line_without_a_source_is_compared_by_substring(tmp_path: Path, source: Any) -> None:
    chosen = case(tmp_path, metadata={"source": source})
    assert chosen.turns[1].checks[0].params["by"] == "substring"


def test_answers_that_are_compared_otherwise_cannot_join_a_competency(tmp_path: Path) -> None:
    category = {"category": "Accurate Retrieval"}
    told = mistake(tmp_path, metadata={"source": "longmemeval_s*", **category}, metric="exact")
    assert "metadata.category: 'Accurate Retrieval' is the score of MemoryAgentBench" in told
    official = case(tmp_path, metadata={"source": "eventqa_full", "category": "mine"})
    assert official.metadata["category"] == "Accurate Retrieval"


def test_the_four_competencies_are_reported_apart(tmp_path: Path) -> None:
    sources = ("icl_nlu_8296shot_balance", "detective_qa", "detective_qa", "", "eventqa_full")
    suite = read(tmp_path, *({**ROW, "metadata": {"source": source}} for source in sources))
    assert suite.scores == {
        "parts": [
            {"name": name, "category": name, "cases": count}
            for name, count in (
                ("Test-Time Learning", 1),
                ("Long-Range Understanding", 2),
                ("Accurate Retrieval", 1),
            )
        ]
    }


@pytest.mark.parametrize("source", ["longmemeval_s*", "icl_nlu_8296shot_balance"])
def test_a_measure_of_ones_own_is_no_part_of_a_competency(tmp_path: Path, source: str) -> None:
    suite = read(tmp_path, {**ROW, "metadata": {"source": source}, "metric": "recall"})
    assert suite.scores is None


def test_every_mistake_of_a_file_is_told_at_once_in_order(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {**ROW, "name": "a"},
        "{",
        "[1]",
        {**ROW, "name": "a"},
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
    )
    assert [problem.partition(" | ")[0] for problem in refusal(path)] == [
        (
            "2: this is not JSON: Expecting property name enclosed in double quotes at character 2 "
            "of "
            "'{'."
        ),
        "3: this line is not a JSON object.",
        "4: the name 'a' is given twice; first at line 1.",
        "5: the key 'a' is given twice.",
        "6: NaN is not a number in JSON.",
    ]


def test_what_is_no_such_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "towns.jsonl"
    path.write_bytes(b"")
    assert refusal(path) == ["1: the file is empty. | Each line is a JSON object."]
    path.write_bytes(json.dumps(ROW).encode() + b"\n{\xff}\n")
    assert refusal(path) == ["2: the file is not UTF-8 text. | Save it with the encoding UTF-8."]
    monkeypatch.setattr(memory_dataset, "MAX_BYTES", 20)
    assert "the file is larger than" in refusal(path)[0]
    assert "cannot be read" in refusal(tmp_path / "missing.jsonl")[0]


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "towns.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\r\n")
    assert len(read_suite(path, VOCABULARY).cases) == 1


def test_more_cases_than_the_limit_have_to_be_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, ROW, ROW)
    assert refusal(path, 1) == [
        (
            "None: there are 2 cases, and at most 1 are read. | Split the file, or raise the limit "
            "with --max-cases."
        )
    ]
    assert len(make_reader(2)(path, VOCABULARY).cases) == 2


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(memory_dataset.COLUMNS), VALUES), st.booleans())
def test_whatever_stands_in_a_line_is_a_case_or_a_mistake(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, Any], usual: bool
) -> None:
    path = write(tmp_path_factory.getbasetemp(), {**(ROW if usual else {}), **columns})
    try:
        suite = read_suite(path, VOCABULARY)
    except InvalidInput:
        return
    assert len(suite.cases) == 1


def test_our_own_set_is_valid_and_asks_by_more_than_one_measure() -> None:
    suite = read_suite(builtin_suites() / "memory.jsonl", VOCABULARY)
    measures = {
        check.params["by"] for one in suite.cases for turn in one.turns for check in turn.checks
    }
    assert measures == {"substring", "recall"}
