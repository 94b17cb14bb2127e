"""The access report: a matrix of tests and identities with the server's decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from harness.judging.policy import summarise_access
from harness.judging.run_judge import AccessFacts
from harness.types import AccessCell, AccessReport, AccessRow, CaseResult, Decision

_Key: TypeAlias = tuple[str, str, str]
"""Suite, test and entrant."""


def access_report(facts: AccessFacts, cases: Iterable[CaseResult]) -> AccessReport:
    """Return ``facts`` as a matrix of tests and identities."""
    rows: dict[_Key, list[AccessCell]] = {}
    entrants: dict[str, CaseResult] = {}
    for case in cases:
        first = case.trials[0]
        if first.case.group is not None and first.case.identity is not None:
            entrants.setdefault(case.entrant, case)
            rows.setdefault((case.suite, first.case.group, case.entrant), []).append(
                _build_cell(case, first.case.identity, facts)
            )
    return AccessReport(
        rows=tuple(
            AccessRow(
                suite=suite,
                group=group,
                model=entrants[entrant].model,
                axes=entrants[entrant].axes,
                cells=tuple(cells),
            )
            for (suite, group, entrant), cells in rows.items()
        ),
        unobserved=facts.unobserved,
        not_read=facts.not_read,
    )


def _build_cell(case: CaseResult, identity: str, facts: AccessFacts) -> AccessCell:
    asked = [
        check.actual["is"]
        for run in case.trials
        for check in run.checks
        if "decides_access" in check.traits
        and isinstance(check.actual, Mapping)
        and "is" in (check.expected or ())
    ]
    decisions = [decision for run in case.trials for decision in facts.decisions.get(run.key, ())]
    # A tool that is hidden and was not called is irrelevant to this test.
    telling = asked or [
        decision.access
        for decision in decisions
        if decision.calls or decision.access not in {"hidden", "denied"}
    ]
    leaks = tuple(leak for run in case.trials for leak in facts.leaks.get(run.key, ()))
    judged = any(run.key in facts.decisions for run in case.trials)
    return AccessCell(
        identity=identity,
        case=case.case,
        # Without a view, nothing is known of what the server did.
        access=summarise_access(telling or [decision.access for decision in decisions])
        if judged
        else "error",
        status=case.status,
        decisions=_unique_decisions(decisions),
        leaks=leaks,
    )


def _unique_decisions(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    return tuple({_decision_key(decision): decision for decision in decisions}.values())


def _decision_key(decision: Decision) -> tuple[Any, ...]:
    return decision.tool, decision.access, decision.shape, decision.missing, decision.masked
