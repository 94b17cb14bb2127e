"""``--dry-run``, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit

from harness.base import bare_url, format_count, format_money, make_one_line
from harness.models import get_traits
from harness.runner import (
    Estimate,
    RunPlan,
    build_redactor,
    case_label,
    estimate_judging,
    estimate_usage,
    estimate_users,
)
from harness.types import JsonObject, ServerSpec


def describe_plan(plan: RunPlan) -> str:
    """Return what ``plan`` would do, as lines of safe text without secrets."""
    suites, servers, estimates = _summarize_plan(plan)
    lines = ["Dry run: nothing is started."]
    lines += [f"suite {name}: {cases} cases, {trials} trials" for name, cases, trials in suites]
    lines += [f"server {name}: {started}" for name, started in servers]
    lines += map(_format_estimate, estimates)
    redactor = build_redactor(plan)
    # Redacted first: made one line, a secret with a line break would no longer be found.
    return "\n".join(make_one_line(redactor.redact_text(line)) for line in lines)


def build_document(plan: RunPlan) -> JsonObject:
    """Return the document of ``--json-output``; the cost is null if the price is unknown."""
    suites, servers, estimates = _summarize_plan(plan)
    names = [field.name for field in fields(Estimate)]
    found = {
        "dry_run": True,
        "suites": [
            {"name": name, "cases": cases, "trials": trials} for name, cases, trials in suites
        ],
        "servers": [{"name": name, "started": started} for name, started in servers],
        "estimates": [
            {name: getattr(one, name) for name in names} | {"model": one.model.name}
            for one in estimates
        ],
    }
    return {"status": "ok", "result": build_redactor(plan).redact_json(found)}


def _summarize_plan(
    plan: RunPlan,
) -> tuple[list[tuple[str, int, int]], list[tuple[str, str]], list[Estimate]]:
    """Return suites with their cases and trials, servers with how each is started, and estimates.

    A joined server is none of its own: its members are in the list, too.
    """
    cases = Counter(
        suite for suite, _ in {(job.suite.name, job.trial.case.name) for job in plan.jobs}
    )
    trials = Counter(job.suite.name for job in plan.jobs)
    return (
        [(name, cases[name], trials[name]) for name in trials],
        [(one.name, _format_server(one)) for one in plan.servers if not one.members],
        [*estimate_usage(plan), *estimate_users(plan), *estimate_judging(plan)],
    )


def _format_server(server: ServerSpec) -> str:
    """Return the server's command, or the host of a running one: a URL's path may hold a secret."""
    if server.transport.command is None:
        return f"runs at {urlsplit(bare_url(server.transport.url or '')).netloc}"
    return " ".join((server.transport.command, *server.transport.args))


def _format_estimate(estimate: Estimate) -> str:
    role, name, trials = estimate.role, estimate.model.name, estimate.trials
    sent, said = estimate.input_tokens, estimate.output_tokens
    unit = "judgement" if role == "judge" else "trial"
    if get_traits(estimate.model.provider).answers != "llm":
        return f"{role} {name}: {trials} {unit}s, free"
    if role == "agent" and not estimate.known:
        return f"agent {name}: {trials} {unit}s, cost unknown until it has run"
    basis = f"a rule of thumb, {sent // trials:,} + {said // trials:,} tokens a {unit}"
    if estimate.known:
        basis = f"{estimate.known} of {trials} {unit}s by earlier runs"
    asked = f"{trials} {unit}s"
    if estimate.choices:
        asked += f" and {format_count(estimate.choices, 'choice')} of tools"
    return (
        f"{role} {name} ({estimate.model.model_id}): {asked}, about {sent:,} tokens in "
        f"and {said:,} out, cost about {format_money(estimate.cost_usd)} (estimated: {basis})"
    )


def format_total(plan: RunPlan) -> str:
    """Return the totals in a sentence."""
    cases = format_count(len(list_cases(plan)), "case")
    models = ", ".join(map(make_one_line, plan.entrants))
    return f"{cases}, {format_count(len(plan.jobs), 'trial')}, with {models}; nothing was started."


def list_cases(plan: RunPlan) -> list[str]:
    """Return ``suite::case``, once for each case."""
    labels = (case_label(job.suite.name, job.trial.case.name) for job in plan.jobs)
    return list(dict.fromkeys(map(make_one_line, labels)))


def build_list_document(plan: RunPlan) -> JsonObject:
    """Return the same as the document of ``--json-output``."""
    cases: dict[tuple[str, str], dict[str, Any]] = {}
    for job in plan.jobs:
        case = job.trial.case
        listed = {
            "suite": job.suite.name,
            "case": case.name,
            "tags": list(case.tags),
            "models": [],
            "trials": 0,
            "file": case.at.file if case.at else None,
            "line": case.at.line if case.at else None,
        }
        facts = cases.setdefault((job.suite.name, case.name), listed)
        facts["models"] = list(dict.fromkeys([*facts["models"], job.model.name]))
        facts["trials"] += 1
    return {"status": "ok", "result": {"cases": list(cases.values()), "trials": len(plan.jobs)}}
