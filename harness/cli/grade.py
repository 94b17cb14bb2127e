"""``harness grade``: judge a recorded run by today's assertions."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.evals import OUTPUT
from harness.cli.output import Output, show
from harness.runlog import read_log
from harness.runner.folders import find_log
from harness.runner.grade import grade_run


@click.command("grade")
@click.argument("run")
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@OUTPUT
def command(run: str, suites: tuple[str, ...], output: Output) -> None:
    """Judge the conversations of RUN by today's assertions: no model, no server, no cost.

    RUN is the name of a run, its beginning, a path, or "latest". SUITE names the suites to judge by;
    without, those that the run was made of are read again.
    """
    show(grade_run(read_log(find_log(run)), suites, Path.cwd()), output)
