import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports.comparing.comparison_types import Comparison
from harness.reports.comparing.console import print_comparison
from harness.reports.comparing.contrasts import compare_logs
from harness.reports.comparing.gate import judge_gate
from harness.reports.comparing.json_form import write_comparison_json
from harness.reports.comparing.markup import write_comparison_markdown
from harness.reports.comparing.page import write_comparison_html
from harness.reports.comparing.sentences import format_p, format_points, p_value
from harness.types import Usage
from tests.reports.run_logs import write_log

HOSTILE = "<script>alert(1)</script>\x1b[31m|`@someone`\n::error::x\u202e\x00"


def a_comparison(folder: Path, name: str = "s") -> Comparison:
    """Return a comparison with something of everything.

    Twelve lost, one won, one not judged, one not shared.
    """
    lost = {f"lost{i}": "p" for i in range(12)}
    before = {
        name: lost | {"won": "f", "same": "p", "errs": "p", HOSTILE: "p", "old": "p"},
        "two": {"same": "p"},
    }
    after = {
        name: dict.fromkeys(lost, "f") | {"won": "p", "same": "p", "errs": "e", HOSTILE: "f"},
        "two": {"same": "p"},
    }
    logs = [
        write_log(
            folder / "one" / "log.jsonl",
            before,
            usage=Usage(input_tokens=100, output_tokens=20, cost_usd=0.5),
        ),
        write_log(folder / "two" / "log.jsonl", after, model="other", usage=Usage(cost_usd=None)),
    ]
    return compare_logs(logs)


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return a_comparison(tmp_path)


def on_console(comparison: Comparison, width: int = 80) -> str:
    stream = io.StringIO()
    print_comparison(
        comparison, Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    )
    return stream.getvalue()


def test_the_console_says_what_differs_before_it_says_who_won(comparison: Comparison) -> None:
    text = on_console(comparison)
    places = [
        text.index(words)
        for words in ("A  m  one", "B  other  two", "A → B: worse", "model was m, is other")
    ]
    assert places == sorted(places)
    assert "17 shared cases: 1 better, 13 worse, 2 the same, 1 not judged" in text
    assert "s::errs  1/1 → error (server)" in text
    assert "Only A has 1 more: s::old." in text


def test_the_console_shows_what_the_cases_could_have_shown(comparison: Comparison) -> None:
    text = " ".join(on_console(comparison).split())
    assert "McNemar test of the pairs: p = 0.0018, 0.0055 after" in text
    assert "after Holm's correction for 3 tests" in text
    assert re.search(r"16 cases show a difference of \d+ points, four times in five", text)


def test_what_cannot_be_judged_is_explained_wherever_it_occurs(comparison: Comparison) -> None:
    assert "is in no rate and no test" in " ".join(on_console(comparison).split())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_of_the_console_is_wider_than_the_terminal(
    comparison: Comparison, width: int
) -> None:
    assert max(map(len, on_console(comparison, width).splitlines())) <= width


def test_an_unknown_cost_is_said_to_be_unknown(comparison: Comparison) -> None:
    text = on_console(comparison)
    text = " ".join(text.split())
    assert "cost $0.50" in text
    assert "cost unknown" in text


def written(writer: object, comparison: Comparison) -> str:
    stream = io.StringIO()
    writer(comparison, stream)  # type: ignore[operator]
    return stream.getvalue()


def test_no_form_lets_markup_or_escapes_through(comparison: Comparison) -> None:
    texts = [
        on_console(comparison),
        written(write_comparison_html, comparison),
        written(write_comparison_markdown, comparison),
    ]
    for text in texts:
        assert not set(text) & {"\x1b", "\x00", "\u202e"}
        assert not re.search(r"^\s*::error", text, re.MULTILINE)
    assert "<script>alert" not in texts[1]
    outside_of_code = re.sub(r"(`+).*?\1", "", texts[2])
    assert "<script" not in outside_of_code
    assert "@someone" not in outside_of_code


