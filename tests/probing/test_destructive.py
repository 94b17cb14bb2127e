"""Calls that change something: made last, each identity in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller, name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.sessions import Session
from harness.types import Caller, Case, Check, Isolation, ServerSpec, TransportSpec
from tests.often import often

SERVER = Path(__file__).parents[1] / "end_to_end" / "policies" / "policed_server.py"
CALLS = [
    ("must_call", {"tool": "get_person", "args": {"person_id": "P-1007"}}),
    ("must_call", {"tool": "list_team", "args": {"team": "blue"}}),
    ("must_call", {"tool": "set_salary", "args": {"person_id": "P-1007", "salary": 1}}),
]


def probed(
    folder: Path, fault: str, *, destructive: bool, isolation: Isolation = "identity"
) -> ProbeReport:
    folder.mkdir(exist_ok=True)
    file = () if fault == "cached" else (str(folder / "file"),)  # kept in memory
    server = ServerSpec(
        name="people",
        transport=TransportSpec(
            command=sys.executable,
            args=("-I", "-S", str(SERVER), fault, *file),
            protocol="legacy",
        ),
        isolation=isolation,
    )
    checks = tuple(Check(kind=kind, params=params) for kind, params in CALLS)
    roles = {"admin": {"role": "admin"}, "clerk": {"role": "clerk"}, "anonymous": None}
    cases = tuple(
        Case(
            name=name,
            prompt="-",
            checks=checks,
            caller=Caller(user_context=who, identity=name, group="c"),
        )
        for name, who in roles.items()
    )
    plan = ProbePlan(
        server=server,
        callers=name_callers(cases),
        cases=cases,
        destructive=destructive,
        damaged=False,
    )
    return anyio.run(run_probe, plan, folder / "runs").report


def found(report: ProbeReport) -> set[tuple[str, str]]:
    return {(str(finding.problem), finding.words) for finding in report.findings}


@pytest.mark.slow
@pytest.mark.parametrize("fault", often(["erasing", "remembers", "first_kept", "quoting"]))
def test_with_calls_that_change_something_nothing_is_missed_that_is_found_without_them(
    tmp_path: Path, fault: str
) -> None:
    without = found(probed(tmp_path / "without", fault, destructive=False))
    assert without
    assert without <= found(probed(tmp_path / "with", fault, destructive=True))


@pytest.mark.slow
@pytest.mark.parametrize("fault", often(["cached", "first_kept"]))
def test_answers_that_are_the_same_for_all_are_held_against_those_in_processes_of_their_own(
    tmp_path: Path, fault: str
) -> None:
    report = probed(tmp_path, fault, destructive=False)
    words = {finding.words for finding in report.findings if finding.problem == "unstable"}
    call = 'get_person(person_id="P-1007")'
    before = "where admin has asked the same process before than in a process of their own"
    assert words >= {
        f"{call} gives {name} more {before}, 6 times of 6" for name in ("clerk", "anonymous")
    }
    assert report.exit_code == 1


def test_a_server_that_gives_all_callers_the_same_by_itself_mixes_nobody_up(
    tmp_path: Path,
) -> None:
    report = probed(tmp_path, "blind", destructive=False)
    assert {finding.problem for finding in report.findings} == {"unobserved"}


def test_a_server_that_lets_nobody_in_without_a_role_is_probed_as_everybody_else(
    tmp_path: Path,
) -> None:
    report = probed(tmp_path, "gated", destructive=False)
    decided = report.decisions['get_person(person_id="P-1007")']
    assert {name: one.access for name, one in decided.items()} == {
        "admin": "allowed",
        "clerk": "filtered",
        "anonymous": "denied",
    }
    assert (report.findings, report.lost, report.exit_code) == ((), (), 0)


def test_they_reach_a_server_that_can_run_only_once_at_a_time(tmp_path: Path) -> None:
    report = probed(tmp_path, "exclusive", destructive=True, isolation="none")
    assert [line for line in report.lost if "locked" in line] == []
    decided = report.decisions['set_salary(person_id="P-1007", salary=1)']
    assert decided["clerk"].access == "hidden"


@pytest.mark.slow
@pytest.mark.parametrize(("isolation", "alone"), [("identity", False), ("none", True)])
def test_callers_have_processes_of_their_own_side_by_side_where_more_than_one_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation, *, alone: bool
) -> None:
    running: set[str] = set()
    together: list[int] = []
    opens = Prober.open_own_session

    @asynccontextmanager
    async def watch(prober: Prober, caller: ProbeCaller) -> AsyncGenerator[Session]:
        async with opens(prober, caller) as session:
            running.add(caller.name)
            together.append(len(running))
            await anyio.sleep(0.3)  # the others start meanwhile, if they may
            yield session
            running.discard(caller.name)

    monkeypatch.setattr(Prober, "open_own_session", watch)
    probed(tmp_path, "blind", destructive=False, isolation=isolation)
    assert (max(together) == 1) is alone
