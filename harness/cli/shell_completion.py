"""Shell completion of suites, runs and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from harness.runner import run_ids

_SUITES = (".yml", ".yaml", ".csv", ".jsonl")

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def complete_suites(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the suites of ``evals/`` by their file names; the shell completes paths."""
    folder = Path("evals")
    names = (
        (path.stem for path in folder.iterdir() if path.suffix in _SUITES)
        if folder.is_dir()
        else ()
    )
    return _complete_names(sorted(set(names)), begun)


def complete_runs(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the runs of this folder, the newest first; the shell completes paths."""
    return _complete_names(("latest", *reversed(run_ids())), begun)


def complete_files(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Let the shell complete file names."""
    return _complete_names((), begun)


def _complete_names(names: Iterable[str], begun: str) -> list[CompletionItem]:
    """Return the ``names`` with this beginning; if there are none, let the shell complete files."""
    return [CompletionItem(name) for name in names if name.startswith(begun)] or [
        CompletionItem(begun, type="file")
    ]
