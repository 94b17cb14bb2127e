"""Consent gates that a probe tries: ten broken ones and two more, and a sound one."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn

from harness.cli.probe_output import format_lines
from harness.probing.callers import name_callers
from harness.probing.consent.gate_answers import WORDS
from harness.probing.effort.narrowing import Kind, Narrowing
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.types import (
    Caller,
    Case,
    Check,
    IdentitySpec,
    Protocol,
    ScriptedCall,
    ServerSpec,
    TransportSpec,
)
from tests.clock import BOUND_S, PATIENT_S
from tests.probing.consent.clinic_server import FAULTS, Clinic

SERVER = str(Path(__file__).with_name("clinic_server.py"))
USERS: dict[str, Any] = {
    "senior": {"role": "doctor", "senior": True},
    "doctor": {"role": "doctor"},
    "clerk": {"role": "clerk"},
}
TOOL = "delete_patient"


def build_cases(patient: str, *, declares: bool = True) -> tuple[Case, ...]:
    """Return cases that list, delete, and say that clerks may not."""
    calls = [("list_patients", {}), ("list_requests", {}), (TOOL, {"patient_id": patient})]
    checks = [Check(kind="must_call", params={"tool": tool, "args": args}) for tool, args in calls]
    own = {
        "clerk": [Check(kind="decision", params={"tool": TOOL, "is": ["denied"], "args": {}})],
        "doctor": [Check(kind="must_elicit", params={"tool": TOOL})] if declares else [],
    }
    return tuple(
        Case(
            name=name,
            prompt="-",
            checks=(*checks, *own.get(name, ())),
            caller=Caller(user_context=who, identity=name),
        )
        for name, who in USERS.items()
    )


def probe(
    folder: Path,
    server: ServerSpec,
    patient: str,
    *,
    destructive: bool = True,
    declares: bool = True,
    kinds: tuple[Kind, ...] = ("consent",),
    users: tuple[str, ...] = tuple(USERS),
) -> ProbeReport:
    every = build_cases(patient, declares=declares)
    cases = tuple(case for case in every if case.name in users)
    plan = ProbePlan(
        server=server,
        callers=name_callers(cases),
        cases=cases,
        destructive=destructive,
        damaged=False,
        narrowing=Narrowing(kinds=kinds),
    )
    return anyio.run(run_probe, plan, folder / "runs").report


def spec(fault: str, protocol: Protocol, *, over_http: bool = False) -> ServerSpec:
    env = {"FAULT": fault, **({"PORT": "{port}"} if over_http else {})}
    web: dict[str, Any] = {"kind": "http", "url": "http://127.0.0.1:{port}/mcp"}
    transport = TransportSpec(
        command=sys.executable,
        args=(SERVER,),
        env=env,
        protocol=protocol,
        **(web if over_http else {}),
    )
    return ServerSpec(name="clinic", transport=transport, identity=IdentitySpec(via="meta"))


def list_gate_findings(report: ProbeReport) -> list[str]:
    kinds = ("consent_gate", "secret_asked")
    return [one.words for one in report.findings if one.problem in kinds]


@contextmanager
def serving(clinic: Clinic) -> Iterator[ServerSpec]:
    """Serve ``clinic`` over HTTP in this process; a tool resets it before each loan."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(clinic.server.streamable_http_app(), log_level="error"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield ServerSpec(
            name="clinic",
            transport=TransportSpec(url=f"http://127.0.0.1:{port}/mcp", kind="http"),
            reset=ScriptedCall(tool="start_over", arguments={}),
            identity=IdentitySpec(via="meta"),
            start_timeout_s=PATIENT_S,
        )
    finally:
        server.should_exit = True
        thread.join(BOUND_S)


def print_lines(report: ProbeReport) -> str:
    return "\n".join(line for line, _ in format_lines(report, [], [], 120))


def test_a_broken_gate_is_found_and_named_in_all_outputs(tmp_path: Path) -> None:
    clinic = Clinic("asks_after", 1)
    with serving(clinic) as server:
        report = probe(tmp_path, server, clinic.known[0])
    words = (
        f'delete_patient(patient_id="{clinic.known[0]}") as senior, doctor: {FAULTS["asks_after"]}'
    )
    assert list_gate_findings(report) == [words]
    assert report.exit_code == 1
    assert f"✗ {words}" in print_lines(report)
    failed = [
        check.code
        for run in report.report.results
        for check in run.checks
        if check.verdict == "failed"
    ]
    assert failed == ["consent_gate"]


def test_a_gate_that_is_not_tried_is_named_and_the_server_is_not_found_in_order(
    tmp_path: Path,
) -> None:
    clinic = Clinic("", 1)
    with serving(clinic) as server:
        report = probe(tmp_path, server, clinic.known[0], destructive=False, kinds=())
    assert report.gates == {}
    told = print_lines(report)
    assert "? not tried: the consent gate of delete_patient: it was not called" in told
    assert "No problem was found" not in told


def test_a_tool_that_asks_nobody_costs_one_call_more(tmp_path: Path) -> None:
    clinic = Clinic("no_gate", 1)
    with serving(clinic) as server:
        report = probe(tmp_path, server, clinic.known[0], declares=False)
    tried = [run for run in report.report.results if "gate" in run.case.metadata.get("probe", {})]
    assert [run.case.metadata["probe"]["tool"] for run in tried] == ["delete_patient"]
    assert (report.gates, report.gates_not_tried, list_gate_findings(report)) == ({}, (), [])


@pytest.mark.slow
def test_each_broken_gate_is_found_and_a_sound_one_is_silent(tmp_path: Path) -> None:
    clinic = Clinic("", 1)
    found: dict[str, list[str]] = {}
    with serving(clinic) as server:
        for fault in ("", *FAULTS):
            clinic.fault = fault
            report = probe(tmp_path / (fault or "sound"), server, clinic.known[0])
            found[fault] = list_gate_findings(report)
    assert found.pop("") == []
    told = {fault: sum(FAULTS[fault] in line for line in lines) for fault, lines in found.items()}
    assert told == dict.fromkeys(FAULTS, 1)
    # Who is spared the question is spared it by a client that cannot ask, too.
    assert {fault for fault, lines in found.items() if len(lines) > 1} == {"spares_seniors"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "over_http"), [("2026-07-28", False), ("legacy", False), ("legacy", True)]
)
def test_gates_are_tried_over_each_transport_and_in_both_eras(
    tmp_path: Path, protocol: Protocol, *, over_http: bool
) -> None:
    server = spec("takes_back", protocol, over_http=over_http)
    report = probe(tmp_path, server, Clinic("", 1).known[0], users=("doctor",))
    assert report.gates == {TOOL: [*WORDS.values()]}
    [found] = list_gate_findings(report)
    assert FAULTS["takes_back"] in found


@pytest.mark.slow
def test_a_sound_gate_is_silent_over_a_hundred_seeds_of_data(tmp_path: Path) -> None:
    clinic = Clinic("", 0)
    alarms: list[str] = []
    with serving(clinic) as server:
        for seed in range(100):
            clinic.seed = seed
            clinic.reset()
            folder, users = tmp_path / str(seed), ("doctor", "clerk")
            report = probe(folder, server, clinic.known[0], users=users)
            alarms += [finding.words for finding in report.findings]
            assert report.gates.keys() == {TOOL}
            assert report.gates_not_tried == ()
    assert alarms == []
