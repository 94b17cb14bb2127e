"""Say how large a difference a suite can show, before money is spent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

import click

from harness.base import HarnessError, format_money, group_cases, make_one_line
from harness.cli.options import (
    BoundedNumber,
    as_click_option,
    complete_runs,
    complete_suites,
    shown_option,
)
from harness.cli.run_lookup import open_run
from harness.descriptions import (
    TRIALS,
    ComparisonDesign,
    PlannedGates,
    PowerTable,
    collect_logged_texts,
    drop_other_server,
    estimate_variability,
    iterate_parts,
    plan_gates,
    power_table,
)
from harness.models import get_traits
from harness.reports import align_columns, format_points
from harness.runlog import RunLog, log_path, read_log, run_ids
from harness.runner import RECENT_RUNS, RunRequest, estimate_usage, option_named, prepare_plan
from harness.types import JsonObject

_COLUMNS = ("cases", "trials", "both sides", "cost", "shows a difference of")


@click.command("plan")
@click.argument("suites", nargs=-1, metavar="[SUITE]...", shell_complete=complete_suites)
@as_click_option(option_named("model"))
@as_click_option(option_named("pattern"))
@click.option(
    "--trials",
    "trials",
    multiple=True,
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Numbers of trials of each case to compare; may be repeated.  [default: 1, 3, 5, 10]",
)
@shown_option(
    "--difference",
    type=BoundedNumber(min=0.5, max=100),
    default=10.0,
    metavar="POINTS",
    help="The difference of pass rates that the suite should show.",
)
@shown_option(
    "--margin",
    type=BoundedNumber(min=0.5, max=100),
    default=5.0,
    metavar="POINTS",
    help="The largest loss that still counts as not worse.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="RUN",
    shell_complete=complete_runs,
    help="An earlier run to learn from; may be repeated.  [default: the latest 10]",
)
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(
    suites: tuple[str, ...],
    model: tuple[str, ...],
    pattern: str | None,
    trials: tuple[int, ...],
    difference: float,
    margin: float,
    logs: tuple[str, ...],
    json_output: bool,
) -> None:
    """Say how large a difference a suite can show, before money is spent; nothing is started.

    For each SUITE: the smallest difference between two versions of a server, a prompt or a model
    that its cases can show, depending on the number of cases and trials.
    """
    # One trial of each: the table multiplies the price for each number of trials.
    request = RunRequest(suites=suites, models=model, pattern=pattern, trials=1)
    plan = prepare_plan(request, Path.cwd(), os.environ, keyless=True).plan
    # A run that somebody names is taken as it is, whatever server it used.
    earlier = [open_run(name) for name in logs]
    if not logs:
        for run_id in run_ids()[-RECENT_RUNS:]:
            with suppress(HarnessError):  # a damaged one
                earlier.append(read_log(log_path(run_id)))
        earlier = drop_other_server(earlier)
    cases = {(job.suite.name, job.trial.case.name): job.trial.case for job in plan.jobs}
    # The cases of one test are together; a pattern may leave none of a suite.
    tests = {
        suite.name: group_cases(
            [name for of, name in cases if of == suite.name],
            {
                name: case.test
                for (of, name), case in cases.items()
                if of == suite.name and case.test is not None
            },
        )
        for suite in plan.suites
    }
    tables = [
        power_table(
            suite,
            len(groups),
            estimate_variability(suite, groups, earlier),
            trials=trials or TRIALS,
            difference=difference / 100,
            margin=margin / 100,
            listed=_latest_tool_list(suite, earlier),
            ways=fmean(map(len, groups)),
        )
        for suite, groups in tests.items()
        if groups
    ]
    models = [*plan.models, *plan.judges, *plan.user_models]
    certain = all(get_traits(model.provider).answers != "llm" for model in models)
    gates = [
        plan_gates(suite, groups, earlier, margin / 100, certain=certain)
        for suite, groups in tests.items()
        if groups
    ]
    # The estimated cost of one trial with one model.
    guesses = list(estimate_usage(plan))
    costs, trials_in_all = [one.cost_usd for one in guesses], sum(one.trials for one in guesses)
    price = None
    if None not in costs and trials_in_all:
        price = sum(cost or 0 for cost in costs) / trials_in_all
    if json_output:
        found = {
            "suites": [_build_document(*both, price) for both in zip(tables, gates, strict=True)]
        }
        click.echo(json.dumps({"status": "ok", "result": found}, ensure_ascii=False))
        return
    for both in zip(tables, gates, strict=True):
        for line in _format_table(*both, price):
            click.echo(line)


def _latest_tool_list(suite: str, logs: Sequence[RunLog]) -> tuple[str, int] | None:
    """Return the latest run of ``suite`` alone, and the number of parts of its tool list.

    Tool lists of the other server of ``workbench --against`` do not count.
    """
    for log in reversed(logs):
        own = list(log.header.suites) == [suite] and drop_other_server([log])
        if own and (parts := len(list(iterate_parts(collect_logged_texts(own))))):
            return log.header.run_id, parts
    return None


def _format_table(table: PowerTable, gates: PlannedGates, price: float | None) -> Iterator[str]:
    """Yield ``table`` as lines of text."""
    known = table.variability
    yield f"{make_one_line(table.suite)}: {table.cases} cases{_note_alike(table)}"
    yield "  Share of cases in which the two sides' trials differ in their verdict:"
    yield f"    discordance {100 * known.discordance:.0f} % ({known.discordance_source})"
    yield "  Correlation of the trials of one case:"
    yield f"    ICC {known.icc:.2f} ({known.icc_source})"
    yield "  The smallest difference that is detected with 80 % power (two-sided, 5 %):"
    rows = [_format_cells(design, price) for design in table.designs]
    yield from (f"    {line}" for line in align_columns([_COLUMNS, *rows]))
    yield f"  {_write_advice(table)}"
    margin = _format_points(table.margin)
    yield f"  {_describe_gates(gates)}"
    yield f"  To show that it is not worse by more than {margin}: {table.cases_for_margin:,} cases."
    # The workbench's ablation, if an earlier run recorded the tool list.
    if (found := table.ablation) is not None:
        run = make_one_line(found.run)
        yield f"  An ablation of the {found.parts:,} parts of the tool list (as in {run}):"
        shows = "not even a part that decides every case"
        if found.shows is not None:
            shows = f"a part that is worth {_format_points(found.shows)}"
        cost = format_money(price and price * found.runs)
        yield f"    {found.runs:,} trials with one trial each, {cost}; it finds {shows}."


def _note_alike(table: PowerTable) -> str:
    """Return the note that a test of several cases counts as one; empty where none has several."""
    asked = round(table.cases * table.designs[0].ways)
    return "" if asked == table.cases else f" ({asked:,}, of which those of one test count as one)"


def _format_points(difference: float) -> str:
    return f"{format_points(difference, sign=False)} points"


def _format_cells(design: ComparisonDesign, price: float | None) -> tuple[str, ...]:
    return (
        f"{design.cases:,}",
        f"{design.trials:,}",
        f"{design.total_trials:,} trials",
        format_money(price and price * design.total_trials),
        "none" if design.shows is None else _format_points(design.shows),
    )


def _describe_gates(gates: PlannedGates) -> str:
    """Return which losses gates can see, in a sentence."""
    said = []
    for margin, loss in gates.losses.items():
        gate = f"--gate {format_points(margin, sign=False)}%" if margin else "--gate"
        if loss is None:
            said.append(f"no loss can fire {gate}")
        else:
            lost = f"{loss.lost:,} of {loss.passing:,} passing {loss.unit}"
            said.append(f"{gate} fires at the earliest at a loss of {lost}")
    text = "; ".join(said)
    return f"{text[0].upper() if text[0].islower() else text[0]}{text[1:]} ({gates.source})."


def _write_advice(table: PowerTable) -> str:
    """Return what is needed to show the wanted difference, in a sentence or two."""
    wish = table.wish
    wanted = _format_points(wish.difference)
    if wish.enough_trials == 1:
        return f"A difference of {wanted} is found with one trial of each case."
    more = f"{wish.cases - table.cases:,} more cases" if wish.cases > table.cases else "no case"
    told = f"For a difference of {wanted}: {more} ({wish.cases:,} in all) with one trial each"
    told += f", or {wish.cases_with_repeats:,} cases with {wish.trials} trials each."
    if wish.enough_trials is None:
        return f"{told} More trials of these {table.cases} cases alone would never show it."
    return f"{told} These {table.cases} cases would need {wish.enough_trials:,} trials each."


def _build_document(table: PowerTable, gates: PlannedGates, price: float | None) -> JsonObject:
    """Return ``table`` as JSON; differences are rates, and the cost is null where it is unknown."""
    known, wish, ablation = table.variability, table.wish, table.ablation
    return {
        "suite": table.suite,
        "cases": table.cases,
        "discordance": known.discordance,
        "discordance_source": known.discordance_source,
        "icc": known.icc,
        "icc_source": known.icc_source,
        "designs": [
            {
                "cases": design.cases,
                "trials": design.trials,
                "trials_of_both_sides": design.total_trials,
                "cost_usd": price and price * design.total_trials,
                "smallest_difference": design.shows,
            }
            for design in table.designs
        ],
        "wanted": {
            "difference": wish.difference,
            "cases": wish.cases,
            "trials": wish.trials,
            "cases_with_trials": wish.cases_with_repeats,
            "trials_of_these_cases": wish.enough_trials,
        },
        "gates": [
            {"margin": margin, "smallest_loss": loss and asdict(loss)}
            for margin, loss in gates.losses.items()
        ],
        "not_worse": {"margin": table.margin, "cases": table.cases_for_margin},
        "ablation": ablation
        and {
            "parts": ablation.parts,
            "tools_of_run": ablation.run,
            "trials": ablation.runs,
            "cost_usd": price and price * ablation.runs,
            "smallest_effect": ablation.shows,
        },
    }
