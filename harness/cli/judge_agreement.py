"""The output of ``harness judge-check --run``: people's reviews beside the judge's verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.base import Interval, merge_trials, rate_interval, shorten_text
from harness.judging import FAIL, PASS, Agreement, LabelledResult, ReviewedJudge, compare_labels
from harness.reports import axis_fields

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
            yield from ("", "They disagree on:", *map(_format_disagreement, apart))
    if found.silent:
        which = "1 review" if found.silent == 1 else f"{found.silent} reviews"
        yield (
            f"{which} cannot be compared with the judge: a person failed the trial, and the reason "
            "may be another check, or one of several questions to the judge."
        )


def agreement_interval(labels: Sequence[LabelledResult]) -> Interval | None:
    """Return the 95 % interval of a judge's agreement: over tests, however often each is asked.

    The answers of several models, identities and repeats to one test are no more tests.
    """
    tests: dict[tuple[str, str], dict[tuple[str, str], list[bool]]] = {}
    for one in labels:
        case = one.result.case
        levels = tests.setdefault((one.result.suite, case.group or case.name), {})
        levels.setdefault((case.name, one.result.entrant), []).append(one.human == one.judged)
    found = [merge_trials([(sum(one), len(one)) for one in own.values()]) for own in tests.values()]
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


def _format_disagreement(one: LabelledResult) -> str:
    note = f" ({shorten_text(one.review.note, 200)})" if one.review.note else ""
    return (
        f"  {one.result.suite}::{one.result.case.name} with {one.result.entrant}: "
        f"{one.review.by} says {one.human}{note}, judge {one.judged}: "
        f"{shorten_text(one.explanation, 300)}"
    )
