import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.formats.console import print_summary
from harness.reports.formats.github_report import workflow_commands
from harness.reports.formats.transcripts import write_transcripts
from harness.reports.writers import WRITERS
from harness.runlog import RunLog
from tests.reports.packs import blocks_of, packs_of
from tests.reports.sample_logs import HOSTILE, a_hostile_log, written

HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff\u200b\u00ad\u3164\u2063]|a\u200dz|x\ufe01"
)
Texts = Callable[[str], str]
COMMAND = re.compile(r"^[^\S\n]*::|##\[", re.MULTILINE)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> RunLog:
    return a_hostile_log(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def texts(log: RunLog) -> Texts:
    """Return the report in a format, which is written once for all tests."""
    return cache(lambda name: written(log, name))


@pytest.mark.parametrize("name", [name for name in WRITERS.list_names() if name != "csv"])
def test_no_report_holds_a_character_that_steers_a_terminal_or_hides_text(
    texts: Texts, name: str
) -> None:
    text = texts(name)
    assert HARMFUL.search(text) is None
    assert text.encode("utf-8")


@pytest.mark.parametrize("name", ["junit", "markdown", "csv", "html"])
def test_megabytes_are_cut_where_people_read(texts: Texts, name: str) -> None:
    assert len(texts(name)) < 2_000_000


@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_a_machine_reads_hostile_texts_back_as_they_were(tmp_path: Path, name: str) -> None:
    text = written(a_hostile_log(tmp_path, big=False), name)
    documents = [json.loads(line) for line in text.splitlines()]
    found = json.dumps(documents)
    for hostile in HOSTILE:
        if "\ud800" not in hostile:  # no file in UTF-8 can hold it, the log neither
            assert json.dumps(hostile)[1:-1] in found


def test_a_terminal_gets_neither_escapes_nor_commands(log: RunLog) -> None:
    stream = io.StringIO()
    console = Console(
        file=stream, width=80, highlight=False, markup=False, emoji=False, force_terminal=False
    )
    print_summary(build_report(log), log, console)
    assert HARMFUL.search(stream.getvalue()) is None
    assert COMMAND.search(stream.getvalue()) is None


def test_a_whole_conversation_on_the_terminal_is_harmless(tmp_path: Path) -> None:
    log = a_hostile_log(tmp_path, big=False)
    stream = io.StringIO()
    write_transcripts(build_report(log), log, stream)
    assert HARMFUL.search(stream.getvalue()) is None
    assert COMMAND.search(stream.getvalue()) is None


@pytest.mark.slow
def test_wrapping_moves_no_command_to_the_start_of_a_line(tmp_path: Path) -> None:
    log = a_hostile_log(tmp_path, big=False)
    report = build_report(log)
    for width in range(24, 60):
        stream = io.StringIO()
        print_summary(report, log, Console(file=stream, width=width, highlight=False, markup=False))
        assert COMMAND.search(stream.getvalue()) is None


def test_a_spreadsheet_finds_no_formula_and_no_broken_line(log: RunLog, texts: Texts) -> None:
    rows = list(csv.reader(io.StringIO(texts("csv").removeprefix("\ufeff"), newline="")))
    assert len(rows) == len(log.results) + 1
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝"))
        assert HARMFUL.search(cell) is None
        assert "\n" not in cell


def test_xml_is_well_formed_and_attaches_no_file(texts: Texts) -> None:
    text = texts("junit")
    assert "[[ATTACHMENT" not in text
    assert ET.fromstring(text).tag == "testsuites"


def test_markdown_holds_hostile_text_in_code_alone(tmp_path: Path) -> None:
    text = written(a_hostile_log(tmp_path, big=False), "markdown")
    outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", text)
    outside = re.sub(r"(?<!`)(`+)(?!`)(?:.*?[^`])??\1(?!`)", "", outside)
    outside = re.sub(r"<code>[^<>\n]*</code>", "", outside)
    for harmful in ("<script", "<img", "![", "](", "@somebody", "@SUM", "pwned", "<b>", "# "):
        assert harmful not in outside.replace("## ", "")


def test_an_annotation_is_one_line_and_holds_no_further_command(log: RunLog) -> None:
    report = build_report(log)
    alone = [workflow_commands(replace(report, cases=(case,))) for case in report.cases]
    lines = [line for found in alone for line in found]
    assert len(lines) == len(log.results)
    for line in (*lines, *workflow_commands(report)):
        assert "\n" not in line
        assert "\r" not in line
        assert re.fullmatch(r"::error (?:\w+=[^,:]*,?)+::.*", line), line
        assert "%0A::" not in line.replace("%25", "")


def test_no_text_of_the_log_ends_its_block_in_the_page(log: RunLog, texts: Texts) -> None:
    text = texts("html")
    assert text.count("</script>") == text.count("<script") == len(packs_of(text)) + 1
    assert len(blocks_of(text)) == len(build_report(log).cases) + 1
    assert "<img" not in text
    assert "<!--" not in text.replace("<!doctype", "")
    shown = json.dumps(blocks_of(text), ensure_ascii=False)
    assert HARMFUL.search(shown) is None


def test_a_notebook_shows_a_table_and_nothing_in_it_is_markup(log: RunLog) -> None:
    shown = build_report(log)._repr_html_()
    assert HARMFUL.search(shown) is None
    tags = set(re.findall(r"</?([a-z]+)", shown))
    assert tags == {"p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert len(shown) < 100_000
