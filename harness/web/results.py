"""One trial, and a whole run, as JSON for the page and its API, made from the log alone.

Every text is safe (no control characters, none that change the text's direction) and bounded. Keys
cannot appear, since logs do not contain them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.base import limit_text, make_printable
from harness.judging import case_results
from harness.reports import (
    METRICS,
    QUESTION,
    ConversationExcerpt,
    build_cell,
    build_report,
    calls_json,
    compute_pass_rate,
    expected_tools,
    format_mark,
    format_problem,
    get_metrics,
    get_pairs,
    graded_check,
    graded_facts,
    iterate_trials,
    remark_lines,
    review_counts,
    review_json,
    shorten_line,
)
from harness.runlog import Header, RunLog, TrialLine
from harness.types import (
    CheckResult,
    Report,
    Review,
    Status,
    Transcript,
    TrialResult,
    UserMessage,
)

Band: TypeAlias = Literal["good", "acceptable", "needs work"]
"""Band of a share: from 0.9, from 0.7, below."""
Colour: TypeAlias = Literal["green", "yellow", "red", "grey"]
"""Colour of a trial's score: from 0.7, from 0.4, below; grey without a score."""

_Ending: TypeAlias = Status | Literal["waiting"]
"""A trial's status, or ``waiting`` if it is not settled yet."""

GOOD, ACCEPTABLE, POOR = 0.9, 0.7, 0.4
_ANSWER = 20_000
_RESULT = 4_000
_NAME = 500
_MOST_CALLS = 100
_DEEPEST = 12
_MOST_ITEMS = 200


def get_band(value: float | None) -> Band | None:
    """Return the band of a pass rate or an average."""
    if value is None:
        return None
    return "good" if value >= GOOD else "acceptable" if value >= ACCEPTABLE else "needs work"


def choose_colour(result: TrialResult, score: float | None) -> Colour:
    """Return the colour of a trial: by its score, else by its status."""
    if result.status not in {"passed", "failed"}:
        return "grey"
    if score is None:
        return "green" if result.status == "passed" else "red"
    return "green" if score >= ACCEPTABLE else "yellow" if score >= POOR else "red"


def encode_result(line: TrialLine) -> dict[str, Any]:
    """Return a trial with all data of its card."""
    run, said = line.run, line.transcript or Transcript()
    graded = graded_check(run)
    score = graded.score if graded else None
    expected = _encode_expected(run, graded)
    return {
        "key": run.key,
        "suite": clean_name(run.suite),
        "case": clean_name(run.case.name),
        "model": clean_name(run.entrant),
        "trial": run.trial,
        "trials": run.repeats,
        "status": run.status,
        "score": score,
        "colour": choose_colour(run, score),
        "metrics": _encode_metrics(graded),
        "query": clean_json(_find_query(said)),
        "expected": expected[:_MOST_CALLS],
        "calls": _encode_calls(run, said, graded),
        "left_out": {
            "expected": len(expected[_MOST_CALLS:]),
            "calls": len(said.server_calls[_MOST_CALLS:]),
        },
        "answer": limit_text(said.answer, _ANSWER),
        "explanation": clean_json(_find_explanation(run, graded)),
        "problem": format_mark(run) or format_problem(run),
        "checks": [_encode_check(check) for check in run.checks if check is not graded],
        "error": _encode_error(run),
        "line": run.case.at.line if run.case.at else None,
        "seconds": round(run.latency_s, 3),
        "tokens": {"input": run.usage.input_tokens, "output": run.usage.output_tokens},
        "cost_usd": (run.usage + run.judge_usage + run.user_usage).cost_usd,
    }


def trial_cell(line: TrialLine) -> dict[str, Any]:
    """Return the cell of one trial, as `harness.reports.viewer.grid` has it of a case."""
    said = line.transcript or Transcript()
    question = shorten_line(_find_query(said).partition("\n\n")[0], QUESTION)
    told = ConversationExcerpt(question, [call.tool for call in said.server_calls])
    # With its repeats, the case would lack all trials but this one.
    (case,) = case_results([replace(line.run, repeats=1)])
    return build_cell(case, {line.run.key: told}) | {"status": line.run.status}


def run_facts(header: Header, log: Path) -> dict[str, Any]:
    """Return what a log's header says of its run, as the event ``run`` has it.

    A run is called like its folder.
    """
    suites = [
        {
            "name": clean_name(name),
            "description": clean_json(facts.get("description")),
            "cases": [clean_name(case) for case in facts.get("cases", ())],
        }
        for name, facts in header.suites.items()
    ]
    return {
        "id": log.parent.name,
        "suites": suites,
        "models": [clean_name(name) for name in header.entrants],
        "servers": [clean_name(name) for name in header.servers],
        "planned": header.planned,
        "concurrency": header.settings.get("concurrency"),
        "started_at": header.started_at,
        "ours": False,
        "notes": [],
    }


