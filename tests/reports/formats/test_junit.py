import io
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped

from harness.reports.build import build_report
from harness.reports.formats.junit_report import WRITER
from harness.runlog import RunLog
from harness.types import Usage
from tests.reports.sample_logs import (
    a_conversation,
    a_hostile_log,
    a_log,
    a_run,
    an_ordinary_log,
    must_call,
    written,
)

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))


def parsed(log: RunLog) -> ET.Element:
    """Return the report, which is that for the strict schema but for the places of its cases."""
    strict, root = written(log, "junit10"), ET.fromstring(written(log, "junit"))
    SCHEMA.validate(io.StringIO(strict))
    plain = ET.fromstring(written(log, "junit"))
    for element in plain.iter("testcase"):
        element.attrib.pop("file", None)
        element.attrib.pop("line", None)
    assert ET.tostring(plain) == ET.tostring(ET.fromstring(strict))
    return root


def case(root: ET.Element, name: str) -> ET.Element:
    return next(element for element in root.iter("testcase") if element.get("name") == name)


def test_failure_error_and_skipped_are_kept_apart(tmp_path: Path) -> None:
    root = parsed(an_ordinary_log(tmp_path))
    (suite,) = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6",
        "failures": "2",
        "errors": "2",
        "skipped": "1",
    }
    children = {
        name: [child.tag for child in case(root, name)]
        for name in ("sold", "mistaken", "unjudged", "left_out")
    }
    assert children == {
        "sold": ["system-out"],
        "mistaken": ["failure", "system-out"],
        "unjudged": ["error", "system-out", "system-err"],
        "left_out": ["skipped", "system-out"],
    }


class Largest(io.StringIO):
    """Remembers the longest text that was written at once."""

    length = 0

    def write(self, text: str) -> int:
        self.length = max(self.length, len(text))
        return super().write(text)


def test_the_document_is_written_case_by_case(tmp_path: Path) -> None:
    runs = [a_run(f"case {number}") for number in range(50)]
    log = a_log(tmp_path, [(run, a_conversation("Question?")) for run in runs])
    stream = Largest()
    WRITER.write(build_report(log), log, stream)
    assert len(stream.getvalue()) > 10 * stream.length


def test_an_independent_reader_sees_the_same(tmp_path: Path) -> None:
    xml = JUnitXml.fromstring(written(an_ordinary_log(tmp_path), "junit").encode())
    (suite,) = xml
    results = {one.name: [type(result) for result in one.result] for one in suite}
    assert results == {
        "sold": [],
        "mistaken": [Failure],
        "unjudged": [Error],
        "left_out": [Skipped],
        "cut": [Error],
        "often": [Failure],
    }
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (6, 2, 2, 1)


def test_a_case_of_several_trials_is_one_test_case_that_holds_them_all(tmp_path: Path) -> None:
    often = case(parsed(an_ordinary_log(tmp_path)), "often")
    out = often.findtext("system-out") or ""
    assert "[[PROPERTY|trials=passed failed passed]]" in out
    assert [line for line in out.splitlines() if line.startswith("── shop::often #")] != []
    assert out.count("── shop::often #") == 3
    assert "2 of 3 trials passed, 3 needed" in (often.findtext("failure") or "")
    assert often.get("time") == "4.500"


def test_model_tokens_cost_and_place_are_properties(tmp_path: Path) -> None:
    root = parsed(an_ordinary_log(tmp_path))
    properties = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert properties["model"] == "m"
    assert properties["file"] == "evals/shop.yml"
    assert properties["tokens_in"] == "80"
    assert properties["cost_usd"] == "2.0"
    lines = (case(root, "sold").findtext("system-out") or "").splitlines()
    for line in (
        "model=m",
        "tokens_in=10",
        "tokens_out=5",
        "cost_usd=0.25",
        "file=evals/shop.yml",
        "line=12",
    ):
        assert f"[[PROPERTY|{line}]]" in lines


def test_an_unknown_cost_is_said_to_be_unknown(tmp_path: Path) -> None:
    log = a_log(tmp_path, [(a_run("a", usage=Usage(cost_usd=None)), a_conversation())])
    assert "[[PROPERTY|cost_usd=unknown]]" in (case(parsed(log), "a").findtext("system-out") or "")


def test_each_model_has_a_suite_of_its_own(tmp_path: Path) -> None:
    runs = [a_run(case, model=model) for case in ("a", "b") for model in ("m", "n")]
    root = parsed(a_log(tmp_path, [(run, a_conversation()) for run in runs], models=("m", "n")))
    assert [suite.get("name") for suite in root] == ["shop [m]", "shop [n]"]
    assert [suite.get("tests") for suite in root] == ["2", "2"]
    assert root.get("tests") == "4"


def test_a_case_and_its_suite_say_their_place_where_readers_look_for_it(tmp_path: Path) -> None:
    (suite,) = root = parsed(an_ordinary_log(tmp_path))
    assert suite.get("file") == "evals/shop.yml"
    sold = case(root, "sold")
    assert (sold.get("file"), sold.get("line")) == ("evals/shop.yml", "12")
    log = a_log(tmp_path / "other", [(a_run("a", at=None), None)])
    assert set(case(parsed(log), "a").attrib) == {"name", "classname", "time"}


def test_several_models_are_told_apart_by_the_names_of_their_cases(tmp_path: Path) -> None:
    runs = [a_run("a", model=model) for model in ("m", "m+short")]
    root = parsed(a_log(tmp_path, [(one, None) for one in runs], models=("m", "m+short")))
    names = [(one.get("classname"), one.get("name")) for one in root.iter("testcase")]
    assert names == [("shop", "a [m]"), ("shop", "a [m+short]")]


def test_the_message_says_the_first_thing_to_look_at_and_the_text_where(tmp_path: Path) -> None:
    failure = case(parsed(an_ordinary_log(tmp_path)), "mistaken").find("failure")
    assert failure is not None
    assert failure.get("message") == "Expected call not found"
    assert failure.get("type") == "must_call"
    assert (failure.text or "").startswith("evals/shop.yml:12:5\n")
    assert "Say it more clearly." in (failure.text or "")


@pytest.mark.parametrize("brackets", range(2, 6))
def test_what_a_model_says_is_no_instruction_however_many_brackets_it_has(
    tmp_path: Path, brackets: int
) -> None:
    said = f"{'[' * brackets}ATTACHMENT|/etc/passwd{']' * brackets}"
    run = a_run("a", "failed", checks=(must_call("t", explanation=said),), model=said)
    text = written(
        a_log(tmp_path, [(run, a_conversation("t", answer=said, stderr=said))], models=(said,)),
        "junit",
    )
    instructions = [line for line in text.splitlines() if "[[" in line]
    assert len(instructions) == 9
    for line in instructions:
        assert re.fullmatch(r"(\s*<system-out>)?\[\[PROPERTY\|\w+=(?:(?!\[\[|\]\]).)*\]\]", line), (
            line
        )


def test_a_hostile_log_fits_the_schema(tmp_path: Path) -> None:
    parsed(a_hostile_log(tmp_path, big=False))


@given(st.text(max_size=60))
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_whatever_a_model_says_the_document_fits_the_schema(tmp_path: Path, text: str) -> None:
    (tmp_path / "log.jsonl").unlink(missing_ok=True)
    run = a_run("a", "failed", checks=(must_call("t", explanation=text),))
    parsed(a_log(tmp_path, [(run, a_conversation("t", answer=text, result=text, stderr=text))]))
