"""Convert a dataset or a suite of another tool into a YAML suite, or back."""

from __future__ import annotations

from pathlib import Path

import click

from harness.base import format_count
from harness.judging import VOCABULARY
from harness.suites import convert_suite


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
@click.option(
    "--lenient",
    is_flag=True,
    help="Leave out what the other format cannot express; it is listed.",
)
def command(source: Path, target: Path, force: bool, lenient: bool) -> None:
    """Convert a CSV dataset, or a suite of another tool, into a YAML suite, or back.

    Nothing is lost: what the other format cannot express is named, and nothing is written.
    """
    suite = convert_suite(source, target, VOCABULARY, overwrite=force, lenient=lenient)
    for note in suite.notes:
        click.echo(note, err=True)
    click.echo(f"{target}: {format_count(len(suite.cases), 'test')}")
