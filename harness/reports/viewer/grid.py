"""The grid of a run: a cell for each case and model, and the ways to put them into columns.

Every figure is made here. A page only arranges cells: it filters and sorts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.base import format_money, format_seconds, make_one_line, shorten_text
from harness.reports.case_names import part_name
from harness.reports.sections.call_outcomes import case_mark
from harness.reports.sections.sentences import (
    URGENCY,
    compute_pass_rate,
    format_problem,
    model_words,
)
from harness.reports.sections.tool_use import expected_tools
from harness.runlog import RunLog
from harness.types import SEARCH, CaseResult, JsonObject, Report, TrialResult

NAME = 300
"""Characters of a name at most."""
QUESTION = 160
"""Characters of a question at most."""
PROBLEM = 300
"""Characters of a failure's first line at most."""
_MOST = 30
"""Maximum number of tools, tags or checks of one case; more would make a filter useless."""


@dataclass(frozen=True, slots=True)
class ConversationExcerpt:
    """What a cell shows of a conversation."""

    question: str = ""
    """The beginning of what the user said first."""
    tools: Sequence[str] = ()
    """The tools that were called."""


_SILENT = ConversationExcerpt()


def build_grid(report: Report, log: RunLog) -> JsonObject:
    """Return the grid of ``report``, ready to show: texts made safe, figures in words.

    ``{"urgency": [status], "axes": [axis], "cells": [cell]}``. An axis says which facts of a cell
    make its column (``column``) and its row (``row``), and lists the columns with their rates. The
    cells are those of `Report.cases`, in that order.
    """
    return {**build_grid_frame(report), "cells": list(iterate_cells(report, log))}


def build_grid_frame(report: Report) -> JsonObject:
    """Return the grid of ``report`` without its cells."""
    return {
        "urgency": list(URGENCY),
        "axes": [_build_model_axis(report), *_build_identity_axes(report)],
    }


def iterate_cells(report: Report, log: RunLog) -> Iterator[dict[str, Any]]:
    """Yield the cell of each case of ``report``, in that order; each line is read once.

    Lines are read as plain JSON: of a large log this takes a tenth of reading them whole.
    """
    for case in report.cases:
        logged = [trial.key for trial in case.trials if trial.key in log]
        said = {key: _extract_excerpt(json.loads(log.read_raw_line(key))) for key in logged}
        yield {**build_cell(case, said), "at": [log.get_offset(key) for key in logged]}


def build_cell(case: CaseResult, said: Mapping[str, ConversationExcerpt]) -> dict[str, Any]:
    """Return the cell of ``case``; facts that it does not have are left out.

    ``said`` has what is shown of each conversation, by the key of the trial.
    """
    shown = case.deciding_trial
    took = sum(trial.latency_s for trial in case.trials)
    cost = _sum_cost(case.trials)
    tools = [*expected_tools(shown.checks)]
    for one in case.trials:
        tools += said.get(one.key, _SILENT).tools
    failed = [check.kind for check in shown.checks if check.verdict != "passed"]
    facts = {
        "suite": part_name(case.suite),
        "case": part_name(case.case),
        "model": part_name(case.entrant),
        **{axis: part_name(value) for axis, value in case.axes.items()},
        "identity": part_name(shown.case.identity or ""),
        "group": part_name(shown.case.group or ""),
        "question": said.get(shown.key, _SILENT).question,
        "status": case.status,
        "problem": shorten_line(case_mark(case) or format_problem(shown), PROBLEM),
        "score": _get_score(shown),
        "tags": _shorten_names(shown.case.tags),
        "tools": _shorten_names(tools),
        "failed": _shorten_names(failed),
        "calls": sum(trial.tool_calls for trial in case.trials),
        "seconds": round(took, 4),
        "time": format_seconds(took),
        "cost": cost,
        "price": format_money(cost),
    }
    if case.planned > 1:
        facts |= {
            "passed": case.passed_count,
            "planned": case.planned,
            "trials": [trial.status for trial in case.trials],
        }
    # A 0 stays: no call and a score of 0 are facts.
    return {name: value for name, value in facts.items() if value not in ("", [], None)}


def _extract_excerpt(line: JsonObject) -> ConversationExcerpt:
    """Return the displayed parts of the conversation in the line of a trial."""
    told = line.get("transcript") or {}
    asked = next((one["text"] for one in told.get("messages", ()) if "text" in one), "")
    called = [
        str(call["tool"]) for call in told.get("tool_calls", ()) if call.get("outcome") != SEARCH
    ]
    return ConversationExcerpt(shorten_line(asked, QUESTION), called)


def shorten_line(text: str, limit: int = NAME) -> str:
    """Return a harmless text on one line, of bounded length."""
    # Cut before it is cleaned: a text may have megabytes, of which a line is shown.
    return shorten_text(make_one_line(text[: 4 * limit]), limit)


def _build_model_axis(report: Report) -> JsonObject:
    models = dict.fromkeys(case.entrant for case in report.cases)
    # In the order of the run; one of which no case has a result has no column.
    planned = [name for name in report.entrants if name in models]
    return {
        "name": "model",
        "column": ["model"],
        "row": ["suite", "case"],
        "columns": [
            {
                "key": [part_name(name)],
                "title": shorten_line(name),
                "words": shorten_line(model_words(report, name)),
                "rates": _encode_rates([case for case in report.cases if case.entrant == name]),
            }
            for name in dict.fromkeys((*planned, *models))
        ],
    }


def _build_identity_axes(report: Report) -> list[JsonObject]:
    """Return the axis of identities, if tests are asked as several."""
    asked = [case for case in report.cases if case.deciding_trial.case.group is not None]
    if not asked:
        return []
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in asked:
        groups.setdefault((case.deciding_trial.case.identity or "", case.entrant), []).append(case)
    several = len({model for _, model in groups}) > 1
    return [
        {
            "name": "identity",
            "column": ["identity", "model"],
            "row": ["suite", "group"],
            "columns": [
                {
                    "key": [part_name(identity), part_name(model)],
                    "title": shorten_line(identity + (f" · {model}" if several else "")),
                    "words": "",
                    "rates": _encode_rates(cases),
                }
                for (identity, model), cases in groups.items()
            ],
        }
    ]


def _encode_rates(cases: Sequence[CaseResult]) -> list[JsonObject]:
    """Return the pass rate on each suite: of several suites there is no common one."""
    suites: dict[str, list[CaseResult]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    rates: list[JsonObject] = []
    for suite, own in suites.items():
        rate = compute_pass_rate(own)
        name = part_name(suite) if len(suites) > 1 else ""
        if rate is None:
            rates.append({"suite": name, "text": "–", "words": "nothing has a verdict"})
        else:
            low, mid, high = (round(100 * value) for value in (rate.low, rate.rate, rate.high))
            text = f"{mid} % ({low}–{high} %)"
            rates.append({"suite": name, "text": text, "words": str(rate)})
    return rates


def _sum_cost(trials: Iterable[TrialResult]) -> float | None:
    total = 0.0
    for trial in trials:
        cost = (trial.usage + trial.judge_usage + trial.user_usage).cost_usd
        if cost is None:
            return None
        total += cost
    return total


def _get_score(result: TrialResult) -> float | None:
    found = next((check.score for check in result.checks if "grades" in check.traits), None)
    return None if found is None else round(found, 4)


def _shorten_names(names: Iterable[str]) -> list[str]:
    return [shorten_line(name) for name in list(dict.fromkeys(names))[:_MOST]]
