"""A comparison for the terminal: different settings, the verdict, and the cases that moved."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from harness.base import Evidence, make_printable
from harness.reports.comparing import sentences
from harness.reports.comparing.comparison_types import Change, Comparison, Contrast
from harness.types import dataclass

_VERDICTS: dict[Evidence, str] = {
    "better": "bold green",
    "worse": "bold red",
    "equivalent": "bold green",
    "undecided": "bold yellow",
}
_CHANGES: dict[Change, str] = {
    "worse": "red",
    "better": "green",
    "not judged": "magenta",
    "same": "dim",
}
_MOST_LINES = 30
"""Cases or differences beyond this are counted; the JSON has all of them."""


@dataclass(frozen=True, slots=True)
class _Printer:
    comparison: Comparison
    console: Console

    def print_all(self) -> None:
        for side in self.comparison.sides:
            name, model, run, trials, rate, tokens, cost, time = sentences.side_row(side)
            self._print_line(f"{name}  {model}  {run}", "bold")
            effort = f"a trial: {time}, {tokens} tokens, cost {cost}"
            self._print_line(f"{trials}: pass rate {rate} · {effort}", depth=3)
            for sentence in sentences.describe_unsound_run(side):
                self._print_line(sentence, "yellow", depth=3)
        if self.comparison.by_people:
            self._print_line(sentences.BY_PEOPLE, "yellow")
        for contrast in self.comparison.contrasts:
            self.console.print()
            self._print_contrast(contrast)

    def _print_contrast(self, contrast: Contrast) -> None:
        overall = contrast.effects[0]
        self._print_line(sentences.format_verdict(contrast), _VERDICTS[overall.evidence])
        differences = contrast.differences or ("nothing that the logs record",)
        self._print_list("what differs in the setting", differences, len(differences))
        self._print_line(sentences.format_changes(overall), depth=2)
        for sentence in sentences.describe_effect(overall, self.comparison):
            self._print_line(sentence, depth=2)
        if overall.not_judged:
            self._print_line(sentences.UNJUDGED, depth=2)
        for effect in contrast.effects[1:]:
            cases, before, after, difference, interval, _, p, verdict = sentences.effect_row(effect)
            moved = f"{before} → {after}, {difference} points ({interval})"
            line = f"suite {cases}: {moved}, p (Holm) {p}: {verdict}"
            self._print_line(line, _VERDICTS[effect.evidence], depth=2)
        for change in sentences.CHANGES[:-1]:
            lines, number = sentences.case_lines(contrast, change, _MOST_LINES)
            self._print_list(change, lines, number, _CHANGES[change])
        for sentence in sentences.not_shared(contrast):
            self._print_line(sentence, "yellow", depth=2)

    def _print_list(self, title: str, lines: Sequence[str], number: int, style: str = "") -> None:
        """Print the first of ``lines``, of which there are ``number`` in all."""
        if lines:
            self._print_line(title, style, depth=2)
        for line in lines[:_MOST_LINES]:
            self._print_line(line, depth=4)
        if number > _MOST_LINES:
            self._print_line(f"… {number - _MOST_LINES} more", "dim", depth=4)

    def _print_line(self, text: str, style: str = "", *, depth: int = 0) -> None:
        room = max(20, self.console.width - depth) - 2
        lines = Text(make_printable(text), style=style).wrap(self.console, room)
        for number, line in enumerate(lines):
            # Wrapping may have moved to the start of a line what a CI system takes for a command
            # there.
            shown = Text(make_printable(line.plain.rstrip()), style=style)
            before = Text(" " * (depth + (2 if number else 0)))
            self.console.print(before.append_text(shown), soft_wrap=True)


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the comparison to ``console``."""
    _Printer(comparison, console).print_all()
