"""What a desk gives away for arguments of other types, beyond bounds, and under other names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.probing.report import ProbeReport
from tests.probing.desk import RECORDS, Desk, found, probed
from tests.probing.test_findings import CALLED, failed

BY_NAME = {one["name"]: key for key, one in RECORDS.items()}


class Careless(Desk):
    """Lets many unusual arguments pass, and has an older tool that nobody is shown."""

    def opens(self, arguments: Mapping[str, Any]) -> bool:
        asked = arguments.get("record_id")
        return (
            isinstance(asked, list | dict)
            or asked in BY_NAME
            or ("team" in arguments and arguments["team"] is None)
            or isinstance(arguments.get("limit"), str)
            or (arguments.get("filter") or {}).get("at_least", 0) < 0
            or arguments.get("sort") == "salary"
            or arguments.get("cursor") == "-1"
            or "skip_policy" in (CALLED.params.get("_meta") or {})
        )

    def asked(self, given: Any) -> str:
        if isinstance(given, list):
            return str(given[0]) if given else ""
        if isinstance(given, dict):
            return "R-1" if "$ne" in given else ""
        return BY_NAME.get(given, "") or super().asked(given)

    def missing(self, given: Any) -> dict[str, Any]:
        near = next((one for key, one in RECORDS.items() if key in str(given)), None)
        return failed(f"Did you mean {near['email']}?" if near else "There is no such record")

    def called(self, role: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
        if CALLED.tool == "legacy_get_record":
            CALLED.tool, role = "get_record", "admin"
        return super().called(role, arguments)


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory) -> ProbeReport:
    return probed(tmp_path_factory.mktemp("careless"), Careless())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "with a list with it alone as 'record_id'",
        "with a condition of MongoDB as 'record_id'",
        "with another value of its record as 'record_id'",
        "with one letter more behind 'record_id'",
        "with null as 'team'",
        "with a number as text as 'limit'",
        "with filter.at_least set to -1",
        "with the withheld field 'salary' as 'sort'",
        "with the made-up cursor '-1'",
        "with flags in _meta of the request",
        "under the name 'legacy_get_record'",
    ],
)
def test_what_an_unusual_call_opens_is_found(careless: ProbeReport, words: str) -> None:
    assert words in found(careless, "opened_by_arguments")


class Ending(Desk):
    """Hangs up on whatever is no text, as a server does that ends."""

    def called(self, role: str | None, arguments: dict[str, Any]) -> Any:
        if not isinstance(arguments.get("record_id", ""), str):
            return None
        return super().called(role, arguments)


@pytest.mark.slow
def test_a_server_that_ends_on_an_argument_of_another_type_is_no_finding(tmp_path: Path) -> None:
    report = probed(tmp_path, Ending())
    assert (report.findings, report.lost, report.exit_code) == ((), (), 0)
