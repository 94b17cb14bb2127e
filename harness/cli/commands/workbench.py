"""Find out by experiment which words of a server's tools matter, and improve them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from harness.base import GATE, UsageError, format_money, format_number, make_printable
from harness.cli.options import (
    BoundedNumber,
    bundle_options,
    complete_runs,
    complete_suites,
    shown_option,
)
from harness.cli.run_options import BUDGET, REQUEST, WORKBENCH_OPTIONS
from harness.cli.workbench_output import (
    OUTPUT,
    WorkbenchOutput,
    make_wordings,
    show_workbench,
    workbench_progress,
)
from harness.descriptions import (
    AB,
    STUDIES,
    OtherServerTrials,
    StudyCost,
    StudyOptions,
    Workbench,
    WorkbenchContext,
    WorkbenchRequest,
    collect_logged_texts,
    cost_table,
    describe_suite_changes,
    drop_other_server,
    format_unusable_cases,
    list_suite_texts,
    read_earlier_request,
    reread_logs,
    start_other_server,
)
from harness.reports import align_columns
from harness.runlog import LATEST, RunLog, log_path, read_header
from harness.runner import PreparedPlan, RunBudget, RunOptions, RunRequest, require_trust
from harness.types import ModelSpec, dataclass


def _build_request(
    *, studies: str | None, margin: float, decoys: str, **values: Any
) -> WorkbenchRequest:
    names = tuple(name.strip() for name in (studies or "").split(",") if name.strip())
    for name in names:
        if name not in STUDIES:
            raise STUDIES.build_unknown_error(name)
    try:
        # Each once: the same list of tools need not be tried twice.
        counts = tuple(sorted({int(count) for count in decoys.split(",")}))
    except ValueError as error:
        raise UsageError(f"--decoys: {decoys!r} is not a list of numbers such as 8,32") from error
    options = StudyOptions(margin=margin / 100, decoys=counts, **values)
    return WorkbenchRequest(studies=names, options=options)


ORDER = bundle_options(
    "order",
    _build_request,
    click.option(
        "--studies",
        metavar="NAME,…",
        help="Only these studies.  [default: all]",
    ),
    shown_option(
        "--margin",
        type=BoundedNumber(min=0.5, max=100),
        default=5.0,
        metavar="POINTS",
        help="The largest difference of pass rates that counts as none.",
    ),
    shown_option(
        "--decoys",
        default="8,32,128",
        metavar="N,…",
        help="Numbers of unrelated tools to add, for the study decoys.",
    ),
    shown_option(
        "--mutants",
        type=click.IntRange(1, 10_000),
        default=60,
        metavar="N",
        help="Most defects to plant into descriptions, for the study kill-score.",
    ),
    shown_option(
        "--steering-tools",
        type=click.IntRange(1, 10_000),
        default=12,
        metavar="N",
        help="Most tools to copy, for the study steering.",
    ),
    click.option(
        "--against",
        metavar="SERVER",
        help="Another server, for the study ab: its name, command line or URL. The same cases are "
        "asked of it.",
    ),
    click.option(
        "--writer",
        metavar="MODEL",
        help="Model that writes better descriptions.  [default: none; rules do it]",
    ),
    shown_option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Seed of every random choice.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchMode:
    """What the command does."""

    resume: str | None
    """The workbench to resume."""
    from_run: str | None
    """The run to read instead of running anything."""
    dry_run: bool
    """Whether to estimate the cost and run nothing."""
    make_wordings: Path | None
    """Where to write other wordings of the tests, instead of running anything."""

    def __post_init__(self) -> None:
        """Refuse contradictory options."""
        given = (self.resume, self.from_run, self.make_wordings, self.dry_run or None)
        if sum(one is not None for one in given) > 1:
            raise UsageError("give one of --resume, --from, --dry-run and --make-wordings")


MODE = bundle_options(
    "mode",
    WorkbenchMode,
    click.option(
        "--resume",
        is_flag=False,
        flag_value=LATEST,
        metavar="[RUN]",
        shell_complete=complete_runs,
        help="Continue an earlier workbench: run only what is missing or was not judged.",
    ),
    click.option(
        "--from",
        "from_run",
        metavar="RUN",
        shell_complete=complete_runs,
        help="Run nothing: analyse this earlier run of workbench or evals.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Show what each study would run and its estimated cost; no model is asked.",
    ),
    click.option(
        "--make-wordings",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Run nothing: let the --writer rephrase each prompt, into a file of variants to "
        "review.",
    ),
)


@click.command("workbench")
@click.argument("suites", nargs=-1, metavar="SUITE", shell_complete=complete_suites)
@REQUEST
@BUDGET
@WORKBENCH_OPTIONS
@ORDER
@MODE
@OUTPUT
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(
    suites: tuple[str, ...],
    request: RunRequest,
    budget: RunBudget,
    options: RunOptions,
    order: WorkbenchRequest,
    mode: WorkbenchMode,
    output: WorkbenchOutput,
    *,
    quiet: bool,
) -> None:
    """Find out by experiment which words of a server's tools matter, and improve them.

    The cases of SUITE are asked again and again while the model is shown changed tool lists: a
    sentence less, another order, more tools. The server is never changed.
    """
    request = replace(request, suites=suites)
    order = replace(order, options=replace(order.options, versus=tuple(request.variants)))
    # Now, since a resumed run brings its own order in place of this one.
    against = order.options.against is not None
    if against and order.studies and AB not in order.studies:
        raise UsageError(
            f"--against is for the study {AB}, which is not among --studies",
            meant=f"Add {AB} to --studies, or leave --against out.",
        )
    if against and (mode.resume is not None or mode.from_run is not None):
        raise UsageError(
            "--against cannot be added to a workbench that was begun",
            meant="Leave it out: the run keeps the server that it was begun with. Or begin anew.",
        )
    if request.shard is not None:
        raise UsageError("the workbench cannot be sharded: its later stages need its first")
    first: str | None = None
    if mode.resume is not None:
        # All of it: results of other questions would not fit those that there are.
        first, request, order = read_earlier_request(mode.resume)
        budget = budget.fill_unset(read_header(log_path(first)).settings)
    logs: list[RunLog] = []
    if mode.from_run is not None:
        logs, request, order = reread_logs(mode.from_run, request, order)
    ground = WorkbenchContext(request=request, cwd=Path.cwd(), environ=os.environ)
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        prepared = ground.plan_clean(keyless=mode.dry_run or bool(logs))
    for note in prepared.notes:
        click.echo(note, err=True)
    if output.write is not None and len(prepared.plan.models) > 1:
        raise UsageError("--write takes the better descriptions of one model: name one model")
    require_trust(prepared.plan)
    if mode.make_wordings is not None:
        make_wordings(ground, order.options.writer, prepared.plan, budget, mode.make_wordings)
        return
    writer = _resolve_writer(ground, order, mode)
    # Logs have the answers of both servers, so neither is started.
    other = None if logs else _start_other_server(ground, order, prepared, keyless=mode.dry_run)
    texts = (
        collect_logged_texts(drop_other_server(logs)) if logs else list_suite_texts(prepared.plan)
    )
    bench = Workbench(ground, order, texts, prepared.plan, writer, other)
    if mode.dry_run:
        stages = f"in the first stage{f' and on {other.server.name}' if other is not None else ''}"
        _show_costs(list(cost_table(bench, ground)), stages, json_output=output.json_output)
        return
    # Some studies only read the list of tools.
    if not logs and not bench.needs_run:
        show_workbench(bench.build_result(()), output)
    if logs:
        notes = describe_suite_changes(logs[0], prepared.plan)
        show_workbench(replace(bench.build_result(logs), notes=notes), output)
    options = replace(options, budget=budget, concurrency=prepared.concurrency)
    with redirect_stdout(sys.stderr), workbench_progress(bench, quiet=quiet) as begin:
        result = bench.run_stages(options, begin, resume=first)
    show_workbench(result, output)


def _start_other_server(
    ground: WorkbenchContext, order: WorkbenchRequest, prepared: PreparedPlan, *, keyless: bool
) -> OtherServerTrials | None:
    """Return the server to compare with, if any; print which cases cannot run on it."""
    if order.options.against is None:
        return None
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        other = start_other_server(ground, order.options.against, prepared.plan, keyless=keyless)
    if other.server.not_asked:
        cases = format_unusable_cases(other.server.not_asked)
        click.echo(make_printable(f"Not asked of {other.server.name}: {cases}."), err=True)
    return other


def _resolve_writer(
    ground: WorkbenchContext, order: WorkbenchRequest, mode: WorkbenchMode
) -> ModelSpec | None:
    """Return the model that writes better descriptions, if one is named and may be called."""
    name = order.options.writer
    if name is None or mode.from_run is not None:
        return None
    spec = ground.resolve_model(name, keyless=mode.dry_run)
    if not mode.dry_run:
        GATE.require_plan((), (spec,))
    return spec


_COLUMNS = ("study", "tool lists", "trials", "tokens in", "out", "cost", "question")


def _show_costs(rows: Sequence[StudyCost], stages: str, *, json_output: bool) -> None:
    if json_output:
        found = {"studies": [asdict(row) for row in rows]}
        click.echo(json.dumps({"status": "ok", "result": found}, ensure_ascii=False))
        return
    for line in align_columns([_COLUMNS, *map(_format_cells, rows)], left=(0, len(_COLUMNS) - 1)):
        click.echo(line)
    costs = [row.cost_usd for row in rows]
    for row in rows:
        if (used := row.writing) is not None:
            costs.append(used.cost_usd)
            click.echo(
                f"{row.study} also asks {make_printable(str(row.writer))} to write: about "
                f"{format_number(used.input_tokens)} tokens in, "
                f"{format_number(used.output_tokens)} out, "
                f"cost {format_money(used.cost_usd)}, if every test fails that it may see."
            )
    total = None if None in costs else sum(cost or 0.0 for cost in costs)
    trials = sum(row.trials for row in rows)
    click.echo(f"{trials:,} trials {make_printable(stages)}, {format_money(total)}.")


def _format_cells(row: StudyCost) -> tuple[str, ...]:
    arms = f"{row.arms:,}" + (f" ({row.shared:,} shared)" if row.shared else "")
    trials = f"{row.trials:,}" + (f" + up to {row.later:,}" if row.later else "")
    return (
        row.study,
        arms,
        trials,
        f"{row.input_tokens:,}",
        f"{row.output_tokens:,}",
        format_money(row.cost_usd),
        row.question,
    )
