"""What a probe of the clinic finds, with one fault or none."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import anyio

from harness.judging.checks import VOCABULARY
from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.suites.readers import read_suite
from harness.types import IdentitySpec, ServerSpec, Suite, TransportSpec
from tests.proofs.planted.faults import FAULTS
from tests.proofs.planted.faults.fault import Fault
from tests.proofs.planted.faults.fresh import MEASURED_LIKE

SUITE = Path(__file__).with_name("clinic.yml")
"""The suite that is asked with."""
ROOT = Path(__file__).parents[3]


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


def asked(tests: Collection[str] = (), fields: Collection[str] = ()) -> Suite:
    """Return the suite with only these ``tests``, or all; only these ``fields`` are altered."""
    suite = read_suite(SUITE, VOCABULARY)
    cases = [one for one in suite.cases if not tests or one.name.split(" [")[0] in tests]
    alterations = [one for one in suite.alterations if one.field in fields]
    return replace(suite, cases=tuple(cases), alterations=tuple(alterations))


def probed(
    fault: str | None,
    folder: Path,
    *,
    seed: int = 1,
    damaged: bool = True,
    destructive: bool = False,
    python: str = sys.executable,
    suite: Suite | None = None,
    transport: Literal["stdio", "http"] | None = None,
) -> ProbeReport:
    """Return what the probe says of the clinic with a fault, or of the sound one.

    Its log goes below ``folder``. Without ``suite`` everything is asked and nothing altered.
    """
    suite = asked() if suite is None else suite
    http = (fault is not None and FAULTS[fault].http) if transport is None else transport == "http"
    arguments = ["-m", "tests.proofs.planted.server", "--seed", str(seed)]
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
        callers=name_callers(suite.cases),
        cases=suite.cases,
        damaged=damaged,
        destructive=destructive,
        alterations=suite.alterations,
    )
    return anyio.run(run_probe, plan, folder).report


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


_HIDDEN = ("all_patients", "invoices", "a_protected_record")
_BY_PATIENTS = dict.fromkeys(("wards_ignored", "protected_in_lists", "protected_invoices"), _HIDDEN)
"""Faults that show only where a suite says which patients must not be known, and the tests."""
_TESTS = {
    "attributes": ("a_record", "a_colleague", "all_patients", "a_ward"),
    "smuggled": ("a_record", "a_record_of_another_ward", "all_patients", "invoices"),
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

_CONCLUDED_FROM = ("a_record", "all_patients", "a_protected_record", "a_ward", "invoices")
_ALTERED = ("balance", "email", "notes", "patient_id")
"""What is asked, and what is altered, to see what can be concluded from the answers."""


_OF_DAMAGE = (
    "role_header",
    "token_in_address",
    "claims_from_header",
    "first_claim_counts",
    "resource_traversal",
    "prompt_argument",
    "completions",
    "old_tool_unlisted",
    "linked_record",
    "forwarded_user",
    "empty_change",
)
"""Faults of groups that are else probed without damaged identities and forged calls."""


def way_of(fault: Fault) -> dict[str, Any]:
    """Return how a fault is probed: as cheaply as its group allows."""
    group = MEASURED_LIKE.get(fault.name, fault.group)
    if fault.name in _BY_PATIENTS:
        return {"damaged": False, "suite": asked(_BY_PATIENTS[fault.name], ("patient_id",))}
    if group == "oracles":
        return {"damaged": False, "suite": asked(_CONCLUDED_FROM, _ALTERED)}
    if group in _TESTS:
        return {"damaged": True, "suite": asked(_TESTS[group])}
    damaged = group == "sessions" or fault.name in _OF_DAMAGE
    return {"damaged": damaged, "destructive": group == "writes"}