def build_summary(log: RunLog, report: Report | None = None) -> dict[str, Any]:
    """Return the summary of a run: pass rate, averages of the three metrics, time and cost.

    ``report`` is that of ``log``, if it is made already.
    """
    report = report or build_report(log)
    groups = [_build_group(report, suite, model) for suite, model in _list_groups(report)]
    one_model = len({group["model"] for group in groups}) <= 1
    rate = compute_pass_rate(report.cases)
    counts = report.counts
    return {
        "run": report.run_id,
        "reason": report.reason,
        "cancelled": was_cancelled(log),
        "damaged": [clean_json(words) for words in report.damaged],
        "suites": [clean_name(name) for name in report.suites],
        "models": [clean_name(name) for name in report.entrants],
        "counts": {
            "planned": counts.planned,
            "passed": counts.passed,
            "failed": counts.failed,
            "error": counts.error,
            "skipped": counts.skipped,
            "cancelled": counts.cancelled,
        },
        "calls": calls_json(report.calls),
        "call_lines": list(remark_lines(report)),
        "pass_rate": None if rate is None else round(rate.rate, 6),
        "pass_rate_interval": None if rate is None else [round(rate.low, 6), round(rate.high, 6)],
        "band": get_band(None if rate is None else rate.rate),
        # A mean over several models describes none of them.
        "averages": compute_averages(report.results if one_model else ()),
        "groups": groups,
        "reviews": encode_reviews(log.reviews),
        "seconds": report.elapsed_s,
        "tokens": {"input": report.usage.input_tokens, "output": report.usage.output_tokens},
        "cost_usd": (report.usage + report.judge_usage + report.user_usage).cost_usd,
    }


def was_cancelled(log: RunLog) -> bool:
    """Return whether a person ended the run, with *Cancel* or Ctrl-C."""
    footer = log.footer
    return footer is not None and footer.reason == "interrupted" and footer.signal == "SIGINT"


def encode_reviews(reviews: Mapping[str, Review]) -> dict[str, Any]:
    """Return what people said of the verdicts: counts, and each review by the key of its trial."""
    trials = {key: clean_json(review_json(review)) for key, review in reviews.items()}
    return {**review_counts(reviews.values()), "trials": trials}


def _list_groups(report: Report) -> list[tuple[str, str]]:
    """Return each suite with each model that has results of it."""
    return list(dict.fromkeys((case.suite, case.entrant) for case in report.cases))


def _build_group(report: Report, suite: str, model: str) -> dict[str, Any]:
    """Return the figures of one model on one suite."""
    cases = [case for case in report.cases if (case.suite, case.entrant) == (suite, model)]
    rate = compute_pass_rate(cases)
    return {
        "suite": clean_name(suite),
        "model": clean_name(model),
        "trials": dict(Counter(trial.status for trial in iterate_trials(cases))),
        "pass_rate": None if rate is None else round(rate.rate, 6),
        "pass_rate_interval": None if rate is None else [round(rate.low, 6), round(rate.high, 6)],
        "band": get_band(None if rate is None else rate.rate),
        "averages": compute_averages(iterate_trials(cases)),
    }


def compute_averages(results: Iterable[TrialResult]) -> dict[str, Any]:
    """Return the mean of each metric over the trials that have it, and of the overall score."""
    found: dict[str, list[float]] = {name: [] for name in (*METRICS, "overall")}
    for check in (check for result in results if (check := graded_check(result))):
        for name, facts in _encode_metrics(check).items():
            if facts["score"] is not None:
                found[name].append(facts["score"])
        if check.score is not None:
            found["overall"].append(check.score)
    return {name: _compute_average(scores) for name, scores in found.items()}


