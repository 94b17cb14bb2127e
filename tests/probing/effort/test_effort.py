"""A probe says how far it is, can be narrowed, and spends a budget on the likeliest holes first."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base import UsageError
from harness.judging.exit_codes import exit_code
from harness.probing.callers import name_callers
from harness.probing.effort.budget import Effort, ProbeBudget
from harness.probing.effort.narrowing import Narrowing
from harness.probing.findings import read_probe
from harness.probing.prober import ProbeOutcome, ProbePlan, run_probe
from harness.reports.build import build_report
from harness.types import IdentitySpec, ServerSpec, TransportSpec
from tests.probing.test_findings import printed, serving
from tests.probing.test_shared_values import ATTACK, Shelf, suite

CLOSED = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params") or {}
    role = (params.get("_meta", {}).get("harness/user_context") or {}).get("id")
    found = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
             "serverInfo": {"name": "closed", "version": "1"}}
    if asked.get("method") == "tools/list":
        found = {"tools": [{"name": "read_report", "annotations": {"readOnlyHint": True},
                            "inputSchema": {"type": "object", "properties": {}}}]}
    elif asked.get("method") == "tools/call":
        words = "Open from nine to five" if role == "alice" else "Access denied"
        found = {"content": [{"type": "text", "text": words}], "isError": role != "alice"}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": found}), flush=True)
"""
"""A server over stdio that serves alice alone."""
CASES = suite("read_report", {"path": ATTACK}, {"path": "/srv/reports/hours.txt"})


def probed(
    folder: Path, shelf: Shelf, told: list[str] | None = None, **options: Any
) -> ProbeOutcome:
    """Probe a shelf with options of the plan; ``told`` gets the lines on its progress."""
    with serving(shelf.answer) as url:
        spec = ServerSpec(
            name="shelf",
            transport=TransportSpec(url=url, kind="http", protocol="2026-07-28"),
            identity=IdentitySpec(),
        )
        plan = ProbePlan(server=spec, callers=name_callers(CASES), cases=CASES)
        tell = None if told is None else told.append
        outcome = anyio.run(run_probe, replace(plan, **options), folder / "runs", tell)
    assert replace(read_probe(outcome.log), report=outcome.report.report) == outcome.report
    assert exit_code(build_report(outcome.log)) == outcome.report.exit_code
    return outcome


def made(outcome: ProbeOutcome) -> list[Any]:
    """Return the trials of the log that made a call."""
    return [one for one in outcome.log.results if "probe" in one.case.metadata]


@pytest.mark.parametrize("most", [1, 30, 70])
def test_no_more_is_asked_than_the_budget_has_and_the_rest_is_said(
    tmp_path: Path, most: int
) -> None:
    outcome = probed(tmp_path, Shelf(), budget=ProbeBudget(calls=most))
    assert len(made(outcome)) <= most
    assert outcome.report.unasked
    text = printed(outcome.report)
    assert f"left unasked, since the budget was spent (--max-calls {most})" in text
    assert "No problem was found" not in text
    # Without a finding, what is not asked is not in order.
    assert outcome.report.exit_code in (1, 4)


def test_time_is_a_budget_too(tmp_path: Path) -> None:
    outcome = probed(tmp_path, Shelf(), budget=ProbeBudget(minutes=1e-6))
    assert made(outcome) == []
    assert "each call as each of the suite's identities" in outcome.report.unasked


def test_the_likeliest_holes_come_first(tmp_path: Path) -> None:
    shelf = Shelf("read_notes")
    everything = len(made(probed(tmp_path / "all", shelf)))
    outcome = probed(tmp_path / "some", shelf, budget=ProbeBudget(calls=everything // 4))
    assert "unchecked_value" in {one.problem for one in outcome.report.findings}
    assert outcome.report.exit_code == 1


def test_a_budget_that_is_large_enough_leaves_nothing_out(tmp_path: Path) -> None:
    full = probed(tmp_path / "all", Shelf("read_notes"))
    wide = probed(tmp_path / "wide", Shelf("read_notes"), budget=ProbeBudget(calls=100_000))
    assert wide.report.unasked == {}
    assert wide.report.findings == full.report.findings


def test_findings_are_told_while_the_probe_goes_on(tmp_path: Path) -> None:
    told: list[str] = []
    outcome = probed(tmp_path, Shelf("read_notes"), told)
    assert told[0].startswith("Probe as ")
    steps = [line.rpartition(": ")[2] for line in told if " so far: " in line]
    assert "forged calls" in steps or "values known from elsewhere" in steps
    early = [place for place, line in enumerate(told) if line.startswith("✗ so far: unexpected")]
    assert early
    assert early[0] < len(told) - 1
    assert outcome.report.findings


def test_a_step_that_takes_long_says_from_time_to_time_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    moments = iter((100.0, 100.0, 101.0, 104.0, 106.0, 107.0))
    monkeypatch.setattr("time.monotonic", lambda: next(moments))
    effort = Effort(tell=told.append)
    effort.begin_step("forged calls")
    for _ in range(4):
        effort.count_call()
    assert told == [
        "0 s, 0 calls, no finding so far: forged calls",
        "6 s, 3 calls, no finding so far: forged calls",
    ]


def test_a_probe_of_one_tool_calls_no_other(tmp_path: Path) -> None:
    outcome = probed(tmp_path, Shelf("read_notes"), narrowing=Narrowing(tools=("*_notes",)))
    assert {one.case.metadata["probe"]["tool"] for one in made(outcome)} == {"read_notes"}
    with pytest.raises(UsageError, match="no tool 'read_nots'"):
        probed(tmp_path, Shelf(), narrowing=Narrowing(tools=("read_nots",)))


def test_a_probe_as_one_identity_asks_as_the_others_only_to_compare(tmp_path: Path) -> None:
    outcome = probed(tmp_path, Shelf(), narrowing=Narrowing(identities=("alice",)))
    facts = [(one.case.identity, one.case.metadata["probe"]) for one in made(outcome)]
    assert {name for name, fact in facts if "shared" in fact or "forged" in fact} == {"alice"}
    # One that is made from both is hers, too.
    assert all("alice" in " ".join(fact["bases"]) for _, fact in facts if fact["bases"])
    assert "bobby" in {name for name, _ in facts}
    text = printed(replace(outcome.report, findings=()))
    assert "Nothing was found in the part that --identity alice leaves" in text
    assert "No problem was found" not in text


def test_a_probe_of_one_kind_makes_the_regular_calls_and_that_kind(tmp_path: Path) -> None:
    outcome = probed(tmp_path, Shelf(), narrowing=Narrowing(kinds=("values",)))
    facts = [one.case.metadata["probe"] for one in made(outcome)]
    assert any("shared" in fact for fact in facts)
    assert not any("forged" in fact or fact["bases"] for fact in facts)


@pytest.mark.slow
def test_only_who_was_given_something_asks_again_in_a_process_of_their_own(tmp_path: Path) -> None:
    transport = TransportSpec(command=sys.executable, args=("-c", CLOSED), protocol="legacy")
    spec = ServerSpec(name="closed", transport=transport, identity=IdentitySpec())
    plan = ProbePlan(server=spec, callers=name_callers(CASES), cases=CASES, damaged=False)
    outcome = anyio.run(run_probe, plan, tmp_path / "runs")
    alone = [one for one in made(outcome) if "alone" in one.case.metadata["probe"]]
    # A start of a server costs more than all its calls, and bobby was given nothing at all.
    assert {one.case.identity for one in alone} == {"alice"}
