"""Options of commands that run suites or show a run, in bundles that each become one value."""

from __future__ import annotations

from typing import Any

import click

from harness.cli import shell_completion as completing
from harness.cli.comparison_gate import GATE, open_baseline
from harness.cli.options import (
    MCP_CONFIG,
    PROTOCOL,
    TRUST,
    bounded_number,
    bundle_options,
    caller_option,
    convert_milliseconds,
    trial_range,
)
from harness.cli.results_output import ResultsOutput, report_requests
from harness.cli.suite_scores import ScoreRequest
from harness.runner import (
    CONCURRENCY_RANGE,
    GRACE_S_RANGE,
    MAX_CASES_RANGE,
    MAX_COST_RANGE,
    MAX_ERRORS_RANGE,
    MAX_TOKENS_RANGE,
    TIMEOUT_MS_RANGE,
    RunBudget,
    RunOptions,
    RunRequest,
)
from harness.suites import MAX_CASES


def _build_request(
    *, trials: tuple[int | None, int | None], servers: tuple[str, ...], **values: Any
) -> RunRequest:
    server = servers[0] if len(servers) == 1 else servers or None
    return RunRequest(least_trials=trials[0], trials=trials[1], server=server, **values)


REQUEST = bundle_options(
    "request",
    _build_request,
    click.option(
        "--model",
        "-m",
        "models",
        multiple=True,
        metavar="NAME",
        help="Model under test; may be repeated.",
    ),
    click.option(
        "--agent",
        "agents",
        multiple=True,
        metavar="NAME|COMMAND",
        help="Agent under test, beside models: claude-code, codex, one of agents: in harness.yml, "
        "or a command; may be repeated. 'harness models' lists them.",
    ),
    click.option(
        "--category",
        "categories",
        metavar="NAME,…",
        help="Run only these parts of a leaderboard.",
    ),
    click.option(
        "-k", "pattern", metavar="PATTERN", help="Run only cases whose name or tag matches."
    ),
    click.option(
        "--server",
        "servers",
        multiple=True,
        metavar="COMMAND|URL|NAME",
        help='Use this server, for example "python my_server.py"; several are joined.',
    ),
    MCP_CONFIG,
    PROTOCOL,
    TRUST,
    caller_option("Caller of every case, in place of the suites' own."),
    click.option(
        "--timeout",
        "timeout_s",
        type=bounded_number(TIMEOUT_MS_RANGE),
        callback=convert_milliseconds,
        metavar="MS",
        help="Milliseconds for one case.  [default: the suite's, or 60000]",
    ),
    click.option(
        "--trials",
        callback=trial_range,
        metavar="N|MIN..MAX",
        help=(
            "Run every case N times; or at least MIN times, and up to MAX until its "
            "verdict is decided.  [default: the suite's, or 1]"
        ),
    ),
    click.option(
        "--shard",
        metavar="I/N",
        help="Run part I of N, to split a run over machines; see harness merge.",
    ),
    click.option(
        "--read-only",
        is_flag=True,
        help="Never send a call to a tool that is not marked read-only.",
    ),
    click.option(
        "--judge-model",
        metavar="NAME",
        help="Model that judges answers, for checks that need a judge; none: no judge.",
    ),
    click.option("--user-model", metavar="NAME", help="Model that plays simulated users."),
    click.option(
        "--max-cases",
        type=bounded_number(MAX_CASES_RANGE),
        default=MAX_CASES,
        show_default=True,
        metavar="N",
        help="Most cases of one dataset.",
    ),
    click.option("--block", multiple=True, metavar="TOOL", help="Never send a call to this tool."),
    click.option(
        "--variant",
        "variants",
        multiple=True,
        metavar="NAME|FILE",
        help="Show the model the tool list of this variant; may be repeated. 'none' is the "
        "server's own list.",
    ),
    click.option(
        "--concurrency",
        "-c",
        type=bounded_number(CONCURRENCY_RANGE),
        metavar="N",
        help="Trials at the same time.  [default: as configured, or 4]",
    ),
)
"""Which cases are run, with which models and servers, and how often."""

SCORE = bundle_options(
    "score",
    ScoreRequest,
    click.option(
        "--mutate",
        is_flag=True,
        help="Also say which faults of a server the suite would miss, each with the missing line.",
    ),
    click.option(
        "--min-score",
        type=click.FloatRange(0, 100),
        metavar="PERCENT",
        help="Fail if a suite notices fewer of these faults; implies --mutate.",
    ),
)
"""Whether faults are planted in the recorded answers, and how many a suite must notice."""

BUDGET = bundle_options(
    "budget",
    RunBudget,
    click.option(
        "--max-cost",
        "max_cost_usd",
        type=bounded_number(MAX_COST_RANGE),
        metavar="USD",
        help="Start no further trial at this cost.",
    ),
    click.option(
        "--max-tokens",
        type=bounded_number(MAX_TOKENS_RANGE),
        metavar="N",
        help="Start no further trial at this many tokens.",
    ),
    click.option(
        "--max-errors",
        type=bounded_number(MAX_ERRORS_RANGE),
        metavar="N",
        help="Stop after N trials that could not be judged.",
    ),
    click.option(
        "--fail-fast", "-x", is_flag=True, help="Stop at the first case that does not pass."
    ),
)
"""When a run stops early."""

OPTIONS = bundle_options(
    "options",
    RunOptions,
    click.option(
        "--grace",
        "grace_s",
        type=bounded_number(GRACE_S_RANGE),
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help="Seconds that running trials may go on after Ctrl-C.",
    ),
)
"""How a run ends when it is interrupted."""

OUTPUT = bundle_options(
    "output",
    ResultsOutput,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    click.option(
        "--report",
        "reports",
        multiple=True,
        callback=report_requests,
        metavar="FORMAT[:PATH]",
        help=(
            "Write jsonl, json, junit, markdown, csv, html or github; may be repeated. The suffix "
            "of a PATH alone selects its format.  [default place: the run's folder]"
        ),
    ),
    click.option(
        "--quiet",
        "-q",
        is_flag=True,
        help="Show only cases that did not pass or are marked, and the counts.",
    ),
    click.option(
        "--verbose", "-v", is_flag=True, help="Show every case, and all failed checks in full."
    ),
    click.option("--debug", is_flag=True, help="Print every conversation, message by message."),
    click.option(
        "--baseline",
        callback=open_baseline,
        metavar="RUN",
        shell_complete=completing.complete_runs,
        help="Compare with this run; see harness compare.",
    ),
    GATE,
    click.option(
        "--otel",
        is_flag=False,
        flag_value="",
        metavar="[URL]",
        help="Send each trial as a trace, and metrics, to this collector; calls carry their trace "
        "context to the server.  [default: $OTEL_EXPORTER_OTLP_ENDPOINT]",
    ),
    click.option(
        "--otel-content",
        is_flag=True,
        help="Include all messages, arguments and results in traces.",
    ),
)
"""What is shown and written of a run, and the run it is compared with."""
