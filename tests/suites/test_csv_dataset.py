from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.csv_dataset import MAX_CASES, read_dataset
from harness.suites.readers import read_suite
from harness.types import Suite

HEADER = "test_id,query,expected_tool,expected_args,expected_response_contains\n"
SAMPLE = (
    HEADER
    + """\
1,"What is Apple's stock price?","get_stock_price","{""ticker"":""AAPL""}","current price,Apple"
6,"Compare Apple and Microsoft stock prices","[""get_stock_price"",""get_stock_price""]",\
"[{""ticker"":""AAPL""},{""ticker"":""MSFT""}]","Apple,Microsoft,price,comparison"
"""
)


def read(folder: Path, content: str | bytes, name: str = "prices.csv") -> Suite:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_suite(path, VOCABULARY)


def refusal(folder: Path, content: str | bytes) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        read(folder, content)
    return [
        f"{problem.at.line}: {problem.message} | {problem.meant}"
        for problem in caught.value.problems
    ]


def row(**cells: str) -> str:
    """Return a row that is right but for ``cells``."""
    usual = {
        "test_id": "1",
        "query": "How much?",
        "expected_tool": "get_price",
        "expected_args": "{}",
        "expected_response_contains": "price",
    }
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in {**usual, **cells}.values())
    return ",".join(quoted) + "\n"


def test_each_row_is_a_case_with_one_graded_check(tmp_path: Path) -> None:
    suite = read(tmp_path, SAMPLE)
    assert suite.name == "prices"
    assert suite.server is None
    assert len(suite.digest) == 64
    first, second = suite.cases
    assert (first.name, first.prompt, first.at and first.at.line) == (
        "1",
        "What is Apple's stock price?",
        2,
    )
    (check,) = first.checks
    assert check.kind == "graded"
    assert check.params == {
        "expected": [{"tool": "get_stock_price", "args": {"ticker": "AAPL"}}],
        "keywords": ["current price", "Apple"],
        "threshold": 0.7,
    }
    assert check.at == first.at
    assert [call["args"]["ticker"] for call in second.checks[0].params["expected"]] == [
        "AAPL",
        "MSFT",
    ]


def test_a_dataset_is_found_by_its_extension_in_any_case_and_with_a_byte_order_mark(
    tmp_path: Path,
) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf" + SAMPLE.encode(), "PRICES.CSV").name == "PRICES"


def test_no_tools_and_no_keywords_may_be_expected(tmp_path: Path) -> None:
    (case,) = read(
        tmp_path,
        HEADER + row(expected_tool="[]", expected_args="[]", expected_response_contains=" , "),
    ).cases
    assert case.checks[0].params["expected"] == []
    assert case.checks[0].params["keywords"] == []


@pytest.mark.parametrize("tools", ["get_price, get_news", "get_price,get_news"])
def test_several_tools_may_be_separated_by_commas(tmp_path: Path, tools: str) -> None:
    (case,) = read(tmp_path, HEADER + row(expected_tool=tools, expected_args="[{},{}]")).cases
    assert [call["tool"] for call in case.checks[0].params["expected"]] == ["get_price", "get_news"]


