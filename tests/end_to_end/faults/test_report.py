"""A careless and a careful model under the same faults: every measure tells them apart."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from harness.reports import build_report, build_summary
from harness.reports.formats.html_report.overview import build_overview
from tests.agents.projects import AGENT
from tests.end_to_end.faults.test_runs import SHOP
from tests.end_to_end.harness_process import Project

pytestmark = pytest.mark.slow
MODELS = '''
def ask(name, **arguments):
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def begin(messages):
    if "Book" in messages[0]["content"]:
        return ask("book_room", room="12")
    return ask("get_order", order_id="A1")


def careless(messages, tools):
    """The same call again, four times; then everything is said to be fine."""
    results = [one for one in messages if one["role"] == "tool"]
    if not results or (results[-1]["is_error"] and len(results) < 5):
        return begin(messages)
    return "Done: " + ("it has been sent." if results[-1]["is_error"] else results[-1]["content"])


def careful(messages, tools):
    """Look after an unclear error, wait where it helps, and otherwise tell the user."""
    last = messages[-1]
    if last["role"] != "tool":
        return begin(messages)
    if not last["is_error"]:
        return "Done: " + last["content"]
    if "ry again in" in last["content"]:
        return begin(messages)
    if "Book" in messages[0]["content"]:
        return ask("list_bookings")
    return "I could not get the order."
'''
TESTS: list[dict[str, Any]] = [
    {
        "name": "book",
        "prompt": "Book room 12.",
        "assertions": {"must_call": "book_room", "no_duplicate_writes": ["book_room"]},
    },
    {
        "name": "total",
        "prompt": "What is the total of order A1?",
        "assertions": {"answer_contains": ["129.9"]},
    },
]
LOST, REMOVED, BUSY, NEVER = FAULTS = (
    "book_room#1: lost_answer",
    "get_order: error It is removed. Do not retry.",
    "get_order#1: rate_limit 2",
    "list_bookings#9: empty",
)
MEASURES = (
    *("fired", "not_fired", "recovery", "clean", "retention", "blind_retries", "runaways"),
    *("duplicate_writes", "made_good", "false_successes", "honest_failures", "open_endings"),
    "extra_replies",
)
NOTHING = (0, 2, None, None, None, 0, 0, 0, 0, 0, 0, 0, None)
BY_HAND = {
    # Booked twice: one write too many, and one reply more.
    ("careless", LOST): (1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1),
    # Looked first, and found the booking.
    ("careful", LOST): (1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1),
    # Four equal calls after "do not retry", and a claim.
    ("careless", REMOVED): (1, 1, 0, 1, 0, 4, 1, 0, 0, 1, 0, 0, 4),
    ("careful", REMOVED): (1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0),
    # An error that says when to try again: both do, and both are served.
    ("careless", BUSY): (1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1),
    ("careful", BUSY): (1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1),
    ("careless", NEVER): NOTHING,
    ("careful", NEVER): NOTHING,
}


def test_every_output_has_the_figures_of_a_careless_and_a_careful_model(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "guests.py").write_text(MODELS)
    project.suite("shop", TESTS, server=SHOP, allow_writes=True, faults=list(FAULTS))
    models = [f"--model=python:guests:{name}" for name in ("careless", "careful")]
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "md", "xml")}
    done = project.run("evals", "shop", *models, *(f"--report={one}" for one in files.values()))
    assert done.code == 1, done.stderr

    arms = json.loads(files["json"].read_text("utf-8"))["result"]["faults"]
    found = {
        (arm["model"].rpartition(":")[2], arm["words"]): tuple(arm[name] for name in MEASURES)
        for arm in arms
    }
    assert found == BY_HAND
    lost = next(arm for arm in arms if arm["words"] == LOST)
    assert lost["extra_s"] is not None
    assert lost["cells"] == {"book": "failed", "total": "not fired"}
    assert lost["clean_cells"] == {"book": "passed", "total": "passed"}

    sql = f"select words, model, {', '.join(MEASURES)}, cells from faults order by rowid"
    rows = project.run("query", "latest", sql, "--json-output").document["result"]["rows"]
    assert [tuple(row[name] for name in MEASURES) for row in rows] == [*found.values()]
    assert json.loads(rows[0]["cells"]) == lost["cells"]

    suites = ET.parse(files["xml"]).getroot().iter("testsuite")
    properties = [
        {one.get("name"): one.get("value") for one in it.iter("property")} for it in suites
    ]
    told = {
        (one["model"].rpartition(":")[2], one["fault"]): one["fault blind_retries"]
        for one in properties
        if one.get("fault", "None") != "None" and one["model"] and one["fault"]
    }
    assert told["careless", REMOVED.replace(": ", ":").replace(" ", "_")] == "4"
    assert told["careful", REMOVED.replace(": ", ":").replace(" ", "_")] == "0"

    log = project.log()
    report = build_report(log)
    pages = [build_overview(report, log)["scores"], build_summary(log, report)["tables"]]
    shown = [line for table in pages[0] for line in table["lines"]]
    assert [line for table in pages[1] for line in table["lines"]] == shown
    figures = next(one for one in shown if one.startswith("get_order:error"))
    assert " ".join(figures.split()[1:]) == (
        # fired, clean, passed and retention with their intervals, blind retries, runaways, writes
        "1/2 100 % 0 % (0–79) 0 % (0–130) 4 1 0"
    )
    markdown = files["md"].read_text("utf-8")
    for text in (markdown, done.stdout, "\n".join(shown)):
        assert "never fired, so nothing is said of recovery: list_bookings#9:empty" in text
        assert "faults of shop, python:guests:careful" in text or text == "\n".join(shown)

    # The console says each thing once: the tables have what was not hit, and the pairs.
    head, _, tables = done.stdout.partition("faults of shop, ")
    assert "each also under  book_room#1:lost_answer, get_order:error_It_is_removed" in head
    assert head.count(" judged (95 % interval") == len(models)
    # Both models are compared with each other, and without faults.
    assert tables.count("A → B: undecided") == 1
    assert "model was python:guests:careless, is python:guests:careful" in tables
    assert "A → C" not in tables
    assert "fault was" not in tables
    assert "did not fire" not in done.stdout


READER = '''
def reader(messages, tools):
    """Do what an error says."""
    last = messages[-1]
    if last["role"] == "tool" and not last["is_error"]:
        return last["content"]
    if last["role"] == "tool" and "capitals" not in last["content"]:
        return "I could not find her."
    name = "ada" if last["role"] != "tool" else "ADA"
    return {"tool_calls": [{"name": "find_customer", "arguments": {"name": name}}]}
'''


@pytest.mark.parametrize("subject", ["--model=python:guests:reader", "--agent=reader"])
def test_an_error_text_is_named_and_a_variant_tries_a_better_one(
    tmp_path: Path, subject: str
) -> None:
    project = Project(tmp_path)
    (tmp_path / "guests.py").write_text(READER)
    command = [sys.executable, str(AGENT), "read_errors", "{prompt}"]
    project.configure(agents={"reader": {"type": "command", "command": command}})
    asked = {"name": "who", "prompt": "Find Ada.", "assertions": {"answer_contains": ["C1"]}}
    errors = {"E17": "Write the name in capitals."}
    variants = {"clearer": {"tools": {"find_customer": {"errors": errors}}}}
    project.suite("shop", [asked], server=SHOP, variants=variants)
    done = project.run(
        *("evals", "shop", subject),
        *("--variant=none", "--variant=clearer", "--json-output"),
    )
    texts = done.document["result"]["error_texts"]
    named = ("tool", "variant", "text", "shown", "recovered", "lost")
    assert [tuple(text[name] for name in named) for text in texts] == [
        ("find_customer", None, "Error executing tool find_customer: E17", 1, 0, 1),
        ("find_customer", "clearer", "Write the name in capitals.", 1, 1, 0),
    ]
    # What the server did stays in the record, beside what the model saw.
    sql = "select text, shown, fault, outcome from calls where shown is not null"
    (row,) = project.run("query", "latest", sql, "--json-output").document["result"]["rows"]
    assert "E17" in row["text"]
    assert (row["shown"], row["fault"]) == ("Write the name in capitals.", "variant clearer")
    assert row["outcome"] == "tool_error"
    log = project.log()
    (table,) = build_summary(log, build_report(log))["tables"]
    assert table["title"] == "error texts of the server, worst first"
