"""Convert a CSV dataset into a YAML suite, or back."""

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
def command(source: Path, target: Path, force: bool) -> None:
    """Convert a CSV dataset into a YAML suite, or back, without any loss.

    If the suite has something that CSV cannot express, it is named and nothing is written.
    """
    suite = convert_suite(source, target, VOCABULARY, overwrite=force)
    click.echo(f"{target}: {format_count(len(suite.cases), 'test')}")
