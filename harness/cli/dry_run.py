"""``--dry-run`` in words."""

from __future__ import annotations

from collections import Counter

from harness.reports.text import money
from harness.runner.estimate import FREE, TYPICAL_TOKENS, Estimate, estimates
from harness.runner.plan import Plan


def describe(plan: Plan) -> str:
    """Return what ``plan`` would do, in lines for people."""
    cases = Counter(
        job.suite.name for job in {(job.suite.name, job.trial.case.name): job for job in plan.jobs}.values()
    )
    trials = Counter(job.suite.name for job in plan.jobs)
    lines = ["Dry run: nothing is started."]
    lines += [f"suite {name}: {cases[name]} cases, {trials[name]} trials" for name in cases]
    lines += [f"server {server.name}: {server.command} {' '.join(server.args)}" for server in plan.servers]
    return "\n".join([*lines, *map(_line, estimates(plan))])


def _line(estimate: Estimate) -> str:
    name = estimate.model.name
    if estimate.model.provider in FREE:
        return f"model {name}: {estimate.trials} trials, free"
    if estimate.known:
        basis = f"{estimate.known} of {estimate.trials} trials by earlier runs"
    else:
        basis = f"a rule of thumb, {TYPICAL_TOKENS[0]:,} + {TYPICAL_TOKENS[1]:,} tokens a trial"
    return (
        f"model {name} ({estimate.model.model_id}): {estimate.trials} trials, about {estimate.input_tokens:,} tokens in"
        f" and {estimate.output_tokens:,} out, cost about {money(estimate.cost_usd)} (estimated: {basis})"
    )