def test_empty_columns_that_a_spreadsheet_adds_at_the_end_change_nothing(tmp_path: Path) -> None:
    padded = SAMPLE.replace("\n", ",, ,\n")
    assert read(tmp_path, padded).cases == read(tmp_path, SAMPLE).cases


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"test_id": " "}, ("test_id: it is empty",)),
        ({"test_id": "a\nb"}, ("test_id", "one line")),
        ({"query": ""}, ("query: it is empty",)),
        ({"expected_tool": ""}, ("expected_tool: it is empty", "[]")),
        (
            {"expected_tool": "Get Stock Price"},
            ("'Get Stock Price' is not the name of a tool", "'get_stock_price'"),
        ),
        ({"expected_tool": "getStock Price!"}, ("'get_stock_price'",)),
        ({"expected_tool": '["a", "B C"]', "expected_args": "[{},{}]"}, ("'B C'", "'b_c'")),
        ({"expected_tool": '["a"'}, ("expected_tool: this is not JSON", "must be doubled")),
        ({"expected_tool": "[1]"}, ("an array of tools may contain only strings",)),
        ({"expected_tool": "a, B C"}, ("'B C' is not the name of a tool", "'b_c'")),
        ({"expected_tool": "a,"}, ("'' is not the name of a tool",)),
        ({"expected_tool": "a, b"}, ("expected_tool names 2 tools, expected_args holds 1 object",)),
        ({"expected_args": "{“ticker”:“AAPL”}"}, ("a typographic quote “", "the straight one")),
        ({"expected_response_contains": "a, “b”"}, ("'“b”' stands in typographic quotes",)),
        ({"expected_response_contains": '"a, b", c'}, ("a quoted keyword has a comma in it",)),
        ({"expected_tool": "get_price; get_news"}, ("not the name of a tool", "by commas")),
        ({"expected_args": ""}, ("expected_args: it is empty", "Write {}")),
        (
            {"expected_args": "{'ticker':'AAPL'}"},
            ("not JSON", "double quotes, not single", '""ticker""'),
        ),
        ({"expected_args": '{"ticker":}'}, ("not JSON", "character 11", '{"ticker":}')),
        ({"expected_args": "5"}, ("expected a JSON object",)),
        ({"expected_args": "[5]"}, ("expected a JSON object",)),
        ({"expected_args": '{"a":1,"a":2}'}, ("the key 'a' is given twice",)),
        ({"expected_args": '{"a":NaN}'}, ("NaN is not a number",)),
        ({"expected_args": '{"a":1e999}'}, ("expected_args", "infinity")),
        ({"expected_args": '{"a":' + "9" * 5000 + "}"}, ("too many digits",)),
        ({"expected_args": "[" * 100_000}, ("nested too deeply",)),
        (
            {"expected_args": '{"a":' + "[" * 50 + "]" * 50 + "}"},
            ("expected_args", "nested too deeply"),
        ),
        ({"expected_args": '{"a":"\\ud800"}'}, ("expected_args", "Unicode")),
        ({"expected_args": '{"a":{"$gt":5,"b":1}}'}, ("expected_args", "$ operator")),
        (
            {"expected_tool": '["a","b"]', "expected_args": "{}"},
            ("names 2 tools, expected_args holds 1 object",),
        ),
        (
            {"expected_args": "[{},{}]"},
            ("names 1 tool, expected_args holds 2 objects", "same order"),
        ),
        (
            {"expected_tool": json.dumps(["a"] * 101), "expected_args": json.dumps([{}] * 101)},
            ("at most 100",),
        ),
    ],
)
def test_a_mistake_in_a_cell_is_told_with_line_and_column(
    tmp_path: Path, cells: dict[str, str], words: tuple[str, ...]
) -> None:
    (told,) = refusal(tmp_path, HEADER + row(test_id="0", query="two\nlines") + row(**cells))
    assert told.startswith("4: "), told
    for word in words:
        assert word in told, told


def test_all_mistakes_of_a_file_are_told_at_once_in_its_order(tmp_path: Path) -> None:
    content = HEADER + row() + row() + row(test_id="2", query="", expected_args="x") + "3,q\n"
    told = refusal(tmp_path, content)
    assert [line.split(":")[0] for line in told] == ["3", "4", "4", "5"]
    assert "'1' is given twice; first at line 2" in told[0]


def test_a_file_without_rows_has_no_test(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEADER) == [
        "1: there is no test below the header. | Add at least one row."
    ]


def test_more_cases_than_the_limit_have_to_be_asked_for(tmp_path: Path) -> None:
    content = HEADER + "".join(row(test_id=str(number)) for number in range(MAX_CASES + 1))
    (told,) = refusal(tmp_path, content)
    assert "there are 101 tests, and at most 100 are read" in told
    assert "--max-cases" in told
    assert len(read_dataset(tmp_path / "prices.csv", VOCABULARY, max_cases=101).cases) == 101


def survives(content: bytes, folder: Path) -> None:
    path = folder / "fuzz.csv"
    path.write_bytes(content)
    try:
        suite = read_suite(path, VOCABULARY)
    except InvalidInput as error:
        lines = [problem.at.line or 0 for problem in error.problems]
        assert lines
        assert lines == sorted(lines)
        str(error).encode("utf-8")
    else:
        assert suite.cases


@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(SAMPLE)),
            st.integers(0, 12),
            st.binary(max_size=3) | st.sampled_from([b"\n", b'"', b","]),
        ),
        max_size=4,
    )
)
def test_any_edit_of_a_dataset_is_a_suite_or_invalid(
    edits: list[tuple[int, int, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = SAMPLE.encode()
    for place, length, insertion in edits:
        content = content[:place] + insertion + content[place + length :]
    survives(content, tmp_path_factory.getbasetemp())


@given(content=st.binary(max_size=100))
def test_any_bytes_below_the_header_are_a_suite_or_invalid(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    survives(HEADER.encode() + content, tmp_path_factory.getbasetemp())


@given(
    cells=st.lists(
        st.text(alphabet='[]{}":,.0eE-+ntrufalse\\ud8x$', max_size=20), min_size=5, max_size=5
    )
)
def test_any_cells_are_a_suite_or_invalid(
    cells: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    columns = HEADER.strip().split(",")
    survives(
        (HEADER + row(**dict(zip(columns, cells, strict=True)))).encode(),
        tmp_path_factory.getbasetemp(),
    )


def test_quotes_that_belong_to_a_keyword_stay(tmp_path: Path) -> None:
    cell = '"status": "ok", 5″, a 5" screen, "x", l’eau, ″'
    (case,) = read(tmp_path, HEADER + row(expected_response_contains=cell)).cases
    assert case.checks[0].params["keywords"] == cell.split(", ")
