"""Judge a recorded run, or recorded conversations, without model or server."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from harness.cli.options import TRUST, complete_runs, complete_suites
from harness.cli.results_output import ResultsOutput, ScoreRequest, show_results
from harness.cli.run_lookup import open_run, print_warnings
from harness.cli.run_options import OUTPUT, SCORE
from harness.runner import (
    grade_conversations,
    grade_run,
    is_message_file,
    load_suites,
    redact_case,
)


@click.command("grade")
@click.argument("run", shell_complete=complete_runs)
@click.argument("suites", nargs=-1, metavar="[SUITE]...", shell_complete=complete_suites)
@click.option(
    "--judge-model",
    metavar="NAME",
    help="Model that judges where RUN has no verdict of a judge; not free.",
)
@TRUST
@OUTPUT
@SCORE
def command(
    run: str,
    suites: tuple[str, ...],
    judge_model: str | None,
    output: ResultsOutput,
    score: ScoreRequest,
) -> None:
    """Judge the conversations of RUN by the current assertions: no model, no server, no cost.

    RUN is the name of a run, its beginning, a path, or "latest"; or a file of conversations: JSON
    Lines with messages of OpenAI or Anthropic, or spans of OTLP. SUITE names the suites to judge
    by; without it, the run's own suites are read again. A judge's verdict is reused if its question
    has not changed.
    """
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        if is_message_file(Path(run)):
            graded = grade_conversations(Path(run), suites, Path.cwd(), judge_model)
            print_warnings(graded.footer.told if graded.footer else ())
        else:
            graded = grade_run(open_run(run), suites, Path.cwd(), judge_model)
        scores = None
        if score.is_requested:
            judging = load_suites(graded, suites, Path.cwd())
            cases = ((suite.name, redact_case(case)) for suite in judging for case in suite.cases)
            scores = score.measure_scores(graded, cases)
    show_results(graded, output, scores=scores)
