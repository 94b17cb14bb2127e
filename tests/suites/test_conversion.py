from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput, UsageError
from harness.judging.checks import VOCABULARY
from harness.suites.conversion import convert_suite, format_csv, format_yaml
from harness.suites.csv_dataset import COLUMNS
from harness.suites.readers import read_suite
from harness.types import Case, Check, Suite
from tests.suites.test_csv_dataset import HEADER, SAMPLE, row


def facts(suite: Suite) -> list[Any]:
    return [suite.name, *((case.name, case.prompt, case.checks[0].params) for case in suite.cases)]


def test_csv_becomes_yaml_that_says_the_same(tmp_path: Path) -> None:
    source, target = tmp_path / "prices.csv", tmp_path / "prices.yml"
    source.write_text(SAMPLE)
    assert len(convert_suite(source, target, VOCABULARY).cases) == 2
    assert facts(read_suite(target, VOCABULARY)) == facts(read_suite(source, VOCABULARY))
    assert target.read_text() == dedent("""\
        mxcp: 1
        suite: prices
        tests:
          - name: "1"
            prompt: "What is Apple's stock price?"
            assertions:
              graded:
                expected:
                  - tool: get_stock_price
                    args: {"ticker": "AAPL"}
                keywords: ["current price", "Apple"]
          - name: "6"
            prompt: "Compare Apple and Microsoft stock prices"
            assertions:
              graded:
                expected:
                  - tool: get_stock_price
                    args: {"ticker": "AAPL"}
                  - tool: get_stock_price
                    args: {"ticker": "MSFT"}
                keywords: ["Apple", "Microsoft", "price", "comparison"]
        """)


def test_there_and_back_is_where_it_was(tmp_path: Path) -> None:
    source, middle, back = (
        tmp_path / "prices.csv",
        tmp_path / "any.yaml",
        tmp_path / "back" / "prices.csv",
    )
    back.parent.mkdir()
    source.write_text(
        SAMPLE
        + row(
            test_id="7", expected_tool="[]", expected_args="[]", query="a\nb\r\n\t“c” \u2028 \x7f"
        )
    )
    convert_suite(source, middle, VOCABULARY)
    convert_suite(middle, back, VOCABULARY)
    assert facts(read_suite(back, VOCABULARY)) == facts(read_suite(source, VOCABULARY))


def test_a_dataset_beyond_the_limit_of_a_run_can_be_converted(tmp_path: Path) -> None:
    source = tmp_path / "many.csv"
    source.write_text(HEADER + "".join(row(test_id=str(number)) for number in range(150)))
    assert len(convert_suite(source, tmp_path / "many.yml", VOCABULARY).cases) == 150


GRADED = "graded: {expected: [a]}"


@pytest.mark.parametrize(
    ("head", "test", "assertions", "lost"),
    [
        ("suite: other", "", GRADED, "the name 'other' of the suite"),
        ("suite: out\ndescription: x", "", GRADED, "the suite's description"),
        ("suite: out\nmodel: gpt-4o", "", GRADED, "the suite's model"),
        ("suite: out\nserver: shop", "", GRADED, "the suite's server"),
        ("suite: out\nsystem_prompt: x", "", GRADED, "the suite's system_prompt"),
        ("suite: out\njudge_model: gpt-4o", "", GRADED, "the suite's judge_model"),
        ("suite: out", "description: x", GRADED, "the description of test 'one'"),
        ("suite: out", "user_context: {}", GRADED, "the user_context of test 'one'"),
        ("suite: out", "timeout: 5", GRADED, "the limits of test 'one'"),
        ("suite: out", "tags: [a]", GRADED, "the tags of test 'one'"),
        ("suite: out", "metadata: {a: 1}", GRADED, "the metadata of test 'one'"),
        (
            "suite: out",
            "",
            f"{GRADED}\n      must_call: [a]",
            "the assertion must_call of test 'one'",
        ),
        ("suite: out", "", "must_call: [a]", "test 'one' has no graded"),
        (
            "suite: out",
            "",
            "graded: {expected: [a], threshold: 0.8}",
            "the threshold of test 'one'",
        ),
        ("suite: out", "", "graded: {expected: [a], model: m}", "the judge of test 'one'"),
        ("suite: out", "", "graded: {expected: [a], severity: warn}", "the severity of test 'one'"),
        (
            "suite: out",
            "",
            'graded: {expected: [a], keywords: ["1,000"]}',
            "the keyword '1,000' of test 'one'",
        ),
        (
            "suite: out",
            "",
            'graded: {expected: [a], keywords: [" no "]}',
            "the keyword ' no ' of test 'one'",
        ),
    ],
)
def test_what_csv_has_no_place_for_is_named_and_nothing_is_written(
    tmp_path: Path, head: str, test: str, assertions: str, lost: str
) -> None:
    source, target = tmp_path / "in.yml", tmp_path / "out.csv"
    source.write_text(
        f"{head}\ntests:\n  - name: one\n    prompt: p\n    {test}\n    assertions:\n      "
        f"{assertions}\n"
    )
    with pytest.raises(InvalidInput) as caught:
        convert_suite(source, target, VOCABULARY)
    assert lost in str(caught.value)
    assert f"{source.name}:" in str(caught.value)
    assert not target.exists()


