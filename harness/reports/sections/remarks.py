"""What a summary says beside the counts: on the calls, and on what people said of the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.reports.sections.call_outcomes import call_lines
from harness.types import JsonObject, Report, Review


def remark_lines(report: Report) -> Iterator[str]:
    """Yield the lines: outcomes of calls, marked cases, and the number of reviewed verdicts."""
    yield from call_lines(report)
    if words := review_words(report.reviews.values()):
        yield words + ("; the verdicts of people count here" if report.by_people else "")


def review_words(reviews: Iterable[Review]) -> str:
    """Return ``2 reviewed, 1 overruled``; empty if nobody has reviewed anything."""
    counts = review_counts(reviews)
    words = f"{counts['reviewed']} reviewed, {counts['overruled']} overruled"
    return words if counts["reviewed"] else ""


def review_counts(reviews: Iterable[Review]) -> dict[str, int]:
    """Return how many verdicts were reviewed, accepted and overruled."""
    decisions = [review.decision for review in reviews]
    return {
        "reviewed": len(decisions),
        "accepted": decisions.count("accepted"),
        "overruled": decisions.count("overruled"),
    }


def reviews_json(reviews: Mapping[str, Review]) -> JsonObject:
    """Return the counts, and under ``trials`` each review by the key of its trial."""
    return {
        **review_counts(reviews.values()),
        "trials": {key: review_json(review) for key, review in reviews.items()},
    }


def review_json(review: Review) -> JsonObject:
    """Return a review for a program."""
    names = ("decision", "verdict", "machine", "by", "note", "at")
    return {name: getattr(review, name) for name in names}
