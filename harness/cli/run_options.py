"""Options of commands that run suites or show a run, in bundles that each become one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from harness.cli.options import TRUST, F, as_click_option, bundle_options, complete_runs
from harness.cli.results_output import (
    GATE,
    ResultsOutput,
    ScoreRequest,
    open_baseline,
    report_requests,
)
from harness.runner import (
    OPTIONS,
    Part,
    RunBudget,
    RunOptions,
    RunRequest,
    fields_of,
)


def _bundle_part(
    part: Part, make: Callable[..., Any], *more: Callable[[Any], Any], without: str = ""
) -> Callable[[F], F]:
    """Return the options of a ``part`` of the table, which become one value ``make(…)``."""
    own = [option for option in OPTIONS if option.part == part and option.name != without]
    return bundle_options(
        part,
        lambda **values: make(**fields_of(part, values)),
        *map(as_click_option, own),
        *more,
    )


REQUEST = _bundle_part("request", RunRequest, TRUST)
"""Which cases are run, with which models and servers, and how often."""

BUDGET = _bundle_part("budget", RunBudget)
"""When a run stops early."""

RUN_OPTIONS = _bundle_part("options", RunOptions)
"""What carries the run out, and how it ends when it is interrupted."""

WORKBENCH_OPTIONS = _bundle_part("options", RunOptions, without="engine")
"""The same for a workbench, whose stages are short and run in one process."""

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
        shell_complete=complete_runs,
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