def test_text_that_has_no_form_in_csv_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    source, target = tmp_path / "in.yml", tmp_path / "out.csv"
    tests = [{"name": "one", "prompt": "a\0b", "assertions": {"graded": {"expected": ["a"]}}}]
    source.write_text(json.dumps({"suite": "out", "tests": tests}))
    with pytest.raises(UsageError, match="NUL"):
        convert_suite(source, target, VOCABULARY)
    tests[0] |= {"prompt": "p", "assertions": {"graded": {"expected": ["my tool"]}}}
    source.write_text(json.dumps({"suite": "out", "tests": tests}))
    with pytest.raises(UsageError, match="not the name of a tool"):
        convert_suite(source, target, VOCABULARY)
    assert not target.exists()


def test_wrong_files_are_told_so(tmp_path: Path) -> None:
    source = tmp_path / "prices.csv"
    source.write_text(SAMPLE)
    for target in ("b.csv", "b.json", "b"):
        with pytest.raises(UsageError, match="cannot be converted to"):
            convert_suite(source, tmp_path / target, VOCABULARY)
    there = tmp_path / "there.yml"
    there.write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        convert_suite(source, there, VOCABULARY)
    assert there.read_text() == "mine"
    convert_suite(source, there, VOCABULARY, overwrite=True)
    with pytest.raises(UsageError, match="cannot be written"):
        convert_suite(source, tmp_path / "no folder" / "b.yml", VOCABULARY)
    with pytest.raises(InvalidInput, match="cannot be read"):
        convert_suite(tmp_path / "nowhere.csv", tmp_path / "c.yml", VOCABULARY)


NAMES = st.from_regex(r"[A-Za-z0-9_./:-]{1,10}", fullmatch=True) | st.sampled_from(
    ["null", "no", "0o17", "1e3", "y"]
)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=12
) | st.sampled_from(
    [
        "yes",
        "0x1F",
        "1_000",
        "2024-05-01",
        "${HOME}",
        "a: b",
        "- x",
        "# y",
        "'",
        '"',
        "\u2028",
        "\x85",
        "\ufeff",
        "😀",
    ]
)
ARGUMENTS = st.dictionaries(
    st.text(max_size=5).filter(lambda key: not key.startswith("$")),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | TEXTS,
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=4,
    ),
    max_size=3,
)


@st.composite
def datasets(draw: st.DrawFn) -> Suite:
    cases = []
    for name in draw(
        st.lists(st.from_regex(r"[\w.-]{1,6}", fullmatch=True), min_size=1, max_size=3, unique=True)
    ):
        expected = draw(
            st.lists(st.fixed_dictionaries({"tool": NAMES, "args": ARGUMENTS}), max_size=2)
        )
        words = draw(st.lists(st.from_regex(r"[\w$%.]{1,6}( \w+)?", fullmatch=True), max_size=3))
        params = {"expected": expected, "keywords": words, "threshold": 0.7}
        prompt = draw(TEXTS.filter(str.strip))
        cases.append(Case(name=name, prompt=prompt, checks=(Check(kind="graded", params=params),)))
    return Suite(name="fuzz", cases=tuple(cases))


@given(suite=datasets())
def test_any_dataset_survives_both_ways(
    suite: Suite, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "fuzz.yml").write_bytes(format_yaml(suite).encode())
    (folder / "fuzz.csv").write_bytes(format_csv(suite, "fuzz").encode())
    assert format_csv(suite, "fuzz").startswith(",".join(COLUMNS))
    for name in ("fuzz.yml", "fuzz.csv"):
        assert facts(read_suite(folder / name, VOCABULARY)) == facts(suite)


def asking_twice(second: str, key: str = "") -> str:
    tests = [
        {"name": name, "prompt": prompt, "assertions": {"graded": {"expected": CALL}}}
        for name, prompt in (("one", "What does the order cost?"), ("two", second))
    ]
    if key:
        tests[0]["test"], tests[1]["test"] = "x", key
    return json.dumps({"mxcp": 1, "suite": "prices", "tests": tests})


CALL = [{"tool": "get_order", "args": {"id": "7"}}]


@pytest.mark.parametrize(
    ("second", "key", "is_written"),
    [
        # A dataset finds rephrasings by itself, but no name says that they are none.
        ("What does the order cost, please?", "", True),
        ("What does the order cost, please?", "x", True),
        ("What does the order cost, please?", "y", False),
        ("Price of number seven?", "", True),
        ("Price of number seven?", "x", False),
    ],
)
def test_which_tests_count_as_one_is_not_lost(
    tmp_path: Path, second: str, key: str, is_written: bool
) -> None:
    source, target = tmp_path / "prices.yml", tmp_path / "prices.csv"
    source.write_text(asking_twice(second, key))
    if is_written:
        convert_suite(source, target, VOCABULARY)
    else:
        with pytest.raises(UsageError, match="which tests count as one"):
            convert_suite(source, target, VOCABULARY)
    assert target.exists() == is_written