def test_every_row_of_a_markdown_table_has_the_columns_of_its_head(comparison: Comparison) -> None:
    rows = [
        line
        for line in written(write_comparison_markdown, comparison).splitlines()
        if line.startswith("|")
    ]
    blocks = re.split(r"\n(?!\|)", "\n".join(rows))
    assert rows
    for block in blocks:
        assert all(len(re.findall(r"(?<!\\)\|", row)) >= 4 for row in block.splitlines())


class Tags(HTMLParser):
    """Collects what a browser would load or leave open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        addresses = [value or "" for name, value in attrs if name in {"src", "href"}]
        self.loads += [address for address in addresses if not address.startswith("#")]
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(comparison: Comparison) -> None:
    tags = Tags()
    tags.feed(written(write_comparison_html, comparison))
    assert tags.open == tags.loads == []


def test_the_json_has_every_figure(comparison: Comparison) -> None:
    stream = io.StringIO()
    write_comparison_json(comparison, stream, judge_gate(comparison).to_json())
    document = json.loads(stream.getvalue())
    assert document["status"] == "ok"
    result = document["result"]
    assert [side["name"] for side in result["sides"]] == ["A", "B"]
    assert result["sides"][0]["usage"]["cost_usd"] == pytest.approx(8.5)
    (contrast,) = result["contrasts"]
    overall = contrast["effects"][0]
    assert contrast["verdict"] == overall["verdict"] == "worse"
    assert overall["pairs"] + overall["not_judged"] == len(contrast["cases"]) == 17
    assert overall["difference"] == pytest.approx(-12 / 16)
    assert overall["smallest_difference"] is None or overall["smallest_difference"] > 0
    assert result["gate"]["passed"] is False
    assert {"before": "A", "after": "B", "suite": None} in result["gate"]["regressions"]
    assert contrast["only_before"] == ["s::old"]


def test_the_same_logs_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = a_comparison(tmp_path / "x"), a_comparison(tmp_path / "y")
    assert written(write_comparison_markdown, one) == written(write_comparison_markdown, other)
    assert written(write_comparison_html, one) == written(write_comparison_html, other)


def test_the_gate_says_where_it_found_what_and_what_it_could_have_found(
    comparison: Comparison,
) -> None:
    assert "\n".join(judge_gate(comparison, 0.5).write_sentences()) == (
        "gate: no evidence of a regression of more than 50 points\n"
        "gate: the smallest loss that could have fired it is 13 of the 14 passing cases (87 "
        "points)"
    )
    found = list(judge_gate(comparison).write_sentences())
    assert found == [
        "gate: evidence of a regression (A → B: −75 points)",
        "gate: evidence of a regression in s (A → B: −80 points)",
        "gate: the smallest loss that could have fired it is 7 of the 15 passing cases (44 points)",
    ]


def test_a_gate_without_anything_judged_claims_nothing(tmp_path: Path) -> None:
    logs = [
        write_log(tmp_path / name / "log.jsonl", {"a": letter})
        for name, letter in (("one", "p"), ("two", "e"))
    ]
    (sentence,) = judge_gate(compare_logs(logs)).write_sentences()
    assert "nothing to go by" in sentence


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (0.0, "0"),
        (0.31, "+31"),
        (-0.004, "−0.4"),
        (-0.3, "−30"),
        (0.0096, "+1"),
        (1.0, "+100"),
        (0.0001, "0.0"),
    ],
)
def test_points_have_no_more_digits_than_they_bear(difference: float, words: str) -> None:
    assert format_points(difference) == words


@pytest.mark.parametrize(
    ("value", "words", "sentence"),
    [
        (1.0, "1", "p = 1"),
        (0.03125, "0.031", "p = 0.031"),
        (0.0002, "< 0.001", "p < 0.001"),
        (None, "–", "p = –"),
    ],
)
def test_p_values_have_two_digits(value: float | None, words: str, sentence: str) -> None:
    assert p_value(value) == words
    assert format_p(value) == sentence
