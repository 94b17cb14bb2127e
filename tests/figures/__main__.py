"""``python -m tests.figures [CHECKOUT]``: figures of this source, and of another one before it."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

from harness.judging.checks.registry import KINDS
from tests.figures import MOST_COMPLEXITY, MOST_LINES, Figures
from tests.figures.crossing import list_crossed_files
from tests.figures.names import Names
from tests.figures.strangers_to_kinds import (
    list_files_that_compare_a_via,
    list_files_that_name_a_check,
)


def list_figures(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield each figure by what it is of."""
    yield from _list_figures_of_the_house(figures)
    yield from _list_figures_of_names(figures)
    yield from _list_figures_of_files(figures)


def _list_figures_of_the_house(figures: Figures) -> Iterator[tuple[str, str]]:
    yield "rooms", str(figures.rooms)
    yield "modules beside the rooms", str(figures.loose_modules)
    yield (
        "lines of code, without blank, comment, docstring and import lines",
        f"{figures.source_lines.code:,} in {len(figures.lines)} files",
    )
    comments = 100 * figures.source_lines.comments / figures.source_lines.code
    yield "comment lines per 100 lines of code", f"{comments:.1f}"
    with tempfile.TemporaryDirectory() as scratch:
        crossed = list_crossed_files(figures.checkout.resolve(), Path(scratch))
    folders = {PurePath(name).parent for name in crossed}
    yield "files that one case crosses", f"{len(crossed)} in {len(folders)} folders"
    in_circles = sum(map(len, figures.cycles))
    yield (
        "import cycles, imports inside functions included",
        f"{len(figures.cycles)} ({in_circles} modules)" if figures.cycles else "0",
    )
    yield "packages that the base install needs", str(figures.dependencies)
    kinds = list_files_that_name_a_check(figures.modules, KINDS.list_names())
    yield "files that name a kind of check outside its own", str(len(kinds))
    vias = list_files_that_compare_a_via(figures.modules)
    yield "files that ask for a `via` outside its own", str(len(vias))


def _list_figures_of_names(figures: Figures) -> Iterator[tuple[str, str]]:
    names = Names(figures.modules)
    yield "functions named by a bare participle or pronoun", f"{names.share_of_bare_functions:.1%}"
    yield "functions named by one word", f"{names.share_of_one_word_functions:.1%}"
    yield "mean letters of a function's name", f"{names.mean_letters_of_a_function:.1f}"
    yield "names of classes in two files", f"{names.share_of_classes_in_two_files:.1%}"


def _list_figures_of_files(figures: Figures) -> Iterator[tuple[str, str]]:
    for top in ("harness", "tests"):
        folder, most = figures.files_by_folder(top).most_common(1)[0]
        yield f"most files in a folder of {top}/", f"{most} ({folder})"
    longest = max(figures.lines, key=lambda name: figures.lines[name])
    over = [name for name, count in figures.lines.items() if count > MOST_LINES]
    yield "longest file", f"{figures.lines[longest]} lines ({longest})"
    yield f"files over {MOST_LINES} lines", ", ".join([str(len(over)), *over])
    function, lines = figures.longest_function
    yield "longest function", f"{lines} lines (`{function}`)"
    largest = ", ".join(f"{name} {count}" for name, count in figures.fields.most_common(5))
    yield "fields of the largest nouns", largest
    share = len(figures.complex_functions) / figures.functions
    yield (
        f"functions over complexity {MOST_COMPLEXITY}",
        f"{len(figures.complex_functions)} of {figures.functions:,} ({share:.1%})",
    )
    yield "`Any` per 1,000 lines", f"{figures.any_per_thousand_lines:.1f}"
    counts = Counter(figures.files_by_addition.values())
    touched = [f"{files} by {many} additions" for files, many in sorted(counts.items())]
    yield "files touched by what CONTRIBUTING.md adds", ", ".join(touched) or "not shown"
    yield "lines", f"{sum(figures.lines.values()):,} in {len(figures.lines)} files"


def main() -> None:
    """Print the figures of this checkout as a table, after those of the one that is named."""
    here = Path(__file__).parents[2]
    checkouts = [*map(Path, sys.argv[1:2]), here]
    columns = [dict(list_figures(Figures(checkout))) for checkout in checkouts]
    titles = ("before", "now")[-len(columns) :]
    print("| figure |", " | ".join(titles), "|")
    print("|---|" + "---|" * len(columns))
    for what in columns[-1]:
        print(f"| {what} |", " | ".join(column[what] for column in columns), "|")
    for group in Figures(here).cycles:
        print(f"a circle: {', '.join(group)}", file=sys.stderr)


if __name__ == "__main__":
    main()
