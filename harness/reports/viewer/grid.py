"""The grid of a run: a cell for each case and model, and the ways to put them into columns.

Every figure is made here. A page only arranges cells: it filters and sorts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from harness.base import format_money, format_seconds, make_one_line, shorten_text
from harness.reports.case_names import part_name
from harness.reports.sections.remarks import case_remark, failed_warnings
from harness.reports.sections.sentences import (
    URGENCY,
    compute_pass_rate,
    format_problem,
    model_words,
)
from harness.reports.sections.tool_use import expected_tools
from harness.runlog import RunLog
from harness.suites import AXES, DEFAULT
from harness.types import SEARCH, CaseResult, JsonObject, Report, TrialResult, dataclass

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
        "entrant": part_name(case.entrant),
        # Without axes, the entrant is the model: ten thousand cells need not say it again.
        **({"model": part_name(case.model), "axes": _name_values(case)} if case.axes else {}),
        "identity": part_name(shown.case.identity or ""),
        "group": part_name(shown.case.group or ""),
        "question": said.get(shown.key, _SILENT).question,
        "status": case.status,
        "problem": shorten_line(case_remark(case) or format_problem(shown), PROBLEM),
        "warnings": sum(len(failed_warnings(trial)) for trial in case.trials) or None,
        "score": _get_score(shown),
        "tags": _shorten_names(shown.case.tags),
        "tools": _shorten_names(tools),
        "failed": _shorten_names(failed),
        "tool_calls": sum(trial.tool_calls for trial in case.trials),
        "tokens": _sum_tokens(case.trials),
        "latency_s": round(took, 4),
        "latency": format_seconds(took),
        "paid_usd": cost,
        "paid": format_money(cost),
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
    groups: dict[str, list[CaseResult]] = {name: [] for name in report.entrants}
    for case in report.cases:
        groups.setdefault(case.entrant, []).append(case)
    columns = [
        _build_column(name, [name], cases, model_words(report, name))
        for name, cases in groups.items()
        if cases  # one of which no case has a result has no column
    ]
    row = ["suite", "case"]
    return {"name": "model", "column": ["entrant"], "row": row, "columns": columns}


def _build_identity_axes(report: Report) -> list[JsonObject]:
    """Return the axis of identities, if tests are asked as several."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in report.cases:
        if case.deciding_trial.case.group is not None:
            key = (case.deciding_trial.case.identity or "", case.entrant)
            groups.setdefault(key, []).append(case)
    several = len({entrant for _, entrant in groups}) > 1
    columns = [
        _build_column(
            shorten_line(identity + (f" · {entrant}" if several else "")),
            [identity, entrant],
            cases,
        )
        for (identity, entrant), cases in groups.items()
    ]
    column, row = ["identity", "entrant"], ["suite", "group"]
    axis = {"name": "identity", "column": column, "row": row, "columns": columns}
    return [axis] if columns else []


def _build_column(
    title: str, key: Iterable[str], cases: Sequence[CaseResult], words: str = ""
) -> JsonObject:
    return {
        "key": [*map(part_name, key)],
        "title": shorten_line(title),
        "words": shorten_line(words),
        "rates": _encode_rates(cases),
        # What a filter by model or by an axis leaves.
        "model": part_name(cases[0].model),
        "axes": _name_values(cases[0]),
    }


def _name_values(case: CaseResult) -> dict[str, str]:
    """Return the value of ``case`` on each axis."""
    return {axis.name: part_name(case.axes.get(axis.name, DEFAULT)) for axis in AXES}


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
            shares = {"rate": rate.rate, "low": rate.low, "high": rate.high}
            rounded = {key: round(value, 4) for key, value in shares.items()}
            rates.append({"suite": name, "text": text, "words": str(rate), **rounded})
    return rates


def _sum_tokens(trials: Iterable[TrialResult]) -> int | None:
    counts = [(trial.usage + trial.judge_usage + trial.user_usage).tokens for trial in trials]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


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


Told: TypeAlias = tuple[str, str, JsonObject]
"""Name of a run, what its columns are called, and its grid."""


def join_grids(runs: Sequence[Told]) -> dict[str, Any]:
    """Return the grid of ``runs``, whose cells know their run; each column keeps its own rates."""
    columns, cells = [], []
    for run, title, grid in runs:
        by_model = next(axis for axis in grid["axes"] if axis["name"] == "model")
        columns += [
            {
                **column,
                "key": [run, *column["key"]],
                "title": f"{title} · {column['title']}",
                "words": run,
            }
            for column in by_model["columns"]
        ]
        cells += [{**cell, "run": run} for cell in grid["cells"]]
    axis = {
        "name": "run",
        "column": ["run", "entrant"],
        "row": ["suite", "case"],
        "columns": columns,
    }
    return {"urgency": runs[0][2]["urgency"], "axes": [axis], "cells": cells}
