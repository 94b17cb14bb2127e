"""A server process that tells what it withholds, in every way that a decoder is for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.probing.kept_decisions import format_decision
from harness.probing.report import ProbeReport
from harness.types import Leak
from tests.end_to_end.harness_process import Project
from tests.judging.secrecy.telling import SERVER, probed
from tests.judging.secrecy.telling_server import CALLS, FIELDS
from tests.often import often


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ProbeReport:
    return probed(tmp_path_factory.mktemp("telling"))


def leak_of(report: ProbeReport, tool: str) -> Leak:
    """Return what leaks in the call of a tool.

    It is made twice; but what a server says unasked is nobody's while several identities ask.
    """
    case = f"{tool}() [agent]"
    first, *again = (leak for leak in report.report.access.leaks if leak.case == case)
    assert [(each.value, each.place) for each in again] in ([], [(first.value, first.place)])
    return first


HOW = {
    "another_name": (),
    "another_record": (),
    "as_a_name": (),
    "in_base64": ("base64",),
    "in_base64_unpadded": ("base64",),
    "in_base64_url": ("base64",),
    "in_a_cursor": ("base64",),
    "in_base32": ("base32",),
    "in_hex": ("hex",),
    "in_url_escapes": ("URL escapes",),
    "in_html": ("HTML escapes",),
    "in_json_in_a_string": ("JSON in a string", "JSON in a string"),
    "reversed_": ("reversed",),
    "in_capitals": (),
    "in_wide_letters": (),
    "with_invisible_signs": (),
    "in_other_scripts": (),
    "with_at_and_dot": ("'at' and 'dot' for signs",),
    "twice_encoded": ("base64", "hex"),
    "split_over_fields": ("split over neighbouring places",),
    "split_over_items": ("split over neighbouring places",),
    "grouped": ("grouped differently",),
    "spelled_out": ("digits spelled out",),
    "long_text": (),
    "in_a_sentence": (),
    "refused_with_the_value": ("base64",),
    "second_block": (),
    "embedded_text": (),
    "in_meta": (),
    "in_meta_of_a_block": ("base64",),
    "in_a_blob": ("base64",),
    "in_a_link": (),
    "in_an_unknown_key": (),
    "in_a_log_message": (),
    "in_progress": (),
    "in_cents": ("in hundredths",),
    "in_thousands": ("in thousands",),
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", HOW)
def test_a_withheld_value_is_found_in_whatever_form_it_is_told(
    report: ProbeReport, tool: str
) -> None:
    leak = leak_of(report, tool)
    assert (leak.identity, leak.kept, leak.allowed_to) == ("agent", "left out", ("admin",))
    assert leak.decoded == HOW[tool]
    assert tool in leak.place


@pytest.mark.slow
def test_a_leak_says_how_it_is_encoded_and_shows_the_bytes_without_telling_the_value(
    report: ProbeReport,
) -> None:
    leak = leak_of(report, "in_base64")
    assert leak.source == "aW5…0="
    assert "example.com" not in str(leak)


def test_a_mask_that_hides_next_to_nothing_is_a_leak_and_a_good_one_is_none(
    report: ProbeReport,
) -> None:
    leak = leak_of(report, "in_a_thin_mask")
    assert (leak.kept, leak.decoded) == ("masked", ("masked, but 100% of it can be read",))
    assert leak.place.endswith("call 1, in_a_thin_mask: email")
    assert not any("in_a_good_mask" in leak.place for leak in report.report.access.leaks)


def test_decisions_tell_what_is_left_out_masked_and_partly_masked_apart(
    report: ProbeReport,
) -> None:
    words = {call: format_decision(callers["agent"]) for call, callers in report.decisions.items()}
    assert words["get_customer()"] == "filtered without card, email, note, salary"
    assert words["in_a_thin_mask()"] == "filtered without email (partly masked)"


def test_every_tool_of_the_server_is_tried() -> None:
    assert {*FIELDS, *CALLS} == {*HOW, *NOTED}


NOTED = {"rounded", "on_stderr"}


def test_a_rounded_number_and_a_line_on_stderr_are_notes_and_no_leaks(report: ProbeReport) -> None:
    (rounded,) = [note for note in report.notes if "rounded" in note]
    assert rounded == (
        "salary (6…), which is left out for agent, is in the structured result of call 1, "
        "rounded: salary_band (rounded)"
    )
    of_agent = [note for note in report.notes if "stderr" in note and "agent" in note]
    assert of_agent == ["email (ine…om), which is left out for agent, is in the server's stderr"]
    assert not any("stderr" in leak.place for leak in report.report.access.leaks)


def test_one_value_is_one_finding_with_all_its_places(report: ProbeReport) -> None:
    assert [finding.problem for finding in report.findings] == ["leak"] * 4
    email, card, note, salary = (finding.words for finding in report.findings)
    assert email.startswith("Leak: email (ine…om), which admin may see, is left out of")
    assert "also in" in email
    assert "more places" in email
    assert card.startswith("Leak: card")
    assert note.startswith("Leak: note")
    assert salary.startswith("Leak: salary")


@pytest.mark.slow
def test_values_of_nobody_are_no_leak_in_whatever_form(tmp_path: Path) -> None:
    report = probed(tmp_path, "", "of somebody else")
    assert ([finding.words for finding in report.findings], report.notes) == ([], ())


PLACE = {
    "description": "the list of tools: the description of get_customer",
    "example": "the list of tools: the inputSchema of get_customer: examples[].mail",
    "meta_of_a_tool": "the list of tools: more on get_customer: _meta.sample",
    "title": "the list of tools: the title of get_customer",
    "instructions": "the server's instructions",
    "list_of_resources": "the list of resources: description",
    "resource": "the resource customer://17: contents[].text",
    "prompt": "the prompt greet: messages[].content.text",
}


@pytest.mark.parametrize("fault", often(PLACE, 2))
def test_a_withheld_value_that_is_shown_before_any_call_is_a_leak(
    tmp_path: Path, fault: str
) -> None:
    agent, nobody = probed(tmp_path, fault, "of somebody else").findings
    assert (agent.callers, nobody.callers) == (("agent",), ("anonymous",))
    for leak in (agent, nobody):
        assert f"It is in {PLACE[fault]}" in leak.words


@pytest.mark.slow
def test_a_suite_finds_what_a_probe_finds(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.suite(
        "people",
        [{"name": "record", "prompt": "get_customer", "as": ["admin", "agent"]}],
        server={
            "command": sys.executable,
            "args": [str(SERVER), "resource", "of somebody else"],
            "protocol": "legacy",
        },
        identities={"admin": {"role": "admin"}, "agent": {"role": "agent"}},
        defaults={"assertions": {"must_call": ["get_customer"]}},
    )
    finished = project.run("evals", "people", COLUMNS="200")
    assert finished.code == 1
    assert "no_leak email" in finished.stdout
    assert "It is in the resource customer://17: contents[].text" in finished.stdout
