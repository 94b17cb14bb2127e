"""What a probe of the clinic finds, with one fault or none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio

from benchmarks.planted.faults import FAULTS
from benchmarks.planted.faults.fault import Fault
from harness.checks import VOCABULARY
from harness.probing.callers import named_callers
from harness.probing.findings import read_probe
from harness.probing.probe import ProbePlan, probe
from harness.probing.report import ProbeReport
from harness.suites.readers import read_suite
from harness.types import Case, IdentitySpec, ServerSpec, TransportSpec

SUITE = Path(__file__).with_name("clinic.yml")
"""The suite that is asked with."""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Found:
    """What the probe says of the clinic."""

    problems: tuple[str, ...]
    """The kinds of problems that it found."""
    first: str
    """The words of the first finding; empty if there is none."""
    notes: int
    """How many notes it made, which fail nothing."""
    calls: int
    """How many calls were judged."""

    @property
    def by_itself(self) -> bool:
        """Whether it was found without anybody saying what is right."""
        return bool(set(self.problems) - {"unexpected"})


def probed(
    fault: str | None,
    folder: Path,
    *,
    seed: int = 1,
    damaged: bool = True,
    destructive: bool = False,
    python: str = sys.executable,
    cases: Sequence[Case] | None = None,
    transport: Literal["stdio", "http"] | None = None,
) -> ProbeReport:
    """Return what the probe says of the clinic with a fault, or of the sound one.

    Its log goes below ``folder``.
    """
    cases = tuple(read_suite(SUITE, VOCABULARY).cases if cases is None else cases)
    http = (fault is not None and FAULTS[fault].http) if transport is None else transport == "http"
    arguments = ["-m", "benchmarks.planted.server", "--seed", str(seed)]
    arguments += ["--fault", fault] if fault else []
    server = ServerSpec(
        name="clinic",
        transport=TransportSpec(
            command=python,
            args=(*arguments, "--port", "{port}") if http else tuple(arguments),
            cwd=str(ROOT),
            kind="http" if http else "stdio",
        ),
        identity=IdentitySpec(via="bearer") if http else IdentitySpec(),
    )
    plan = ProbePlan(
        server=server,
        callers=named_callers(cases),
        cases=cases,
        damaged=damaged,
        destructive=destructive,
    )
    log, _ = anyio.run(probe, plan, folder)
    return read_probe(log)


def found(report: ProbeReport) -> Found:
    """Return a probe's report in short; a caller that got no answer counts as a problem."""
    problems = [str(finding.problem) for finding in report.findings]
    words = [finding.words for finding in report.findings]
    return Found(
        problems=tuple(dict.fromkeys(problems)),
        first=words[0] if words else "",
        notes=len(report.notes),
        calls=len(report.report.results),
    )


_TESTS = {
    "attributes": ("a_record", "a_colleague", "all_patients", "a_ward"),
    "smuggled": ("a_record", "a_record_of_another_ward", "invoices"),
    "arguments": (
        "a_record",
        "a_record_of_another_ward",
        "a_protected_record",
        "all_patients",
        "a_colleague",
        "another_colleague",
        "a_ward",
        "invoices",
    ),
    "memory": ("a_record", "all_patients", "a_colleague", "an_export"),
}
"""Groups that need damaged identities and forged calls, and the tests that these are made from."""


def way_of(fault: Fault) -> dict[str, Any]:
    """Return how a fault is probed: as cheaply as its group allows."""
    if fault.group in _TESTS:
        cases = read_suite(SUITE, VOCABULARY).cases
        return {
            "damaged": True,
            "cases": [one for one in cases if one.name.split(" [")[0] in _TESTS[fault.group]],
        }
    return {"damaged": fault.group == "sessions", "destructive": fault.group == "writes"}
