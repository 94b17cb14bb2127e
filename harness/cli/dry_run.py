"""``--dry-run``, as text and as JSON."""

from __future__ import annotations

from collections import Counter
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
                "model": guess.model.name,
                "role": _model_role(guess),
                "trials": guess.trials,
                "known": guess.known,
                "input_tokens": guess.input_tokens,
                "output_tokens": guess.output_tokens,
                "cost_usd": guess.cost_usd,
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


def _model_role(estimate: Estimate) -> str:
    if estimate.model.agent is not None:
        return "agent"
    return "judge" if estimate.judges else "user" if estimate.plays else "model"


def _format_server(server: ServerSpec) -> str:
    """Return the server's command, or the host of a running one: a URL's path may hold a secret."""
    if server.transport.command is None:
        return f"runs at {urlsplit(bare_url(server.transport.url or '')).netloc}"
    return " ".join((server.transport.command, *server.transport.args))


def _format_estimate(estimate: Estimate) -> str:
    name = estimate.model.name
    role, unit = _model_role(estimate), "judgement" if estimate.judges else "trial"
    if get_traits(estimate.model.provider).answers != "llm":
        return f"{role} {name}: {estimate.trials} {unit}s, free"
    if estimate.model.agent is not None and not estimate.known:
        return f"agent {name}: {estimate.trials} {unit}s, cost unknown until it has run"
    if estimate.known:
        basis = f"{estimate.known} of {estimate.trials} {unit}s by earlier runs"
    else:
        tokens = (
            estimate.input_tokens // estimate.trials,
            estimate.output_tokens // estimate.trials,
        )
        basis = f"a rule of thumb, {tokens[0]:,} + {tokens[1]:,} tokens a {unit}"
    return (
        f"{role} {name} ({estimate.model.model_id}): {estimate.trials} {unit}s,"
        f" about {estimate.input_tokens:,} tokens in and {estimate.output_tokens:,} out,"
        f" cost about {format_money(estimate.cost_usd)} (estimated: {basis})"
    )