class Progress:
    """The progress of a run, counted trial by trial."""

    def __init__(self, planned: int) -> None:
        """Begin at zero."""
        self._planned = planned
        self._ended: dict[str, tuple[_Ending, float | None]] = {}
        self._endings: Counter[_Ending] = Counter()
        self._cost = 0.0
        self._unpriced = 0

    def add(self, result: TrialResult) -> None:
        """Count a trial; a repeated trial of a resumed run replaces the earlier one."""
        self._count_result(result, result.status)

    def add_waiting(self, ended: TrialResult) -> None:
        """Count a trial that has ended but is not settled."""
        self._count_result(ended, "waiting")

    def _count_result(self, result: TrialResult, ending: _Ending) -> None:
        if result.key in self._ended:
            self._count(*self._ended[result.key], -1)
        cost = (result.usage + result.judge_usage + result.user_usage).cost_usd
        self._ended[result.key] = ending, cost
        self._count(ending, cost, 1)

    def _count(self, status: _Ending, cost: float | None, times: int) -> None:
        self._endings[status] += times
        self._cost += times * (cost or 0.0)
        self._unpriced += times * (cost is None)

    def as_json(self) -> dict[str, Any]:
        """Return the numbers so far; the cost is null if any cost is unknown."""
        done = len(self._ended)
        endings: dict[str, int] = {
            status: count for status, count in self._endings.items() if count
        }
        cost = None if self._unpriced else self._cost
        return {"done": done, "planned": max(self._planned, done), **endings, "cost_usd": cost}


def clean_name(text: str) -> str:
    """Return a name in the form that all events and answers share."""
    return limit_text(text, _NAME)


def clean_json(value: Any, longest: int = _RESULT, depth: int = 0) -> Any:
    """Return a JSON value with safe, bounded texts and bounded depth and width.

    One further item says how many were left out.
    """
    if isinstance(value, str):
        return limit_text(value, longest)
    # Python writes these as NaN and Infinity, which no browser reads.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth >= _DEEPEST:
        return "…"
    beyond = len(value) - _MOST_ITEMS
    more = [f"… {beyond:,} more are in the run log"] if beyond > 0 else []
    if isinstance(value, Mapping):
        items = list(value.items())[:_MOST_ITEMS]
        shown = {
            make_printable(str(key))[:200]: clean_json(item, longest, depth + 1)
            for key, item in items
        }
        return shown | dict.fromkeys(more)
    return [*(clean_json(item, longest, depth + 1) for item in list(value)[:_MOST_ITEMS]), *more]


def _compute_average(scores: Iterable[float]) -> dict[str, Any]:
    known = list(scores)
    mean = round(math.fsum(known) / len(known), 6) if known else None
    return {"score": mean, "band": get_band(mean), "trials": len(known)}


def _encode_metrics(check: CheckResult | None) -> dict[str, dict[str, Any]]:
    return {
        name: {key: clean_json(facts[key]) for key in ("score", "judge", "label") if key in facts}
        for name, facts in get_metrics(check).items()
    }


def _find_query(said: Transcript) -> str:
    return "\n\n".join(
        message.text for message in said.messages if isinstance(message, UserMessage)
    )


def _encode_expected(result: TrialResult, graded: CheckResult | None) -> list[dict[str, Any]]:
    """Return the calls that were asked for.

    Where arguments count, with those of the call that came nearest.
    """
    pairs = get_pairs(graded)
    if pairs is not None:
        return [
            {
                "tool": clean_json(pair["tool"]),
                "arguments": clean_json(pair["expected"]),
                "actual": clean_json(pair["actual"]),
                "score": pair["score"],
            }
            for pair in pairs
        ]
    return [{"tool": clean_json(tool)} for tool in expected_tools(result.checks)]


def _encode_calls(
    result: TrialResult, said: Transcript, graded: CheckResult | None
) -> list[dict[str, Any]]:
    marked = graded_facts(graded).get("calls") or ()
    wanted = set(expected_tools(result.checks))
    calls = []
    for place, call in enumerate(said.server_calls[:_MOST_CALLS]):
        known = marked[place] if place < len(marked) else None
        calls.append(
            {
                "tool": clean_json(call.tool),
                "arguments": clean_json(call.arguments),
                "outcome": call.outcome,
                "expected": bool(known["expected"]) if known else call.tool in wanted,
                "result": limit_text(call.text, _RESULT),
                "seconds": round(call.duration_s, 3),
            }
        )
    return calls


def _find_explanation(result: TrialResult, graded: CheckResult | None) -> str:
    """Return the explanation of the judge, or of the score in its place."""
    faith = graded_facts(graded).get("metrics", {}).get("faithfulness", {})
    if faith.get("explanation"):
        return str(faith["explanation"])
    return "\n".join(judgement.explanation for judgement in result.judgements)


def _encode_check(check: CheckResult) -> dict[str, Any]:
    return {
        "label": clean_json(check.label),
        "verdict": check.verdict,
        "warning": check.severity == "warn",
        "explanation": clean_json(check.explanation),
        "hint": clean_json(check.hint),
    }


def _encode_error(result: TrialResult) -> dict[str, Any] | None:
    if result.error is None:
        return None
    return {
        "kind": result.error.kind,
        "message": clean_json(result.error.message),
        "detail": clean_json(result.error.detail),
    }
