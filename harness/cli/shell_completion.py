"""What a shell may complete beside commands and options: suites, runs and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from harness.runner.runs.folders import run_ids

_SUITES = (".yml", ".yaml", ".csv", ".jsonl")

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def suites(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the suites of ``evals/`` by the names of their files; a path is left to the shell."""
    folder = Path("evals")
    names = (
        (path.stem for path in folder.iterdir() if path.suffix in _SUITES)
        if folder.is_dir()
        else ()
    )
    return _offered(sorted(set(names)), begun)


def runs(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the runs of this folder, the newest first; a path is left to the shell."""
    return _offered(("latest", *reversed(run_ids())), begun)


def files(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Leave it to the shell, which knows files."""
    return _offered((), begun)


def _offered(names: Iterable[str], begun: str) -> list[CompletionItem]:
    """Return the ``names`` that begin so; else the word to the shell that a file belongs there."""
    return [CompletionItem(name) for name in names if name.startswith(begun)] or [
        CompletionItem(begun, type="file")
    ]
