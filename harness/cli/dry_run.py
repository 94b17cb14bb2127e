"""``--dry-run``, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from harness.base import bare_url, money, one_line
from harness.models import traits_of
from harness.runner import Estimate, Plan, estimates, judge_estimates, redactor_of, user_estimates
from harness.types import JsonObject, ServerSpec


def describe(plan: Plan) -> str:
    """Return what ``plan`` would do, as lines of safe text without secrets."""
    lines = ["Dry run: nothing is started."]
    lines += [
        f"suite {name}: {cases} cases, {trials} trials" for name, cases, trials in _suites(plan)
    ]
    lines += [
        f"server {server.name}: {_started(server)}" for server in plan.servers if not server.members
    ]
    redactor = redactor_of(plan)
    return "\n".join(
        one_line(redactor.text(line)) for line in (*lines, *map(_line, _guesses(plan)))
    )


def document(plan: Plan) -> JsonObject:
    """Return the document of ``--json-output``; the cost is null if the price is unknown."""
    found = {
        "dry_run": True,
        "suites": [
            {"name": name, "cases": cases, "trials": trials}
            for name, cases, trials in _suites(plan)
        ],
        "servers": [
            {"name": server.name, "started": _started(server)}
            for server in plan.servers
            if not server.members
        ],
        "estimates": [
            {
                "model": guess.model.name,
                "role": _role(guess),
                "trials": guess.trials,
                "known": guess.known,
                "input_tokens": guess.input_tokens,
                "output_tokens": guess.output_tokens,
                "cost_usd": guess.cost_usd,
            }
            for guess in _guesses(plan)
        ],
    }
    return {"status": "ok", "result": redactor_of(plan).json(found)}


def _suites(plan: Plan) -> list[tuple[str, int, int]]:
    """Return the name of each suite, with its cases and trials."""
    cases = Counter(
        suite for suite, _ in {(job.suite.name, job.trial.case.name) for job in plan.jobs}
    )
    trials = Counter(job.suite.name for job in plan.jobs)
    return [(name, cases[name], trials[name]) for name in trials]


def _guesses(plan: Plan) -> tuple[Estimate, ...]:
    return (*estimates(plan), *user_estimates(plan), *judge_estimates(plan))


def _role(estimate: Estimate) -> str:
    if estimate.model.agent is not None:
        return "agent"
    return "judge" if estimate.judges else "user" if estimate.plays else "model"


def _started(server: ServerSpec) -> str:
    """Return the server's command, or the host of a running one: a URL's path may hold a secret."""
    if server.transport.command is None:
        return f"runs at {urlsplit(bare_url(server.transport.url or '')).netloc}"
    return " ".join((server.transport.command, *server.transport.args))


def _line(estimate: Estimate) -> str:
    name = estimate.model.name
    role, unit = _role(estimate), "judgement" if estimate.judges else "trial"
    if traits_of(estimate.model.provider).answers != "llm":
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
        f" cost about {money(estimate.cost_usd)} (estimated: {basis})"
    )
