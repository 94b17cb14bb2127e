"""Probes of `telling_server`: an administrator, an agent and nobody make every call."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.types import Caller, Case, ServerSpec, TransportSpec

SERVER = Path(__file__).with_name("telling_server.py")


def probed(folder: Path, *arguments: str) -> ProbeReport:
    """Return what a probe says of the server, started with ``arguments``."""
    server = ServerSpec(
        name="telling",
        transport=TransportSpec(command=sys.executable, args=(str(SERVER), *arguments)),
    )
    cases = tuple(
        Case(
            name=name,
            prompt="Who is C-17?",
            checks=(),
            caller=Caller(user_context={"role": name}, identity=name, group="customer"),
        )
        for name in ("admin", "agent")
    )
    plan = ProbePlan(server=server, callers=name_callers(cases), cases=cases, damaged=False)
    return anyio.run(run_probe, plan, folder / "runs").report
