"""Compare a judge with people: agreement, Cohen's kappa."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import click

from harness.base import (
    GATE,
    UsageError,
    format_money,
    format_number,
    make_printable,
    shorten_text,
    wilson_interval,
)
from harness.cli import judge_agreement, shell_completion
from harness.cli.judge_agreement import agreement_lines, format_table
from harness.cli.options import TRUST, BoundedNumber
from harness.cli.run_lookup import open_run
from harness.judging import (
    EXIT_NOTHING,
    EXIT_PASSED,
    EXIT_UNJUDGED,
    JUDGE_PROMPT_VERSION,
    read_labelled,
    reviewed_judge,
)
from harness.runner import GradedAnswer, JudgeMeasurement, check_judge, sole_judge
from harness.suites import load_config


@click.command("judge-check")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=shell_completion.complete_runs,
    help="Compare people's reviews of RUN with the verdicts of its judge; no model is asked.",
)
@click.option(
    "--judge-model", metavar="NAME", help="The judge to measure.  [default: gpt-4o, if configured]"
)
@click.option(
    "--threshold",
    type=BoundedNumber(0, 1),
    default=0.7,
    show_default=True,
    help="The lowest score with which an answer passes.",
)
@TRUST
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(
    file: Path | None, run: str | None, judge_model: str | None, threshold: float, json_output: bool
) -> None:
    """Compare a judge with people: agreement, Cohen's kappa, and every answer they disagree on.

    FILE is CSV or JSONL with the columns query, answer and human (a score from 0 to 1, pass or
    fail), and optionally tool_outputs, keywords, rubric and expected_answer. Instead of FILE, --run
    takes what people said of a run's verdicts (harness review).
    """
    if (file is None) == (run is None):
        raise UsageError("name either a FILE of graded answers or a run with reviews, by --run")
    if file is None:
        _check_run(str(run), threshold, json_output=json_output)
    else:
        _check_file(file, judge_model, threshold, json_output=json_output)


def _check_run(run: str, threshold: float, *, json_output: bool) -> None:
    found = reviewed_judge(open_run(run), threshold)
    click.echo(
        json.dumps(judge_agreement.build_document(found))
        if json_output
        else make_printable("\n".join(judge_agreement.format_lines(found)))
    )
    raise click.exceptions.Exit(EXIT_PASSED if found.labels else EXIT_NOTHING)


def _check_file(
    file: Path, judge_model: str | None, threshold: float, *, json_output: bool
) -> None:
    items = read_labelled(file)
    spec = sole_judge(judge_model, load_config(Path.cwd(), os.environ))
    # After the file was read: a mistake in it costs no question.
    GATE.require_plan((), [spec])
    for note in spec.notes:
        click.echo(note, err=True)
    click.echo(f"{len(items)} answers are judged by {spec.name}.", err=True)
    result = anyio.run(check_judge, items, spec, threshold)
    click.echo(
        json.dumps(_build_document(result))
        if json_output
        else make_printable("\n".join(_format_result(result)))
    )
    raise click.exceptions.Exit(
        EXIT_PASSED if len(result.judged_answers) == len(result.answers) else EXIT_UNJUDGED
    )


def _format_result(result: JudgeMeasurement) -> Iterator[str]:
    found = result.agreement
    yield (
        f"judge {result.judge}, prompt {JUDGE_PROMPT_VERSION}: {found.total} of "
        f"{len(result.answers)} answers judged"
    )
    yield from agreement_lines(found, wilson_interval(found.equal_pairs, found.total))
    if result.mean_difference is not None:
        yield f"mean difference of the scores {result.mean_difference:.2f}"
    yield from ("", *format_table(found))
    if result.disagreements:
        yield from ("", "They disagree on:", *map(_format_disagreement, result.disagreements))
    unjudged = [answer for answer in result.answers if answer.judgement is None]
    if unjudged:
        yield from (
            "",
            "Not judged:",
            *(f"  {answer.item.at}: {answer.error}" for answer in unjudged),
        )
    used = result.usage
    yield from (
        "",
        (
            f"tokens {format_number(used.input_tokens)} in, {format_number(used.output_tokens)} out"
            f" · cost {format_money(used.cost_usd)}"
        ),
    )


def _format_disagreement(answer: GradedAnswer) -> str:
    assert answer.judgement is not None
    said = answer.judgement.grade or f"{answer.judgement.score:.2f}"
    human = answer.item.human if isinstance(answer.item.human, str) else f"{answer.item.human:.2f}"
    return (
        f"  {answer.item.at}: human {human}, judge {said}: "
        f"{shorten_text(answer.judgement.explanation, 300)}"
    )


def _build_document(result: JudgeMeasurement) -> dict[str, Any]:
    found = result.agreement
    return {
        "judge": result.judge,
        "prompt_version": JUDGE_PROMPT_VERSION,
        "threshold": result.threshold,
        "answers": len(result.answers),
        "judged": found.total,
        "agreement": found.equal_pairs / found.total if found.total else None,
        "interval": wilson_interval(found.equal_pairs, found.total),
        "kappa": found.kappa,
        "labels": found.labels,
        "confusion": found.confusion,
        "mean_difference": result.mean_difference,
        "usage": asdict(result.usage),
        "verdicts": [
            {
                "line": answer.item.at.line,
                "human": answer.item.human,
                "score": answer.judgement.score if answer.judgement else None,
                "grade": answer.judgement.grade if answer.judgement else None,
                "explanation": answer.judgement.explanation if answer.judgement else None,
                "error": answer.error,
            }
            for answer in result.answers
        ],
    }
