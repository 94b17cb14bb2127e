"""Open the page of a run: every message, call and check."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

import click

from harness.cli.options import complete_runs
from harness.cli.page_cache import keep_page, kept_page
from harness.cli.run_lookup import BY_PEOPLE, open_run
from harness.reports import ReportRequest, build_report, review_words, write_report
from harness.runlog import LATEST, find_log

_LARGE = 100_000_000
"""Bytes of a log whose page takes minutes."""


@click.command("view")
@click.argument("run", default=LATEST, shell_complete=complete_runs)
@BY_PEOPLE
@click.option("--no-open", is_flag=True, help="Only write the page and print its path.")
def command(run: str, by_people: bool, no_open: bool) -> None:
    """Write the page of RUN into its folder and open it: every message, call and check.

    RUN is the name of a run, its beginning, a path, or "latest" (the default). The page is one file
    that needs no network; its path is printed. That of a large run is not written again unless
    something has changed.
    """
    place = find_log(run)
    path, words = (None if by_people else kept_page(place)) or _write_page(place, run, by_people)
    click.echo(str(path))
    if words:
        click.echo(words)
    if (
        not no_open
        and has_browser(os.environ, sys.platform)
        and not webbrowser.open(path.resolve().as_uri())
    ):
        click.echo("No browser could be started; open the file above yourself.", err=True)


def _write_page(place: Path, run: str, by_people: bool) -> tuple[Path, str]:
    """Write the page of the log at ``place``; return it, and what people said of the verdicts."""
    # Before the log is read: if it grows meanwhile, `keep_page` sees it and notes nothing.
    facts = place.stat()
    if facts.st_size > _LARGE:
        size = f"{facts.st_size / 1e6:,.0f} MB"
        click.echo(
            f"Writing the page of a log of {size} takes minutes; 'harness serve' shows the run at "
            "once, under Runs.",
            err=True,
        )
    log = open_run(run, by_people=by_people)
    path, _ = write_report(ReportRequest(format="html"), build_report(log), log)
    keep_page(log, facts, path)
    return path, review_words(log.reviews.values())


def has_browser(environ: Mapping[str, str], platform: str) -> bool:
    """Return whether there is a graphical browser; a text browser would take over the terminal."""
    return platform in {"darwin", "win32"} or any(
        environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    )
