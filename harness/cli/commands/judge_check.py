"""Compare a judge with people: agreement, Cohen's kappa."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import click

from harness.base import (
    GATE,
    Interval,
    UsageError,
    format_money,
    format_number,
    group_by_test,
    make_printable,
    merge_trials,
    rate_interval,
    shorten_text,
    wilson_interval,
)
from harness.cli.options import TRUST, BoundedNumber, complete_runs, shown_option
from harness.cli.run_lookup import open_run
from harness.judging import (
    EXIT_NOTHING,
    EXIT_PASSED,
    EXIT_UNJUDGED,
    FAIL,
    JUDGE_PROMPT_VERSION,
    PASS,
    Agreement,
    LabelledResult,
    ReviewedJudge,
    compare_labels,
    read_labelled,
    reviewed_judge,
)
from harness.reports import axis_fields
from harness.runner import GradedAnswer, JudgeMeasurement, check_judge, sole_judge
from harness.suites import load_config

FEW = 30
"""With fewer answers than this, the figures are rough."""


def group_by_judge(found: ReviewedJudge) -> dict[str, list[LabelledResult]]:
    """Return the labels of each judge."""
    judges: dict[str, list[LabelledResult]] = {}
    for label in found.labels:
        judges.setdefault(label.judge, []).append(label)
    return judges


def measure_agreement(labels: Sequence[LabelledResult]) -> Agreement:
    """Return how well a judge agrees with the people who reviewed its answers."""
    return compare_labels([(label.human, label.judged) for label in labels], (PASS, FAIL))


def format_lines(found: ReviewedJudge) -> Iterator[str]:
    """Yield the output."""
    if not found.labels:
        yield "No review can be compared with a judge: review trials that a judge has graded."
    for judge, labels in group_by_judge(found).items():
        together = measure_agreement(labels)
        yield f"judge {judge}: {together.total} answers reviewed by people"
        yield from agreement_lines(together, agreement_interval(labels))
        yield from ("", *format_table(together))
        apart = [label for label in labels if label.human != label.judged]
        if apart:
            yield from ("", "They disagree on:", *map(_format_overruled, apart))
    if found.silent:
        which = "1 review" if found.silent == 1 else f"{found.silent} reviews"
        yield (
            f"{which} cannot be compared with the judge: a person failed the trial, and the reason "
            "may be another check, or one of several questions to the judge."
        )


def agreement_interval(labels: Sequence[LabelledResult]) -> Interval | None:
    """Return the 95 % interval of a judge's agreement: over tests, however often each is asked.

    The answers of several models, cases and repeats to one test are no more tests.
    """
    asked: dict[tuple[str, str, str, str], list[bool]] = {}
    for one in labels:
        case = one.result.case
        asking = one.result.suite, case.test or case.name, case.name, one.result.entrant
        asked.setdefault(asking, []).append(one.human == one.judged)
    counted = ((suite, test, (sum(one), len(one))) for (suite, test, *_), one in asked.items())
    found = [*map(merge_trials, group_by_test(counted))]
    rates = [agreed / total for agreed, total in found]
    return rate_interval(rates, sum(total for _, total in found))


def agreement_lines(found: Agreement, interval: Interval | None) -> Iterator[str]:
    """Yield agreement, its interval and Cohen's kappa."""
    if interval:
        low, high = interval
        yield (
            f"agreement {found.equal_pairs / found.total:.2f} (95 % interval "
            f"{low:.2f}–{high:.2f}), "
            f"Cohen's kappa {'undefined' if found.kappa is None else f'{found.kappa:.2f}'}"
        )
    if found.total < FEW:
        yield f"With fewer than {FEW} answers these figures are rough."


def format_table(found: Agreement) -> Iterator[str]:
    """Yield the table of both labels."""
    heads = [f"judge {label}" for label in found.labels]
    first = max(len(f"human {label}") for label in found.labels)
    yield " " * first + "".join(f"  {head}" for head in heads)
    for label, row in zip(found.labels, found.confusion, strict=True):
        cells = "".join(f"  {count:>{len(head)}}" for count, head in zip(row, heads, strict=True))
        yield f"human {label}".ljust(first) + cells


def build_document(found: ReviewedJudge) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "judges": [
            {
                "judge": judge,
                "judged": (together := measure_agreement(labels)).total,
                "agreement": together.equal_pairs / together.total,
                "interval": agreement_interval(labels),
                "kappa": together.kappa,
                "labels": together.labels,
                "confusion": together.confusion,
                "verdicts": [
                    {
                        "suite": label.result.suite,
                        "case": label.result.case.name,
                        "model": label.result.model,
                        **axis_fields(label.result.axes),
                        "trial": label.result.trial,
                        "human": label.human,
                        "judge": label.judged,
                        "by": label.review.by,
                        "note": label.review.note,
                        "explanation": label.explanation,
                    }
                    for label in labels
                ],
            }
            for judge, labels in group_by_judge(found).items()
        ],
        "silent": found.silent,
    }


def _format_overruled(one: LabelledResult) -> str:
    note = f" ({shorten_text(one.review.note, 200)})" if one.review.note else ""
    return (
        f"  {one.result.suite}::{one.result.case.name} with {one.result.entrant}: "
        f"{one.review.by} says {one.human}{note}, judge {one.judged}: "
        f"{shorten_text(one.explanation, 300)}"
    )


@click.command("judge-check")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Compare people's reviews of RUN with the verdicts of its judge; no model is asked.",
)
@click.option(
    "--judge-model", metavar="NAME", help="The judge to measure.  [default: gpt-4o, if configured]"
)
@shown_option(
    "--threshold",
    type=BoundedNumber(0, 1),
    default=0.7,
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
        found = reviewed_judge(open_run(str(run)), threshold)
        lines, document = format_lines(found), build_document(found)
        code = EXIT_PASSED if found.labels else EXIT_NOTHING
    else:
        items = read_labelled(file)
        spec = sole_judge(judge_model, load_config(Path.cwd(), os.environ))
        # After the file was read: a mistake in it costs no question.
        GATE.require_plan((), [spec])
        for note in (*spec.notes, f"{len(items)} answers are judged by {spec.name}."):
            click.echo(note, err=True)
        result = anyio.run(check_judge, items, spec, threshold)
        lines, document = _format_result(result), _build_measured(result)
        whole = len(result.judged_answers) == len(result.answers)
        code = EXIT_PASSED if whole else EXIT_UNJUDGED
    click.echo(json.dumps(document) if json_output else make_printable("\n".join(lines)))
    raise click.exceptions.Exit(code)


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
        yield from ("", "Not judged:", *(f"  {one.item.at}: {one.error}" for one in unjudged))
    sent, said = format_number(result.usage.input_tokens), format_number(result.usage.output_tokens)
    yield from ("", f"tokens {sent} in, {said} out · cost {format_money(result.usage.cost_usd)}")


def _format_disagreement(answer: GradedAnswer) -> str:
    assert answer.judgement is not None
    said = answer.judgement.grade or f"{answer.judgement.score:.2f}"
    human = answer.item.human if isinstance(answer.item.human, str) else f"{answer.item.human:.2f}"
    return (
        f"  {answer.item.at}: human {human}, judge {said}: "
        f"{shorten_text(answer.judgement.explanation, 300)}"
    )


def _build_measured(result: JudgeMeasurement) -> dict[str, Any]:
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
                **{
                    name: getattr(answer.judgement, name, None)
                    for name in ("score", "grade", "explanation")
                },
                "error": answer.error,
            }
            for answer in result.answers
        ],
    }
