"""``--list``: the cases that would run."""

from __future__ import annotations

from collections.abc import Iterator

from harness.base import make_one_line
from harness.runner import RunPlan, case_label
from harness.types import JsonObject


def list_cases(plan: RunPlan) -> Iterator[str]:
    """Yield ``suite::case``, once for each case."""
    yield from dict.fromkeys(
        make_one_line(case_label(job.suite.name, job.trial.case.name)) for job in plan.jobs
    )


def format_total(plan: RunPlan) -> str:
    """Return the totals in a sentence."""
    cases = len(list(list_cases(plan)))
    models = ", ".join(map(make_one_line, plan.entrants))
    return (
        f"{_format_count(cases, 'case')}, {_format_count(len(plan.jobs), 'trial')}, with "
        f"{models}; nothing "
        "was started."
    )


def build_document(plan: RunPlan) -> JsonObject:
    """Return the same as the document of ``--json-output``."""
    cases: dict[tuple[str, str], dict[str, object]] = {}
    for job in plan.jobs:
        case = job.trial.case
        facts = cases.setdefault(
            (job.suite.name, case.name),
            {
                "suite": job.suite.name,
                "case": case.name,
                "tags": list(case.tags),
                "models": [],
                "trials": 0,
                "file": case.at.file if case.at else None,
                "line": case.at.line if case.at else None,
            },
        )
        models = facts["models"]
        assert isinstance(models, list)
        if job.model.name not in models:
            models.append(job.model.name)
        facts["trials"] = 1 + int(str(facts["trials"]))
    return {"status": "ok", "result": {"cases": list(cases.values()), "trials": len(plan.jobs)}}


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
