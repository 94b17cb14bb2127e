"""A server whose first answers differ because it has only just started: no fault of its policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.probing.report import ProbeReport
from harness.types import Caller, Case
from tests.often import often
from tests.probing.test_findings import CALLED, READ, failed, printed, said
from tests.probing.test_findings import probed as probe_of

CASES = tuple(
    Case(
        name=name, prompt="-", checks=(), caller=Caller(user_context={"role": name}, identity=name)
    )
    for name in ("admin", "clerk")
)
PERSON = {"id": "P-1", "name": "Ines Okafor", "phone": "+351 912 555 014", "email": "ines@x.org"}
SEARCH = {**READ, "name": "search"}


class Server:
    """Administrators see a person with the address, clerks without, nobody else anything.

    The first ``calls`` of each tool come out in the way that ``cold`` says, for whoever makes them;
    with ``each``, the first ones of each caller.
    """

    def __init__(self, cold: str, calls: int, *, each: bool = False) -> None:
        self.cold, self.calls, self.each = cold, calls, each
        self.asked: Counter[object] = Counter()

    def answer(
        self, method: str, user: Mapping[str, Any] | None, _token: str | None
    ) -> dict[str, Any]:
        tools = {"tools": [READ, SEARCH]}
        tool = "list" if method == "tools/list" else CALLED.tool
        asked = (tool, str(user)) if self.each else tool
        self.asked[asked] += 1
        is_cold = self.asked[asked] <= self.calls
        if method == "tools/list":
            return {"tools": [READ]} if is_cold and self.cold == "list" else tools
        role = (user or {}).get("role")
        if role not in ("admin", "clerk"):
            return failed("Access denied: administrators and clerks only")
        if is_cold and self.cold == "error":
            return failed("the index is being built")
        is_open = is_cold and self.cold == "open"
        left_out = {"email"} if role == "clerk" and not is_open else set()
        left_out |= {"phone", "name"} if is_cold and self.cold == "fewer" else set()
        if is_cold and self.cold == "empty":
            return said("[]", people=[])
        shown = {key: value for key, value in PERSON.items() if key not in left_out}
        return said(str(shown), people=[shown])


def probed(folder: Path, server: Server) -> ProbeReport:
    return probe_of(folder, server.answer, cases=CASES, damaged=True, most=2)


@pytest.mark.parametrize("cold", often(["fewer", "error", "empty", "list"]))
@pytest.mark.parametrize(("calls", "each"), often([(2, True), (1, False), (2, False), (1, True)]))
def test_a_server_that_warms_up_has_no_finding(
    tmp_path: Path, cold: str, calls: int, *, each: bool
) -> None:
    report = probed(tmp_path, Server(cold, calls, each=each))
    assert report.findings == (), printed(report)


@pytest.mark.slow
def test_first_answers_that_give_more_than_the_next_are_found(tmp_path: Path) -> None:
    report = probed(tmp_path, Server("open", 1, each=True))
    assert ("leak", ("clerk",)) in {(one.problem, one.callers) for one in report.findings}
    assert report.decisions["read()"]["clerk"].access == "filtered"


@pytest.mark.slow
def test_what_is_asked_to_warm_up_decides_nothing(tmp_path: Path) -> None:
    report = probed(tmp_path, Server("error", 1, each=True))
    told = {name: one.access for name, one in report.decisions["read()"].items() if ":" not in name}
    assert told == {"admin": "allowed", "clerk": "filtered", "anonymous": "denied"}
    assert (report.silent, report.lost, report.exit_code) == ({}, (), 0)
