"""What can be concluded from the answers of the planted clinic is found by altering its data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.warm import warm_python
from tests.proofs.planted.data import altered, make
from tests.proofs.planted.measure import asked, probed


def test_one_value_is_altered_and_nothing_else() -> None:
    before = make(1)
    after = altered(before, "P-1002.balance=20000.25")
    expected = {**before.patients["P-1002"], "balance": 20_000.25}
    assert after.patients == {**before.patients, "P-1002": expected}
    assert (after.staff, after.invoices) == (before.staff, before.invoices)


def test_a_patient_is_taken_away_with_all_invoices() -> None:
    before = make(1)
    after = altered(before, "-P-1005")
    assert before.patients.keys() - after.patients.keys() == {"P-1005"}
    gone = before.invoices.keys() - after.invoices.keys()
    assert {before.invoices[one]["patient_id"] for one in gone} == {"P-1005"}
    assert all(one["patient_id"] != "P-1005" for one in after.invoices.values())


@pytest.mark.parametrize("change", ["P-9.balance=1", "P-1002.blance=1", "-P-9", "P-1002.balance=x"])
def test_what_cannot_be_altered_is_refused(change: str) -> None:
    with pytest.raises(ValueError, match=r"nothing to alter|could not convert"):
        altered(make(1), change)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "found"), [(None, False), ("order_always", True), ("average_balance", True)]
)
def test_only_a_clinic_whose_answers_depend_on_a_withheld_value_is_found(
    fault: str | None, found: bool, tmp_path: Path
) -> None:
    suite = asked(("a_record", "all_patients", "a_ward"), ("balance",))
    report = probed(fault, tmp_path, damaged=False, python=warm_python(), suite=suite)
    problems = {str(finding.problem) for finding in report.findings}
    assert problems == ({"interference"} if found else set())
    assert not report.lost
