"""Which tools the model confuses: cells, rates, F1, and the trials in each cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.descriptions.workbench.studies.confusion import STUDY
from tests.descriptions.workbench.benches import bench, case, measured, tool

CASES = [
    case("orders_1", must_call=["find_orders"]),
    case("orders_2", must_call=["find_orders"]),
    case("either", must_call_any=["find_orders", "find_invoices"]),
    case("nothing", only_call=[]),
    case("open", refuses=True),
]
TOOLS = [tool("find_orders"), tool("find_invoices")]


def test_each_trial_lies_in_the_cell_of_the_wanted_and_the_first_called_tool(
    tmp_path: Path,
) -> None:
    run = measured(
        tmp_path,
        (
            None,
            {
                "orders_1": [("p", "find_orders"), ("f", "find_invoices"), ("f", None)],
                "orders_2": [("f", "!find_archived_orders"), ("e", None)],
                "either": [("p", "find_invoices"), ("f", None)],
                "nothing": [("p", None), ("f", "find_orders")],
                "open": [("p", "find_orders")],
            },
        ),
    )
    result = STUDY.read(bench(CASES, TOOLS), run)
    cells = {(one["wanted"], one["called"]): one for one in result.facts["cells"]}
    assert {cell: one["count"] for cell, one in cells.items()} == {
        ("find_orders", "find_orders"): 1,
        ("find_orders", "find_invoices"): 1,
        ("find_orders", None): 2,
        ("find_orders", "find_archived_orders"): 1,
        ("find_invoices", "find_invoices"): 1,
        (None, None): 1,
        (None, "find_orders"): 1,
    }
    assert set(cells["find_orders", None]["trials"]) == {"s/orders_1/m/3", "s/either/m/2"}
    assert cells["find_orders", None]["share"] == pytest.approx(2 / 5)
    assert result.lines == (
        "find_orders → none: 2 trials (40 %)",
        "no tool → find_orders: 1 trial (50 %)",
        "find_orders → find_archived_orders: 1 trial (20 %)",
        "find_orders → find_invoices: 1 trial (20 %)",
    )
    assert result.facts["trials"] == 8  # the error and the case that leaves it open count nowhere
    # F1: orders 2·1/(5 + 2), invoices 2·1/(1 + 2), none 2·1/(2 + 3)
    assert result.facts["macro_f1"] == pytest.approx((2 / 7 + 2 / 3 + 2 / 5) / 3)
    [note] = result.notes
    assert note == "1 trial is left out: no check there says which tool is to be called first."


def test_a_confusion_is_certain_only_where_several_cases_show_it(tmp_path: Path) -> None:
    one_case = [("f", "find_invoices")] * 12
    run = measured(tmp_path, (None, {"orders_1": one_case, "orders_2": [("p", "find_orders")]}))
    [finding] = STUDY.read(bench(CASES, TOOLS), run).findings
    assert finding.text == ("find_invoices was called in 12 of 13 trials that wanted find_orders.")
    assert not finding.certain  # twelve trials of one case are one case

    cases = [case(f"orders_{number}", must_call=["find_orders"]) for number in range(12)]
    folder = tmp_path / "more"
    folder.mkdir()
    run = measured(folder, (None, {one.name: [("f", "find_invoices")] for one in cases}))
    [finding] = STUDY.read(bench(cases, TOOLS), run).findings
    assert finding.certain
    assert finding.tool == "find_orders"


def test_a_run_whose_checks_name_no_tool_says_so(tmp_path: Path) -> None:
    run = measured(tmp_path, (None, {"open": [("p", "find_orders")]}))
    result = STUDY.read(bench(CASES, TOOLS), run)
    assert result.facts["macro_f1"] is None
    assert result.headline == "No trial says which tool was wanted first."


def test_the_identities_of_a_test_make_no_confusion_more_certain(tmp_path: Path) -> None:
    wrong = {"orders_1", "orders_2"}
    names = ["orders_1", "orders_2", *(f"more {number}" for number in range(8))]
    ends = {one: [("p", "find_invoices" if one in wrong else "find_orders")] for one in names}
    for identities in ((), ("admin", "clerk", "guest", "nobody")):
        asked = [f"{one} [{who}]" for one in names for who in identities] or names
        cases = [case(one, must_call=["find_orders"]) for one in asked]
        folder = tmp_path / str(len(identities))
        folder.mkdir()
        found = STUDY.read(
            bench(cases, TOOLS), measured(folder, (None, ends), identities=identities)
        )
        [finding] = found.findings
        assert not finding.certain
