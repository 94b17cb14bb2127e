"""``--dry-run``, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from urllib.parse import urlsplit

from harness.base import bare_url, format_money, make_one_line
from harness.models import get_traits
from harness.runner import (
    Estimate,
    RunPlan,
    build_redactor,
    estimate_judging,
    estimate_usage,
    estimate_users,
)
from harness.types import JsonObject, ServerSpec


def describe_plan(plan: RunPlan) -> str:
    """Return what ``plan`` would do, as lines of safe text without secrets."""
    lines = ["Dry run: nothing is started."]
    lines += [
        f"suite {name}: {cases} cases, {trials} trials"
        for name, cases, trials in _count_suites(plan)
    ]
    lines += [
        f"server {server.name}: {_format_server(server)}"
        for server in plan.servers
        # A joined server is none of its own: its members are in the list, too.
        if not server.members
    ]
    redactor = build_redactor(plan)
    return "\n".join(
        # Redacted first: made one line, a secret with a line break would no longer be found.
        make_one_line(redactor.redact_text(line))
        for line in (*lines, *map(_format_estimate, _all_estimates(plan)))
    )


def build_document(plan: RunPlan) -> JsonObject:
    """Return the document of ``--json-output``; the cost is null if the price is unknown."""
    found = {
        "dry_run": True,
        "suites": [
            {"name": name, "cases": cases, "trials": trials}
            for name, cases, trials in _count_suites(plan)
        ],
        "servers": [
            {"name": server.name, "started": _format_server(server)}
            for server in plan.servers
            if not server.members
        ],
        "estimates": [
            {
                name: guess.model.name if name == "model" else getattr(guess, name)
                for name in (field.name for field in fields(guess))
            }
            for guess in _all_estimates(plan)
        ],
    }
    return {"status": "ok", "result": build_redactor(plan).redact_json(found)}


def _count_suites(plan: RunPlan) -> list[tuple[str, int, int]]:
    """Return the name of each suite, with its cases and trials."""
    cases = Counter(
        suite for suite, _ in {(job.suite.name, job.trial.case.name) for job in plan.jobs}
    )
    trials = Counter(job.suite.name for job in plan.jobs)
    return [(name, cases[name], trials[name]) for name in trials]


def _all_estimates(plan: RunPlan) -> tuple[Estimate, ...]:
    return (*estimate_usage(plan), *estimate_users(plan), *estimate_judging(plan))


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
    return (
        f"{role} {name} ({estimate.model.model_id}): {trials} {unit}s, about {sent:,} tokens in "
        f"and {said:,} out, cost about {format_money(estimate.cost_usd)} (estimated: {basis})"
    )
