"""One trial, and the progress of a run, as JSON for the page and its API."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from harness.base import limit_text
from harness.judging import case_results
from harness.reports import (
    ACCEPTABLE,
    POOR,
    QUESTION,
    ConversationExcerpt,
    TrialRecord,
    build_cell,
    clean_json,
    clean_name,
    encode_metrics,
    expected_tools,
    format_mark,
    get_pairs,
    graded_check,
    graded_facts,
    mark_calls,
    shorten_line,
)
from harness.runlog import TrialLine
from harness.suites import AXES
from harness.types import CheckResult, Status, Transcript, Trial, TrialResult, UserMessage

Colour: TypeAlias = Literal["green", "yellow", "red", "grey"]
"""Colour of a trial's score: from 0.7, from 0.4, below; grey without a score."""

_ANSWER = 20_000
_RESULT = 4_000
_MOST_CALLS = 100
_FIELDS = (
    *("key", *(axis.name for axis in AXES), "repeats", "status", "line"),
    *("latency_s", "tokens_in", "tokens_out", "paid_usd"),
)
"""Fields of the record of a trial that its card has as they are."""


def choose_colour(result: TrialResult, score: float | None) -> Colour:
    """Return the colour of a trial: by its score, else by its status."""
    if result.status not in {"passed", "failed"}:
        return "grey"
    if score is None:
        return "green" if result.status == "passed" else "red"
    return "green" if score >= ACCEPTABLE else "yellow" if score >= POOR else "red"


def name_trial(trial: Trial | TrialResult, number: int) -> dict[str, Any]:
    """Return what tells a trial from the others of its run, as events have it."""
    return {
        "suite": clean_name(trial.suite),
        "case": clean_name(trial.case.name),
        "entrant": clean_name(trial.entrant),
        "trial": number,
    }


def encode_result(line: TrialLine) -> dict[str, Any]:
    """Return a trial with all data of its card."""
    run, said = line.run, line.transcript or Transcript()
    record = TrialRecord(run)
    graded = graded_check(run)
    score = graded.score if graded else None
    expected = _encode_expected(run, graded)
    return {
        **{name: record.read(name) for name in _FIELDS},
        **name_trial(run, run.trial),
        "model": clean_name(run.model),
        "score": score,
        "colour": choose_colour(run, score),
        "metrics": encode_metrics(graded),
        "query": clean_json(_find_query(said)),
        "expected": expected[:_MOST_CALLS],
        "calls": _encode_calls(run, said),
        "left_out": {
            "expected": len(expected[_MOST_CALLS:]),
            "calls": len(said.server_calls[_MOST_CALLS:]),
        },
        "answer": limit_text(said.answer, _ANSWER),
        "explanation": clean_json(_find_explanation(run, graded)),
        "problem": format_mark(run) or record.problem or "",
        "checks": [_encode_check(check) for check in run.checks if check is not graded],
        "error": run.error
        and {
            "kind": run.error.kind,
            "message": clean_json(run.error.message),
            "detail": clean_json(run.error.detail),
        },
    }


def trial_cell(line: TrialLine) -> dict[str, Any]:
    """Return the cell of one trial, as `harness.reports.viewer.grid` has it of a case."""
    said = line.transcript or Transcript()
    question = shorten_line(_find_query(said).partition("\n\n")[0], QUESTION)
    told = ConversationExcerpt(question, [call.tool for call in said.server_calls])
    # With its repeats, the case would lack all trials but this one.
    (case,) = case_results([replace(line.run, repeats=1)])
    return build_cell(case, {line.run.key: told}) | {"status": line.run.status}


class Progress:
    """The progress of a run, counted trial by trial."""

    def __init__(self, planned: int) -> None:
        """Begin at zero."""
        self._planned = planned
        self._ended: dict[str, tuple[Status | Literal["waiting"], float | None]] = {}
        self._endings: Counter[str] = Counter()
        self._cost = 0.0
        self._unpriced = 0

    def add(self, result: TrialResult, *, is_settled: bool = True) -> None:
        """Count a trial; a repeated trial of a resumed run replaces the earlier one."""
        # Counted one by one: a page that runs for long asks for the sum at each event.
        if result.key in self._ended:
            self._count(*self._ended[result.key], -1)
        cost = (result.usage + result.judge_usage + result.user_usage).cost_usd
        self._ended[result.key] = result.status if is_settled else "waiting", cost
        self._count(*self._ended[result.key], 1)

    def _count(self, status: str, cost: float | None, times: int) -> None:
        self._endings[status] += times
        self._cost += times * (cost or 0.0)
        self._unpriced += times * (cost is None)

    def as_json(self) -> dict[str, Any]:
        """Return the numbers so far; the cost is null if any cost is unknown."""
        done = len(self._ended)
        cost = None if self._unpriced else self._cost
        # `+` leaves out the endings that no trial has any more.
        return {
            "done": done,
            "planned": max(self._planned, done),
            **+self._endings,
            "paid_usd": cost,
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


def _encode_calls(result: TrialResult, said: Transcript) -> list[dict[str, Any]]:
    return [
        {
            "tool": clean_json(call.tool),
            "arguments": clean_json(call.arguments),
            "outcome": call.outcome,
            "expected": expected,
            "result": limit_text(call.text, _RESULT),
            "duration_s": round(call.duration_s, 3),
            "fault": None if call.injected is None else clean_json(call.injected.rule),
            "shown": None if call.injected is None else limit_text(call.injected.text, _RESULT),
        }
        for call, expected in mark_calls(result, said, _MOST_CALLS)
    ]


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
