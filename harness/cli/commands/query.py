"""Ask past runs in SQL: trials, checks, calls, replies, tools, findings as tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from harness.base import UsageError
from harness.cli.options import BoundedNumber, complete_files, complete_runs, shown_option
from harness.cli.run_lookup import open_index
from harness.reports import FORMS, answer_query, print_schema, write_parquet


@click.command("query")
@click.argument(
    "given",
    nargs=-1,
    required=False,
    metavar="RUN... SQL",
    shell_complete=complete_runs,
)
@click.option("--schema", is_flag=True, help="Print the tables and their columns, with units.")
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
@click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout.")
@click.option(
    "--parquet",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    shell_complete=complete_files,
    help="Write all rows into FILE (needs the extra parquet).",
)
@shown_option(
    "--limit",
    type=click.IntRange(min=1),
    default=1_000,
    metavar="ROWS",
    help="Print at most so many rows, and say if there are more.",
)
@shown_option(
    "--timeout",
    type=BoundedNumber(min=0.1, max=86_400),
    default=60.0,
    metavar="SECONDS",
    help="Give up a question that takes longer.",
)
def command(
    given: Sequence[str],
    schema: bool,
    json_output: bool,
    as_csv: bool,
    parquet: Path | None,
    limit: int,
    timeout: float,
) -> None:
    """Ask RUN in SQL: SELECT over the tables that --schema lists. SQL may be @FILE.

    RUN is the name of a run, its beginning, a path, or "latest"; with several, each table has the
    rows of all of them. The tables are made from the log once and kept beside it.
    """
    if schema:
        print_schema(sys.stdout, json_output=json_output)
        return
    if sum((json_output, as_csv, parquet is not None)) > 1:
        raise UsageError("--json-output, --csv and --parquet exclude each other")
    runs, sql = _split_question(given)
    with open_index(runs) as index, answer_query(index, sql, timeout) as answer:
        if parquet is not None:
            rows = write_parquet(answer, parquet)
            click.echo(f"{rows:,} row{'s' if rows != 1 else ''} in {parquet}")
            return
        left_out = FORMS["json" if json_output else "csv" if as_csv else "table"](
            answer, limit, sys.stdout
        )
        # The rows first: stderr is not buffered and would overtake them.
        sys.stdout.flush()
    if left_out:
        words = f"Only the first {limit:,} rows are shown, and others left out"
        click.echo(f"{words}: --limit N shows more.", err=True)


def _split_question(given: Sequence[str]) -> tuple[Sequence[str], str]:
    if len(given) < 2:  # noqa: PLR2004 - a run and a question
        raise UsageError(
            "a run and a question are needed",
            meant="For example: harness query latest "
            '"select status, count(*) from trials group by status"; --schema lists the tables.',
        )
    *runs, sql = given
    if not sql.startswith("@"):
        return runs, sql
    try:
        return runs, Path(sql[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"the question in {sql[1:]} cannot be read: {why}") from error
