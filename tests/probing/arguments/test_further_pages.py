"""Rows of a refused call that come with a large limit: on further pages of one's own, or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.types import Check
from tests.probing.desk import CASES, found, tool
from tests.probing.test_findings import CALLED, failed, said
from tests.probing.test_findings import probed as probe_of

PEOPLE = [
    {"id": f"P-{n}", "name": f"Person {n}", "salary": 51_230 + 977 * n, "team": n % 2}
    for n in range(10)
]
NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
PAGED = {"least": NUMBER, "limit": NUMBER}
CALLS = tuple(
    Check(kind="must_call", params={"tool": "list_people", "args": args})
    for args in ({"limit": 2}, {"least": 55_000})
)
"""The second call is refused to clerks, who see no salaries."""
HINT = "if it is on a further page of their own list, add a test that lists all of it"


class Server:
    """Lists a clerk their own team, an administrator everybody, the best paid first if asked so.

    With the fault, a limit of more than 100 forgets the team.
    """

    def __init__(self, *, by_cursor: bool, faulty: bool) -> None:
        self.by_cursor, self.faulty = by_cursor, faulty

    def answer(
        self, method: str, user: Mapping[str, Any] | None, _token: str | None
    ) -> dict[str, Any]:
        if method == "tools/list":
            paged = {**PAGED, "cursor": TEXT} if self.by_cursor else PAGED
            return {"tools": [tool("list_people", paged)]}
        role, asked = (user or {}).get("role"), CALLED.arguments
        if role not in ("admin", "clerk") or ("least" in asked and role != "admin"):
            return failed("Access denied: not for you")
        most, start = asked.get("limit", 2), asked.get("cursor", "0")
        if not isinstance(most, int) or most < 1 or not str(start).isdecimal():
            return failed("limit and cursor are numbers")
        whole = role == "admin" or (self.faulty and most > 100)
        rows = [one for one in PEOPLE if whole or one["team"] == 0]
        rows = rows[::-1] if "least" in asked else rows
        shown = [{key: one[key] for key in ("id", "name", "team")} for one in rows]
        end = int(start) + most
        more = {"next_cursor": str(end)} if self.by_cursor and end < len(rows) else {}
        page = {"people": shown[int(start) : end], **more}
        return said("listed", **page)


def opened(folder: Path, server: Server) -> str:
    """Return what bent arguments open to a clerk."""
    cases = tuple(replace(case, checks=CALLS) for case in CASES)
    report = probe_of(folder, server.answer, cases=cases, damaged=True, most=2)
    return found(report, "opened_by_arguments")


@pytest.mark.slow
def test_rows_on_further_pages_of_ones_own_are_no_gain_though_another_call_is_refused(
    tmp_path: Path,
) -> None:
    assert opened(tmp_path, Server(by_cursor=True, faulty=False)) == ""


@pytest.mark.slow
def test_rows_on_no_page_of_ones_own_are_found_with_a_limit_that_forgets_the_policy(
    tmp_path: Path,
) -> None:
    assert "with 'limit' set to 1000000000" in opened(tmp_path, Server(by_cursor=True, faulty=True))


@pytest.mark.slow
@pytest.mark.parametrize("faulty", [False, True])
def test_where_further_pages_cannot_be_read_the_finding_says_how_to_state_whose_they_are(
    tmp_path: Path, faulty: bool
) -> None:
    words = opened(tmp_path, Server(by_cursor=False, faulty=faulty))
    assert "with 'limit' set to 1000000000" in words
    assert HINT in words
