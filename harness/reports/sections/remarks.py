"""What a summary says beside the counts: on the calls, and on what people said of the verdicts.

A check of the answer, or one that only forbids, passes on a server where nothing works. Such a
trial has passed all the same, for that is what its checks say; every report marks it, so that
nobody takes it for proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.base import format_count, make_one_line
from harness.judging import PARSER_IS_OFF
from harness.types import (
    SEARCH,
    UNMARKED_FAILURE,
    CallCounts,
    CaseResult,
    CheckResult,
    JsonObject,
    Report,
    Review,
    TrialResult,
)

_BREAK = "\n"
_ONLY_FAILURES = "every call that succeeded reads like a failure"


def count_calls(runs: Iterable[TrialResult]) -> CallCounts:
    """Return the outcomes of the tool calls of ``runs``."""
    outcomes: Counter[str] = Counter()
    for result in runs:
        outcomes.update(result.outcomes or {})
    return CallCounts(outcomes=dict(outcomes))


def calls_words(calls: CallCounts) -> str:
    """Return the outcomes in words: ``21 calls: 4 ok, 3 denied, 12 errors, 2 not sent``."""
    searched = f"; {calls.searches:,} tool search{'' if calls.searches == 1 else 'es'}"
    tail = searched if calls.searches else ""
    if not calls.total:
        return f"no tool was called{tail}"
    parts = (
        (calls.denied, "denied"),
        (calls.errors, "error" if calls.errors == 1 else "errors"),
        (calls.not_sent, "not sent"),
    )
    told = ", ".join((f"{calls.ok} ok", *(f"{amount} {name}" for amount, name in parts if amount)))
    return f"{calls.total:,} call{'' if calls.total == 1 else 's'}: {told}{tail}"


def calls_json(calls: CallCounts) -> dict[str, Any]:
    """Return the counts as JSON: ``{"total", "ok", "denied", "errors", "not_sent", …}``."""
    names = ("total", "ok", "denied", "errors", "not_sent")
    return {
        **{name: getattr(calls, name) for name in names},
        **({"searches": calls.searches} if calls.searches else {}),
        "outcomes": dict(sorted(calls.outcomes.items())),
    }


def format_mark(result: TrialResult) -> str | None:
    """Return a remark on a passed trial: ``passed, but no call succeeded: 2 tool_error``.

    ``None`` if a call succeeded, if a deciding check asks for failing calls or for none, if the
    trial did not pass, if it had no tools, if its case aborts it, or if its answer is only there to
    be compared with that to other data.
    """
    probed = result.case.metadata.get("probe")
    is_only_compared = isinstance(probed, Mapping) and "data" in probed
    no_tools = not (result.offered or result.tool_calls)
    # Its case aborts its calls, so none of them could succeed.
    is_aborted = result.stop == "aborted"
    exempt = is_only_compared or no_tools or is_aborted
    if result.status != "passed" or result.outcomes is None or exempt:
        return None
    deciding = [one for one in result.checks if one.severity == "fail" and one.verdict == "passed"]
    # harness answers a search of tools itself, so that says nothing about the server.
    outcomes = {name: number for name, number in result.outcomes.items() if number}
    outcomes.pop(SEARCH, None)
    if succeeded := outcomes.get("ok"):
        return _mark_of_success(result, succeeded, deciding)
    traits = {trait for check in deciding for trait in check.traits}
    # A test of a refusal is proved by calls that did not succeed.
    if "no_success" in traits or ("withholds" in traits and outcomes.keys() == {"denied"}):
        return None
    if not outcomes:
        return "passed, but no call succeeded: none was made"
    if outcomes.keys() == {"blocked"}:
        which = "its call was" if outcomes["blocked"] == 1 else "its calls were"
        return f"passed, but {which} not sent (blocked)"
    told = ", ".join(
        f"{amount} {'not sent (blocked)' if outcome == 'blocked' else outcome}"
        for outcome, amount in sorted(outcomes.items())
    )
    return f"passed, but no call succeeded: {told}"


def _mark_of_success(
    result: TrialResult, succeeded: int, deciding: Sequence[CheckResult]
) -> str | None:
    """Return the mark of a trial in which ``succeeded`` calls ended without an error."""
    # A test of a refusal is passed by a failure that the server does not mark, too.
    wants_failure = any({"no_success", "withholds"} & set(one.traits) for one in deciding)
    unmarked = (check.actual for check in result.checks if check.kind == UNMARKED_FAILURE)
    told = [call["words"] for call in next(unmarked, ())]
    if len(told) == succeeded and not wants_failure:
        return f"passed, but {_ONLY_FAILURES}: {told[0]}"
    blocked = (f"the call of {one.label}" for one in deciding if _only_blocked(one))
    return next((f"passed, but {call} was not sent (blocked)" for call in blocked), None)


def case_mark(case: CaseResult) -> str | None:
    """Return the mark of a passed case; with several trials, with the number that have one."""
    marks = list(filter(None, map(format_mark, case.trials))) if case.status == "passed" else []
    if not marks:
        return None
    of = f" ({len(marks)} of {case.passed_count} passed trials)" if case.planned > 1 else ""
    return f"{marks[0]}{of}"


def wants_refusal(result: TrialResult, outcome: str) -> bool:
    """Whether a call that ended so is what a trial's suite asks for: a refusal of its own test."""
    if outcome in {"ok", SEARCH} or result.status != "passed":
        return False
    met = (one for one in result.checks if one.severity == "fail" and one.verdict == "passed")
    traits = {trait for check in met for trait in check.traits}
    return "no_success" in traits or (outcome == "denied" and "withholds" in traits)


