"""Turn a dataset in CSV into a suite in YAML, or back."""

from __future__ import annotations

from pathlib import Path

import click

from harness.checks import VOCABULARY
from harness.suites.convert import convert


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write over OUT if it exists.")
def command(source: Path, target: Path, force: bool) -> None:
    """Turn a dataset in CSV into a suite in YAML, or back, where nothing is lost.

    What a CSV file has no place for is named, and nothing is written then.
    """
    suite = convert(source, target, VOCABULARY, overwrite=force)
    count = len(suite.cases)
    click.echo(f"{target}: {count} test{'' if count == 1 else 's'}")
