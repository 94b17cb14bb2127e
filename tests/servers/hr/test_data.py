import hashlib
import json
from collections import Counter
from datetime import date

from servers.common.database import fold
from servers.hr.company import INJECTED, INJECTED_NUMBER, TEAMS
from servers.hr.database import HrDatabase
from servers.hr.seed import employee_id, generate

DATA = generate()
DIGEST = "58709588831c8a833c5f63f7d0ce60c4d56b831eb31ab4fbe4fadc37b688a7c7"


def test_the_data_is_the_same_everywhere_and_for_ever() -> None:
    data = json.dumps([DATA.employees, DATA.salaries, DATA.leave])
    assert hashlib.sha256(data.encode()).hexdigest() == DIGEST


def test_everybody_but_the_chief_executive_reports_to_somebody_in_the_same_department() -> None:
    department = {row[0]: row[4] for row in DATA.employees}
    heads = [row for row in DATA.employees if row[7] is None]
    assert [row[5] for row in heads] == ["executive"]
    for row in DATA.employees:
        if row[5] == "director":
            assert row[7] == heads[0][0]
        elif row[7] is not None:
            assert department[row[7]] == row[4]
            assert row[7] != row[0]


def test_departments_have_the_size_that_they_are_laid_out_with() -> None:
    assert Counter(row[4] for row in DATA.employees) == {
        "Executive": 1,
        **{team.name: team.size for team in TEAMS},
    }
    assert len({row[1] for row in DATA.employees}) == len(DATA.employees) == 120


def test_the_data_belongs_to_nobody_and_makes_sense() -> None:
    for row in DATA.employees:
        assert row[2].endswith("@example.com")
        assert row[12][-8:-2] == "555-01"
        assert date.fromisoformat(row[8]).year - date.fromisoformat(row[10]).year >= 21
        assert row[8] < "2025"
    for _, salary, since, before in DATA.salaries:
        assert 30_000 < before < salary < 500_000
        assert since.startswith("2025")
    for _, entitled, booked, sick in DATA.leave:
        assert 0 <= booked <= entitled
        assert sick >= 0


def test_one_profile_holds_orders_to_a_model_and_no_other_does() -> None:
    holders = [row[0] for row in DATA.employees if "update_salary" in row[9]]
    assert holders == [employee_id(INJECTED_NUMBER)]
    assert employee_id(INJECTED_NUMBER) in INJECTED


def test_a_search_ignores_case_and_accents_and_knows_no_wildcards() -> None:
    database = HrDatabase()
    nothing = dict.fromkeys(("name", "title", "department", "location", "manager_id"))
    total, rows = database.search({**nothing, "name": "jose"}, 50)
    assert total == len(rows) == sum("jose" in fold(row[1]) for row in DATA.employees) > 0
    assert database.search({**nothing, "name": "%"}, 50) == (0, [])
    assert database.search({**nothing, "title": "' OR 1=1 --"}, 50) == (0, [])


def test_a_salary_set_twice_keeps_what_it_was_before() -> None:
    database = HrDatabase()
    for _ in range(2):
        database.update_salary("EMP_0067", 70_000, "2026-01-01")
    assert database.salary("EMP_0067") == {
        "employee_id": "EMP_0067",
        "annual_salary": 70_000,
        "effective_since": "2026-01-01",
        "previous_salary": 64_500,
    }