def failed_warnings(result: TrialResult) -> list[CheckResult]:
    """Return the checks of ``severity: warn`` that a trial did not pass."""
    return [one for one in result.checks if one.severity == "warn" and one.verdict != "passed"]


def format_warnings(case: CaseResult) -> str | None:
    """Return the first warning of a case on a line: ``warning: max_replies 5 (and 1 more)``."""
    found = [check for result in case.trials for check in failed_warnings(result)]
    if not found:
        return None
    first = make_one_line(f"{found[0].label}: {found[0].explanation.partition(_BREAK)[0]}")
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"warning: {first.removesuffix(': ')}{more}"


def case_remark(case: CaseResult) -> str | None:
    """Return what a reader should know of a case that passed: its mark, else its warnings."""
    return case_mark(case) or (format_warnings(case) if case.status == "passed" else None)


def count_warnings(runs: Iterable[TrialResult]) -> tuple[Counter[str], int]:
    """Return the warnings of ``runs`` by kind of check, and how many trials have any."""
    kinds: Counter[str] = Counter()
    trials = 0
    for result in runs:
        found = failed_warnings(result)
        trials += bool(found)
        kinds.update(check.kind for check in found)
    return kinds, trials


def warning_words(runs: Iterable[TrialResult]) -> str:
    """Return ``3 warnings in 2 trials: max_replies 2, answer_contains 1``; empty without any."""
    kinds, trials = count_warnings(runs)
    if not trials:
        return ""
    told = ", ".join(f"{make_one_line(kind)} {amount}" for kind, amount in kinds.most_common())
    return f"{format_count(kinds.total(), 'warning')} in {format_count(trials, 'trial')}: {told}"


def select_marked(report: Report) -> list[CaseResult]:
    """Return the cases that have a mark, in order."""
    return [case for case in report.cases if case_mark(case)]


def call_lines(report: Report) -> Iterator[str]:
    """Yield a summary's lines on calls: their outcomes, and the number of marked cases."""
    if any(result.stop is not None for result in report.results):
        yield calls_words(report.calls)
    cases = failing = written = 0
    for case in report.cases:  # of a large run they are read from the disk: once
        mark = case_mark(case)
        is_failing = mark is not None and _ONLY_FAILURES in mark
        failing += is_failing
        cases += mark is not None and not is_failing
        written += sum(result.written_call is not None for result in case.trials)
    if cases:
        which = "1 case" if cases == 1 else f"{cases} cases"
        yield f"{which} passed although no call succeeded, or the expected one was not sent"
    if failing:
        which = "1 case" if failing == 1 else f"{failing} cases"
        yield f"{which} passed although {_ONLY_FAILURES}"
    if written:
        trials = "1 trial" if written == 1 else f"{written:,} trials"
        yield f"in {trials} the model wrote a tool call as text. {PARSER_IS_OFF}"


def _only_blocked(check: CheckResult) -> bool:
    """Whether the calls that a check counts were all held back by our own guard."""
    made = check.actual if isinstance(check.actual, list | tuple) else ()
    return (
        "expects_calls" in check.traits
        and bool(made)
        and all(isinstance(call, Mapping) and call.get("outcome") == "blocked" for call in made)
    )


def remark_lines(report: Report) -> Iterator[str]:
    """Yield the lines: outcomes of calls, marked cases, warnings, and reviewed verdicts."""
    yield from call_lines(report)
    if words := warning_words(report.results):
        yield words
    if words := review_words(report.reviews.values()):
        yield words + ("; the verdicts of people count here" if report.by_people else "")


def review_words(reviews: Iterable[Review]) -> str:
    """Return ``2 reviewed, 1 overruled``; empty if nobody has reviewed anything."""
    counts = review_counts(reviews)
    words = f"{counts['reviewed']} reviewed, {counts['overruled']} overruled"
    return words if counts["reviewed"] else ""


def review_counts(reviews: Iterable[Review]) -> dict[str, int]:
    """Return how many verdicts were reviewed, accepted and overruled."""
    told = Counter(review.decision for review in reviews)
    return {"reviewed": told.total(), "accepted": told["accepted"], "overruled": told["overruled"]}


def reviews_json(reviews: Mapping[str, Review]) -> JsonObject:
    """Return the counts, and under ``trials`` each review by the key of its trial."""
    trials = {key: review_json(review) for key, review in reviews.items()}
    return {**review_counts(reviews.values()), "trials": trials}


def review_json(review: Review) -> JsonObject:
    """Return a review for a program."""
    names = ("decision", "verdict", "machine", "by", "note", "at")
    return {name: getattr(review, name) for name in names}
