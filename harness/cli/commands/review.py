"""Accept or overrule the verdict on a case, as a person; the machine's verdict is kept, too."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress

import click

from harness.base import UsageError, did_you_mean, make_one_line, make_printable
from harness.cli.options import complete_runs
from harness.cli.run_lookup import announce_reading, print_warnings
from harness.judging import Decision, add_review
from harness.reports import ReviewedRun, ReviewedTrial, review_words, reviewed_run, reviews_json
from harness.runlog import find_log
from harness.types import Review

_MOST_NAMED = 10


@click.command("review")
@click.argument("run", shell_complete=complete_runs)
@click.argument("case", required=False)
@click.option("--accept", "decision", flag_value="accept", help="The verdict is right.")
@click.option("--overrule", "decision", flag_value="overrule", help="The verdict is wrong.")
@click.option("--note", default="", metavar="TEXT", help="Why; needed with --overrule.")
@click.option(
    "--by", default="", metavar="NAME", help="Name of the reviewer.  [default: the user's login]"
)
@click.option("--model", metavar="NAME", help="The case as this model answered it.")
@click.option("--trial", type=click.IntRange(min=1), metavar="N", help="This trial of the case.")
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(
    run: str,
    case: str | None,
    decision: Decision | None,
    note: str,
    by: str,
    model: str | None,
    trial: int | None,
    json_output: bool,
) -> None:
    """Accept or overrule the verdict on CASE of RUN, as a person; or list the reviews of RUN.

    RUN is the name of a run, its beginning, a path, or "latest"; CASE may be SUITE::CASE. A review
    is a line at the end of the run's log. Exit codes and pass rates stay those of the machine,
    unless --by-people of view or compare says otherwise.
    """
    log = find_log(run)
    reviewed = reviewed_run(log, case, announce_reading(log))
    print_warnings(reviewed.complaints)
    if case is not None:
        if decision is None:
            raise UsageError("say what you think of the verdict", meant="--accept or --overrule.")
        chosen = _find_trial(reviewed, case, model, trial)
        with suppress(OSError, KeyError):  # no such user: some containers
            by = by or getpass.getuser()
        known = reviewed.get_status(chosen)
        review = add_review(reviewed.log, chosen.key, decision, by=by, note=note, known=known)
        reviewed = reviewed.add_review(chosen, review)
    elif decision is not None:
        raise UsageError("name the case that you review", meant=f"harness review {run} CASE …")
    reviews = reviewed.said
    if json_output:
        click.echo(json.dumps({"status": "ok", "result": reviews_json(reviews)}))
    else:
        click.echo(make_printable("\n".join(_format_reviews(reviewed, reviews))))


def _find_trial(
    run: ReviewedRun, case: str, model: str | None, number: int | None
) -> ReviewedTrial:
    """Return the trial that the arguments describe; ``CASE`` may be ``SUITE::CASE``."""
    if not run.called:
        names = run.case_names
        raise UsageError(
            f"the run has no case {case!r}",
            meant=did_you_mean(case, names) or f"It has: {', '.join(names[:_MOST_NAMED])}.",
        )
    found = [
        one for one in run.called if model in {None, one.entrant} and number in {None, one.number}
    ]
    if not found:
        raise UsageError(f"no trial of {case!r} is of that model and number")
    if len(found) > 1:
        told = "; ".join(map(str, found[:_MOST_NAMED]))
        raise UsageError(
            f"{case!r} has {len(found)} trials: {told}",
            meant="Pick one with SUITE::CASE, --model or --trial.",
        )
    return found[0]


def _format_reviews(run: ReviewedRun, reviews: Mapping[str, Review]) -> Iterator[str]:
    yield review_words(reviews.values()) or "Nobody has reviewed this run."
    for trial in run.listed:
        if review := reviews.get(trial.key):
            to = "" if review.decision == "accepted" else f" to {review.verdict}"
            yield f"{review.machine}, {review.decision}{to} by {review.by}  {trial}"
            if review.note:
                yield f"    {make_one_line(review.note)}"
