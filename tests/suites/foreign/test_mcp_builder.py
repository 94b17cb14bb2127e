"""Evaluations of mcp-builder: the same verdicts, both ways, and no entity is ever resolved."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.conversion import convert_suite
from harness.suites.foreign.mcp_builder import SYSTEM_PROMPT
from harness.suites.readers import read_suite
from tests.suites.foreign.translated import passes, read_text


def pair(answer: str, question: str = "How many?") -> str:
    return f"<qa_pair><question>{question}</question><answer>{answer}</answer></qa_pair>"


def write(*pairs: str) -> str:
    return "<evaluation>\n" + "\n".join(pairs) + "\n</evaluation>\n"


ANSWERS = (
    "<response>42</response>",
    "42",
    "",
    "<response>42</response> done",
    "<response> 42\n</response>",
    "<response>41</response><response>42</response>",
    "<response>42</response><response>41</response>",
    "<response>42.0</response>",
    "<response>The answer is 42</response>",
    "<response></response>",
    "<response>42",
    "<response>42</Response>",
    "<RESPONSE>42</RESPONSE>",
    "<response>1<response>42</response>",
    "<response>42</response></response>",
    "<summary>42</summary>",
    "<response>NOT_FOUND</response>",
    "<response>New York</response>",
    "<response>new york</response>",
    "<response>New  York</response>",
    "<response>**42**</response>",
    "<response>42</response><response>",
)
WANTED = ("42", " 42 ", "New York")


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("answer", ANSWERS)
def test_every_verdict_is_that_of_the_documented_comparison(
    answer: str, wanted: str, tmp_path: Path
) -> None:
    # The last tag's text, without spaces around it, compared letter by letter.
    found = re.findall("<response>(.*?)</response>", answer, re.DOTALL)
    expected = bool(found and found[-1].strip() == wanted.strip())
    suite = read_text(tmp_path / "e.xml", write(pair(wanted)))
    assert passes(suite.cases[0], answer, []) == expected


@pytest.mark.parametrize(
    "text",
    [
        write(pair("A &amp; B"), pair("<![CDATA[a < b]]>"), pair("x<!-- not this -->y")),
        "<?xml version='1.0' encoding='iso-8859-1'?>" + write(pair("e")),
        "<a><b><evaluation>" + pair("deep") + "</evaluation></b></a>",
    ],
)
def test_questions_and_answers_are_those_of_a_parser(text: str, tmp_path: Path) -> None:
    suite = read_text(tmp_path / "e.xml", text)
    root = ET.fromstring(text)
    theirs = [
        [str(one.findtext("question")).strip(), str(one.findtext("answer")).strip()]
        for one in root.iter("qa_pair")
    ]
    assert [[case.prompt, case.checks[0].params["equals"]] for case in suite.cases] == theirs
    assert suite.system_prompt == SYSTEM_PROMPT


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB + write(pair("&b;")), "<!DOCTYPE"),
        ("<!DOCTYPE x SYSTEM 'file:///etc/passwd'>" + write(pair("x")), "<!DOCTYPE"),
        (write(pair("&unknown;")), "not valid XML"),
        ("<a>" * 5_000 + pair("x"), "nested deeper than 100 levels"),
        (write(pair("x")) + "<", "not valid XML"),
        (write("<qa_pair><question>x</question></qa_pair>"), "no <answer>"),
        (write(pair("")), "no <answer>, or an empty one"),
        (write(pair("x", "a<b>c</b>")), "<b> stands in the text"),
        (write(f"<qa_pair id='1'>{pair('x')[9:]}"), "attribute 'id'"),
        (write(pair("x"), "<timeout>5</timeout>"), "<timeout> has no form here"),
        (write(pair("x")[:-10] + "<tags>a</tags></qa_pair>"), "<tags> in <qa_pair>"),
        (write(pair("x")[:-10] + "<answer>y</answer></qa_pair>"), "a second <answer>"),
        (write("stray", pair("x")), "the text in it is no question"),
        (pair("x"), "<qa_pair> stands alone"),
    ],
)
def test_what_has_no_form_here_is_refused_with_its_line(
    text: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"e\.xml") as caught:
        read_text(tmp_path / "e.xml", text)
    assert told in str(caught.value)


def test_leniently_a_pair_says_what_it_no_longer_checks(tmp_path: Path) -> None:
    text = write(pair("x")[:-10] + "<tags>a</tags></qa_pair>", pair("y"))
    suite = read_text(tmp_path / "e.xml", text, lenient=True)
    assert [case.metadata for case in suite.cases] == [
        {"not_checked": ["<tags> in <qa_pair> has no form here"]},
        {},
    ]
    assert "<tags>" in suite.notes[0]


def test_it_becomes_yaml_and_the_same_evaluation_again(tmp_path: Path) -> None:
    source = tmp_path / "e.xml"
    read_text(source, write(pair("a &amp; &lt;b>"), pair("é 0o17", "Is it 'so'?\nYes: or \"no\"")))
    convert_suite(source, tmp_path / "e.yml", VOCABULARY)
    (tmp_path / "back").mkdir()
    back = tmp_path / "back" / "e.xml"
    convert_suite(tmp_path / "e.yml", back, VOCABULARY)
    ours, again = (
        [(case.name, case.prompt, case.checks[0].params) for case in suite.cases]
        for suite in (read_suite(source, VOCABULARY), read_suite(back, VOCABULARY))
    )
    assert ours == again


def test_what_an_evaluation_cannot_express_is_named(tmp_path: Path) -> None:
    source = tmp_path / "e.yml"
    source.write_text(
        "suite: shop\ntests: [{name: a, prompt: b, assertions: {answer_contains: [x]}}]\n"
    )
    with pytest.raises(InvalidInput) as caught:
        convert_suite(source, tmp_path / "e.xml", VOCABULARY)
    for told in ("the name 'shop'", "system prompt", "the name of test 'a'", "the assertions"):
        assert told in str(caught.value)
    assert not (tmp_path / "e.xml").exists()
