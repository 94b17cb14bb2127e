"""One value of a built-in server's data, altered at the start."""

from __future__ import annotations

import pytest

from servers.common.errors import CannotStart
from servers.data_governance.database import CustomerDatabase
from servers.hr.database import HrDatabase


def test_the_named_value_is_another_and_nothing_else_is() -> None:
    altered = HrDatabase({"HARNESS_ALTER": "salaries.EMP_0042.annual_salary=171500"})
    plain = HrDatabase()
    for number in range(1, 121):
        ours, theirs = (each.salary(f"EMP_{number:04}") for each in (altered, plain))
        if number == 42:
            assert (ours["annual_salary"], theirs["annual_salary"]) == (171_500, 130_000)
            ours = ours | {"annual_salary": theirs["annual_salary"]}
        assert ours == theirs


def test_a_text_may_have_any_characters() -> None:
    given = {"HARNESS_ALTER": "customers.CUST_00042.address=1 'A=B' St.; x, \"y\""}
    customer = CustomerDatabase(environ=given).customer("CUST_00042")
    assert customer is not None
    assert customer["address"] == "1 'A=B' St.; x, \"y\""


@pytest.mark.parametrize(
    "given",
    [
        "salaries.EMP_0042.annual_salary=130000",  # it is that already
        "salaries.EMP_9999.annual_salary=1",
        "salaries.EMP_0042.bonus=1",
        "salaries.EMP_0042.employee_id=EMP_0001",
        "wages.EMP_0042.annual_salary=1",
    ],
)
def test_a_value_that_does_not_change_ends_the_start_with_a_message(given: str) -> None:
    with pytest.raises(CannotStart, match="HARNESS_ALTER alters nothing"):
        HrDatabase({"HARNESS_ALTER": given})


def test_a_value_that_is_not_named_well_ends_the_start_with_a_message() -> None:
    with pytest.raises(CannotStart, match=r"TABLE\.KEY\.COLUMN=VALUE, and is 'EMP_0042=1'"):
        HrDatabase({"HARNESS_ALTER": "EMP_0042=1"})
