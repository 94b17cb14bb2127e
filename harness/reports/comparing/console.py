"""A comparison for the terminal: different settings, the verdict, and the cases that moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from harness.base import Evidence, printable
from harness.reports.comparing import sentences as words
from harness.reports.comparing.nouns import Change, Comparison, Contrast

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


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the comparison to ``console``."""
    _Printer(comparison, console).show()


@dataclass(frozen=True, slots=True)
class _Printer:
    comparison: Comparison
    console: Console

    def show(self) -> None:
        for side in self.comparison.sides:
            name, model, run, trials, rate, tokens, cost, time = words.side_row(side)
            self._line(f"{name}  {model}  {run}", "bold")
            self._line(
                f"{trials}: pass rate {rate} · a trial: {time}, {tokens} tokens, cost {cost}",
                depth=3,
            )
            for sentence in words.unsound(side):
                self._line(sentence, "yellow", depth=3)
        if self.comparison.by_people:
            self._line(words.BY_PEOPLE, "yellow")
        for contrast in self.comparison.contrasts:
            self.console.print()
            self._contrast(contrast)

    def _contrast(self, contrast: Contrast) -> None:
        overall = contrast.effects[0]
        self._line(words.heading(contrast), _VERDICTS[overall.evidence])
        differences = contrast.differences or ("nothing that the logs record",)
        self._list("what differs in the setting", differences, len(differences))
        self._line(words.counts(overall), depth=2)
        for sentence in words.sentences(overall, self.comparison):
            self._line(sentence, depth=2)
        if overall.not_judged:
            self._line(words.UNJUDGED, depth=2)
        for effect in contrast.effects[1:]:
            cases, before, after, difference, interval, _, p, verdict = words.effect_row(effect)
            line = (
                f"suite {cases}: {before} → {after}, {difference} points ({interval}), p (Holm) "
                f"{p}: {verdict}"
            )
            self._line(line, _VERDICTS[effect.evidence], depth=2)
        for change in words.CHANGES[:-1]:
            lines, number = words.case_lines(contrast, change, _MOST_LINES)
            self._list(change, lines, number, _CHANGES[change])
        for sentence in words.not_shared(contrast):
            self._line(sentence, "yellow", depth=2)

    def _list(self, title: str, lines: Sequence[str], number: int, style: str = "") -> None:
        """Print the first of ``lines``, of which there are ``number`` in all."""
        if lines:
            self._line(title, style, depth=2)
        for line in lines[:_MOST_LINES]:
            self._line(line, depth=4)
        if number > _MOST_LINES:
            self._line(f"… {number - _MOST_LINES} more", "dim", depth=4)

    def _line(self, text: str, style: str = "", *, depth: int = 0) -> None:
        room = max(20, self.console.width - depth)
        for number, line in enumerate(
            Text(printable(text), style=style).wrap(self.console, room - 2)
        ):
            # Wrapping may have moved to the start of a line what a CI system takes for a command
            # there.
            shown = Text(printable(line.plain.rstrip()), style=style)
            self.console.print(
                Text(" " * (depth + (2 if number else 0))).append_text(shown), soft_wrap=True
            )
