"""List past runs."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from harness.base import make_printable
from harness.cli.options import shown_option
from harness.reports import (
    COLUMNS,
    PastRun,
    align_columns,
    format_run_cells,
    past_runs_by_index,
)
from harness.runlog import RUNS, log_path, run_ids


@click.command("runs")
@shown_option(
    "-n",
    "most",
    type=click.IntRange(min=1),
    default=20,
    metavar="N",
    help="List only the newest N.",
)
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(most: int, json_output: bool) -> None:
    """List past runs, the newest first: suite, model, when, result, cost."""
    known = run_ids()
    runs = list(past_runs_by_index(log_path(run_id) for run_id in known[: -most - 1 : -1]))
    for sentence in (words for run in runs if isinstance(run, PastRun) for words in run.damaged):
        click.echo(f"Warning: {make_printable(sentence)}", err=True)
    if json_output:
        result = {"runs": [asdict(run) for run in runs], "known": len(known)}
        click.echo(json.dumps({"status": "ok", "result": result}))
        return
    if not known:
        click.echo(f"{RUNS} holds no run yet.", err=True)
        return
    for line in align_columns([COLUMNS, *map(format_run_cells, runs)], left=range(len(COLUMNS))):
        click.echo(line)
    if len(known) > most:
        click.echo(f"{len(known) - most} older runs: -n {len(known)} lists them all.", err=True)
