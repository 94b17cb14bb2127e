"""Join the logs of a run that was split into shards."""

from __future__ import annotations

import click

from harness.cli.options import complete_runs
from harness.cli.results_output import ResultsOutput, show_results
from harness.cli.run_lookup import open_run
from harness.cli.run_options import OUTPUT
from harness.runner import merge_runs


@click.command("merge")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@OUTPUT
def command(runs: tuple[str, ...], output: ResultsOutput) -> None:
    """Join the logs of a run that was split into shards into one run.

    RUN is the name of a run, its beginning, or the path of a log from another machine.
    """
    show_results(merge_runs([open_run(run) for run in runs]), output)
