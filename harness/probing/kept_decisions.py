"""A file of decisions that later probes are compared with: ``harness probe --expect FILE``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from harness.base import InvalidInput, Problem, UsageError, make_one_line
from harness.probing.report import ProbeDecision, ProbeReport
from harness.reports import write_atomically
from harness.types import Location, dataclass

Kept: TypeAlias = Mapping[str, Mapping[str, str]]
"""Call → caller → decision in words, as in the file."""
Decisions: TypeAlias = Mapping[str, Mapping[str, ProbeDecision]]
"""Call → caller → decision, as found by a probe."""
VERSION = 1
"""Version of the file."""


def format_decisions(report: ProbeReport) -> str:
    """Return the decisions of ``report`` as the text of a file that can be read and diffed."""
    table = {
        call: {caller: format_decision(decided) for caller, decided in sorted(callers.items())}
        for call, callers in sorted(report.decisions.items())
    }
    return json.dumps({"version": VERSION, "decisions": table}, indent=2, ensure_ascii=False) + "\n"


def write_frozen(path: Path, report: ProbeReport) -> None:
    """Write the decisions of ``report`` to ``path``.

    Raises:
        UsageError: it cannot be written.
    """
    text = format_decisions(report)
    try:
        write_atomically(path, lambda stream: print(text, end="", file=stream))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def read_frozen(path: Path) -> Kept:
    """Return the decisions that are kept in ``path``.

    Raises:
        InvalidInput: it is not there, or no such table.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        table = content["decisions"]
        whole = content["version"] == VERSION and all(
            isinstance(decision, str) for callers in table.values() for decision in callers.values()
        )
    except FileNotFoundError as error:
        raise _build_invalid_input(
            path, "there is no such file.", f"Write it with: harness probe --update {path}"
        ) from error
    except OSError as error:
        raise _build_invalid_input(path, f"it cannot be read: {error.strerror}.") from error
    # JSON of any other shape ends here: a list, a number, a table without callers.
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _build_invalid_input(path, "this is no table of decisions.") from error
    if not whole:
        raise _build_invalid_input(path, f"this is no table of decisions of version {VERSION}.")
    found: Kept = table
    return found


def _build_invalid_input(path: Path, message: str, meant: str | None = None) -> InvalidInput:
    return InvalidInput([Problem(at=Location(file=str(path)), message=message, meant=meant)])


Direction: TypeAlias = Literal["more", "less", "other"]
"""``more``: the caller gains access (and may lose other access). ``less``: the caller only loses
access. ``other``: neither, such as a refusal in another form or a call that was not made."""


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """One decision that differs from the file."""

    call: str
    """The call, or the name of a tool that was not called."""
    caller: str
    """The caller."""
    before: str | None
    """The decision in the file; ``None`` if the file has none."""
    now: str | None
    """The decision now; ``None`` if the call was not made."""
    direction: Direction
    """Whether the caller gains or loses access."""
    gains: tuple[str, ...] = ()
    """Fields that only the new decision gives."""
    loses: tuple[str, ...] = ()
    """Fields that only the old decision gave."""

    @property
    def description(self) -> str:
        """The change on a line."""
        before, now = self.before or "not asked", self.now or "not asked"
        return make_one_line(f"{self.call} as {self.caller}: {before} before, {now} now")

    @property
    def summary(self) -> str:
        """The change on a line, with its direction: ``more access: agent gains email in …``."""
        said = {"more": "more access", "less": "less access", "other": "changed"}[self.direction]
        verbs = (("gains", self.gains), ("loses", self.loses))
        fields = " and ".join(f"{verb} {', '.join(names)}" for verb, names in verbs if names)
        return make_one_line(f"{said}{f' ({fields})' if fields else ''}: {self.description}")


def find_changes(kept: Kept, decisions: Decisions) -> Iterator[DecisionChange]:
    """Yield every difference between ``decisions`` and those in the file."""
    for call in dict.fromkeys((*kept, *decisions)):
        before, now = kept.get(call, {}), decisions.get(call, {})
        for caller in dict.fromkeys((*before, *now)):
            old, new = before.get(caller), format_decision(now[caller]) if caller in now else None
            if old != new:
                yield _build_change(call, caller, old, new)


def _build_change(call: str, caller: str, old: str | None, new: str | None) -> DecisionChange:
    was, withheld_before = _GIVEN.get(_get_access(old), -1), _parse_withheld(old)
    given, withheld_now = _GIVEN.get(_get_access(new), -1), _parse_withheld(new)
    # Fields can only be compared if both decisions gave data.
    comparable = was == given == _DATA
    gains = _list_opened(withheld_before, withheld_now) if comparable else ()
    loses = _list_opened(withheld_now, withheld_before) if comparable else ()
    direction: Direction = "other"
    # An error on either side has no rank, so it is neither more nor less.
    if gains or -1 < was < given:
        direction = "more"
    elif loses or -1 < given < was:
        direction = "less"
    return DecisionChange(call, caller, old, new, direction, gains, loses)


_DATA = 2
_GIVEN = {"hidden": 0, "denied": 1, "listed": 1, "filtered": _DATA, "allowed": _DATA}
"""Rank of the access that a decision gives: none, knowledge of the tool, or its data. Other
decisions, such as an error, have no rank."""
_WITHOUT = "filtered without "


def _get_access(decision: str | None) -> str:
    return "" if decision is None else decision.split(" ", 1)[0]


_LEFT_OUT, _MASKED, _PARTLY = "left out", "masked", "partly masked"
_SHOWN = {_LEFT_OUT: 0, _MASKED: 1, _PARTLY: 2, None: 3}
"""Rank of a field's visibility by the way it is withheld; ``None``: it is not withheld."""
_FIELD = re.compile(rf"(?P<name>.*?)(?: \((?P<how>{_MASKED}|{_PARTLY})\))?")


def _parse_withheld(decision: str | None) -> dict[str, str]:
    """Return the withheld fields and how each is withheld."""
    if decision is None or not decision.startswith(_WITHOUT):
        return {}
    parts = map(_FIELD.fullmatch, decision.removeprefix(_WITHOUT).split(", "))
    return {part["name"]: part["how"] or _LEFT_OUT for part in parts if part is not None}


def _list_opened(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields that are more visible ``now``, by how they are withheld."""
    return tuple(name for name, how in before.items() if _SHOWN[how] < _SHOWN[now.get(name)])


def format_decision(decided: ProbeDecision) -> str:
    """Return a decision on one line: ``denied (tool_error)``, ``filtered without email, phone``.

    A field that is masked instead of left out is marked: ``phone (masked)``.
    """
    if decided.access == "filtered":
        how = dict.fromkeys(decided.masked, f" ({_MASKED})")
        how |= dict.fromkeys(decided.partly, f" ({_PARTLY})")
        return _WITHOUT + ", ".join(f"{name}{how.get(name, '')}" for name in decided.fields)
    has_shape = decided.access == "denied" and decided.shape
    return f"denied ({decided.shape})" if has_shape else decided.access
