"""Download a leaderboard's data into the cache."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from harness.base import CACHE_VARIABLE, FetchRequest, cache_root
from harness.suites import SOURCES


@click.command("fetch")
@click.argument("name")
@click.option(
    "--category", "categories", metavar="NAME,…", help="Fetch only these parts.  [default: all]"
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Fetch at most N cases of each part."
)
@click.option(
    "--from",
    "origin",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Read the data from a downloaded file or a checkout instead of the package index.",
)
@click.option(
    "--dest",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help=f"Another cache folder; set ${CACHE_VARIABLE} so that runs find it.",
)
def command(
    name: str, categories: str | None, limit: int | None, origin: Path | None, dest: Path | None
) -> None:
    """Download the data of the leaderboard NAME into the cache; after that, runs need no network.

    The data belongs to its authors and is never part of harness. It is verified against the digest
    of a fixed release.
    """
    source = SOURCES.get(name)
    click.echo(f"{source.title}\nLicence: {source.licence}")
    root = (dest or cache_root()).absolute()
    parts = tuple(part.strip() for part in (categories or "").split(",") if part.strip())
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    # On stderr, so that a program can read the summary on stdout.
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bars:
        bar = bars.add_task("looking", total=None)

        def print_progress(what: str, done: int, total: int) -> None:
            bars.update(bar, description=what, completed=done, total=total or None)

        request = FetchRequest(root=root, origin=origin, categories=parts, limit=limit)
        fetched = source.fetch(request, print_progress)
    click.echo(
        f"{'Fetched' if fetched.new else 'There already'}: {fetched.summary}, in {fetched.folder}"
    )
    if dest is not None and root != cache_root():
        click.echo(f"Runs find it with {CACHE_VARIABLE}={root}")
