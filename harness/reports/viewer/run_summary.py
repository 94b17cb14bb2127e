"""A whole run as JSON for its page and the list of runs, made from the log and its report.

Every text is safe (no control characters, none that change the text's direction) and bounded. Keys
cannot appear, since logs do not contain them.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.base import limit_text, make_printable
from harness.judging import NO_TRIAL
from harness.reports.build import iterate_trials, past_run
from harness.reports.sections.fault_tables import fault_tables
from harness.reports.sections.remarks import calls_json, remark_lines, review_counts, review_json
from harness.reports.sections.sentences import PassRate, compute_pass_rate, group_by_subject
from harness.reports.viewer.graded_checks import METRICS, get_metrics, graded_check
from harness.runlog import Header, RunLog
from harness.types import CheckResult, Report, Review, TrialResult

WORKBENCH = "workbench"
"""The key of a log's settings that says which workbench the run belongs to."""

Band: TypeAlias = Literal["good", "acceptable", "needs work"]
"""Band of a share: from 0.9, from 0.7, below."""
GOOD, ACCEPTABLE, POOR = 0.9, 0.7, 0.4
_NAME = 500
_TEXT = 4_000
_DEEPEST = 12
_MOST_ITEMS = 200
_OF_ENTRY = ("counts", "pass_rate", "pass_rate_interval", "band", "averages", "groups")


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


def build_summary(log: RunLog, report: Report) -> dict[str, Any]:
    """Return the summary of ``log``: pass rate, averages of the three metrics, time and cost."""
    groups = group_by_subject(report.cases)
    counts = report.counts
    return {
        "run": report.run_id,
        "reason": report.reason,
        "cancelled": _was_cancelled(log),
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
        "tables": [
            {"title": clean_name(title), "lines": clean_json(list(lines))}
            for title, lines in fault_tables(report, log)
        ],
        **_encode_rate(compute_pass_rate(report.cases)),
        # A mean over several models or suites describes none of them.
        "averages": compute_averages(report.results if len(groups) <= 1 else ()),
        "groups": [
            {
                "suite": clean_name(suite),
                "entrant": clean_name(entrant),
                "trials": dict(Counter(trial.status for trial in iterate_trials(cases))),
                **_encode_rate(compute_pass_rate(cases)),
                "averages": compute_averages(iterate_trials(cases)),
            }
            for (suite, entrant), cases in groups.items()
        ],
        "reviews": encode_reviews(log.reviews),
        "elapsed_s": report.elapsed_s,
        "tokens_in": report.usage.input_tokens,
        "tokens_out": report.usage.output_tokens,
        "paid_usd": (report.usage + report.judge_usage + report.user_usage).cost_usd,
    }


def build_entry(log: RunLog, report: Report, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the list of runs says of ``log``, all but its state; ``summary`` is its own."""
    past = past_run(report)
    result = past.result
    return {
        "id": log.path.parent.name,
        "started_at": past.started_at,
        "suites": [clean_name(name) for name in past.suites],
        "models": [clean_name(name) for name in past.models],
        "workbench": WORKBENCH in log.header.settings,
        "by_suite": _count_by_suite(report),
        "result": result.replace("(interrupted)", "(by hand)") if _was_cancelled(log) else result,
        "reason": past.reason,
        "open": log.footer is None,
        **{key: summary[key] for key in _OF_ENTRY},
        "elapsed_s": past.elapsed_s,
        "paid_usd": past.cost_usd,
    }


def _count_by_suite(report: Report) -> list[dict[str, Any]]:
    """Return passed and judged trials of each suite and entrant, for the trend.

    ``asked`` is equal for runs of the same cases, ``cases`` their number, and ``with_verdict`` how
    many of them have one: a run of eight cases in a hundred is not plotted beside full ones.
    """
    # Not the results themselves: they may be too many for memory.
    judged: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for result in report.results:
        # The entry for the run as a whole is no trial, and has no part in a rate.
        if result.status in {"passed", "failed"} and result.trial != NO_TRIAL:
            group = judged.setdefault((result.suite, result.entrant), Counter())
            group[result.case.name, result.status] += 1
    parts = []
    for (suite, entrant), endings in judged.items():
        with_verdict = {name for name, _ in endings}
        # Sorted: the same cases in another order ask nothing else.
        cases = sorted({*report.suites.get(suite, {}).get("cases", ()), *with_verdict})
        parts.append(
            {
                "suite": clean_name(suite),
                "entrant": clean_name(entrant),
                "passed": sum(n for (_, status), n in endings.items() if status == "passed"),
                "judged": endings.total(),
                "asked": hashlib.sha256("\0".join(cases).encode()).hexdigest()[:16],
                "cases": len(cases),
                "with_verdict": len(with_verdict),
            }
        )
    return parts


def _was_cancelled(log: RunLog) -> bool:
    """Return whether a person ended the run, with *Cancel* or Ctrl-C."""
    footer = log.footer
    return footer is not None and footer.reason == "interrupted" and footer.signal == "SIGINT"


def encode_reviews(reviews: Mapping[str, Review]) -> dict[str, Any]:
    """Return what people said of the verdicts: counts, and each review by the key of its trial."""
    trials = {key: clean_json(review_json(review)) for key, review in reviews.items()}
    return {**review_counts(reviews.values()), "trials": trials}


def _encode_rate(rate: PassRate | None) -> dict[str, Any]:
    return {
        "pass_rate": None if rate is None else round(rate.rate, 6),
        "pass_rate_interval": None if rate is None else [round(rate.low, 6), round(rate.high, 6)],
        "band": get_band(None if rate is None else rate.rate),
    }


def get_band(value: float | None) -> Band | None:
    """Return the band of a pass rate or an average."""
    if value is None:
        return None
    return "good" if value >= GOOD else "acceptable" if value >= ACCEPTABLE else "needs work"


def compute_averages(results: Iterable[TrialResult]) -> dict[str, Any]:
    """Return the mean of each metric over the trials that have it, and of the overall score."""
    found: dict[str, list[float]] = {name: [] for name in (*METRICS, "overall")}
    for check in (check for result in results if (check := graded_check(result))):
        for name, facts in encode_metrics(check).items():
            if facts["score"] is not None:
                found[name].append(facts["score"])
        if check.score is not None:
            found["overall"].append(check.score)
    return {name: _compute_average(scores) for name, scores in found.items()}


def _compute_average(scores: Sequence[float]) -> dict[str, Any]:
    mean = round(math.fsum(scores) / len(scores), 6) if scores else None
    return {"score": mean, "band": get_band(mean), "trials": len(scores)}


def encode_metrics(check: CheckResult | None) -> dict[str, dict[str, Any]]:
    """Return score, judge and label of each metric that was measured."""
    return {
        name: {key: clean_json(facts[key]) for key in ("score", "judge", "label") if key in facts}
        for name, facts in get_metrics(check).items()
    }


def clean_name(text: str) -> str:
    """Return a name in the form that all events and answers share."""
    return limit_text(text, _NAME)


def clean_json(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with safe, bounded texts and bounded depth and width.

    One further item says how many were left out.
    """
    if isinstance(value, str):
        return limit_text(value, _TEXT)
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
        shown = {
            make_printable(str(key))[:200]: clean_json(item, depth + 1)
            for key, item in list(value.items())[:_MOST_ITEMS]
        }
        return shown | dict.fromkeys(more)
    return [*(clean_json(item, depth + 1) for item in list(value)[:_MOST_ITEMS]), *more]
