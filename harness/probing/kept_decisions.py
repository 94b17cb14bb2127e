"""A kept table of decisions, to notice any change of them: ``harness probe --expect FILE``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from harness.errors import InvalidInput, Problem, UsageError
from harness.probing.report import Decided, ProbeReport
from harness.reports.atomic_files import write_atomically
from harness.safe_text import one_line
from harness.types import Location

Kept: TypeAlias = Mapping[str, Mapping[str, str]]
"""Call → caller → the decision in words, as a file keeps them."""
Decisions: TypeAlias = Mapping[str, Mapping[str, Decided]]
"""Call → caller → decision, as a probe finds them."""
VERSION = 2
"""Version 1 does not say how a field is withheld."""
_FIRST = 1


def freeze(report: ProbeReport) -> str:
    """Return the decisions of ``report`` as the text of a file that people can read and diff."""
    table = {
        call: {caller: words_of(decided) for caller, decided in sorted(callers.items())}
        for call, callers in sorted(report.decisions.items())
    }
    return json.dumps({"version": VERSION, "decisions": table}, indent=2, ensure_ascii=False) + "\n"


def write_frozen(path: Path, report: ProbeReport) -> None:
    """Write the decisions of ``report`` to ``path``.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_atomically(path, partial(_write, freeze(report)))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _write(text: str, stream: TextIO) -> None:
    stream.write(text)


def read_frozen(path: Path) -> Kept:
    """Return the decisions that are kept in ``path``.

    Raises:
        InvalidInput: it is not there, or no such table.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        table = content["decisions"]
        whole = content["version"] in (_FIRST, VERSION) and all(
            isinstance(decision, str) for callers in table.values() for decision in callers.values()
        )
    except FileNotFoundError as error:
        raise _invalid(
            path, "there is no such file.", f"Write it with: harness probe --update {path}"
        ) from error
    except OSError as error:
        raise _invalid(path, f"it cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _invalid(path, "this is no table of decisions.") from error
    if not whole:
        raise _invalid(path, f"this is no table of decisions of version {VERSION}.")
    found: Kept = table
    if content["version"] == VERSION:
        return found
    return {
        call: {caller: _in_some_way(decision) for caller, decision in callers.items()}
        for call, callers in found.items()
    }


def _in_some_way(decision: str) -> str:
    """Return a decision of version 1 as one of today."""
    if not decision.startswith(_WITHOUT):
        return decision
    names = decision.removeprefix(_WITHOUT).split(", ")
    return _WITHOUT + ", ".join(f"{name} ({_SOMEHOW})" for name in names)


def _invalid(path: Path, message: str, meant: str | None = None) -> InvalidInput:
    return InvalidInput([Problem(at=Location(file=str(path)), message=message, meant=meant)])


Direction: TypeAlias = Literal["more", "less", "other"]
"""Whether a caller came to more than before (also where they lost something else), only to less, or
to neither: a refusal in another form, a call that was not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One decision that is not what was kept."""

    call: str
    """The call, or the tool that nobody called."""
    caller: str
    """Whose decision it is."""
    before: str | None
    """The kept decision in words; ``None`` if it was not asked."""
    now: str | None
    """The present one; ``None`` if it was not asked."""
    direction: Direction
    """Whether the caller gains."""
    gains: tuple[str, ...] = ()
    """Fields that the caller gets now, and did not before."""
    loses: tuple[str, ...] = ()
    """Fields that the caller got before, and does not now."""

    @property
    def words(self) -> str:
        """The change on a line."""
        before, now = self.before or "not asked", self.now or "not asked"
        return one_line(f"{self.call} as {self.caller}: {before} before, {now} now")

    @property
    def told(self) -> str:
        """The change on a line, with its direction: ``more access: agent gains email in …``."""
        said = {"more": "more access", "less": "less access", "other": "changed"}[self.direction]
        verbs = (("gains", self.gains), ("loses", self.loses))
        fields = " and ".join(f"{verb} {', '.join(names)}" for verb, names in verbs if names)
        return one_line(f"{said}{f' ({fields})' if fields else ''}: {self.words}")


def changes(kept: Kept, decisions: Decisions) -> Iterator[Change]:
    """Yield everything in which ``decisions`` differ from what was kept."""
    for call in dict.fromkeys((*kept, *decisions)):
        before, now = kept.get(call, {}), decisions.get(call, {})
        for caller in dict.fromkeys((*before, *now)):
            old, new = before.get(caller), words_of(now[caller]) if caller in now else None
            if old != new and not _is_the_same(old, new):
                yield _change(call, caller, old, new)


def _change(call: str, caller: str, old: str | None, new: str | None) -> Change:
    was, held_back = _GIVEN.get(_access(old), -1), _held_back(old)
    given, holds_back = _GIVEN.get(_access(new), -1), _held_back(new)
    gains: tuple[str, ...] = ()
    loses: tuple[str, ...] = ()
    if was == given == _DATA:
        gains = tuple(name for name in held_back if _opens(held_back[name], holds_back.get(name)))
        loses = tuple(name for name in holds_back if _opens(holds_back[name], held_back.get(name)))
    direction: Direction = "other"
    if gains or -1 < was < given:
        direction = "more"
    elif loses or -1 < given < was:
        direction = "less"
    return Change(
        call=call,
        caller=caller,
        before=old,
        now=new,
        direction=direction,
        gains=gains,
        loses=loses,
    )


_DATA = 2
_GIVEN = {"hidden": 0, "denied": 1, "listed": 1, "filtered": _DATA, "allowed": _DATA}
"""How much a decision gives: nothing, that there is such a tool, or its data. Any other decision,
an error for example, says nothing about access."""
_WITHOUT = "filtered without "


def _access(decision: str | None) -> str:
    return "" if decision is None else decision.split(" ", 1)[0]


_LEFT_OUT, _MASKED, _PARTLY, _SOMEHOW = "left out", "masked", "partly masked", "in some way"
_SHOWN = {_LEFT_OUT: 0, _MASKED: 1, _PARTLY: 2, None: 3}
"""How much is shown of a field that is withheld in this way; ``None``: it is not withheld."""
_FIELD = re.compile(rf"(?P<name>.*?)(?: \((?P<how>{_MASKED}|{_PARTLY}|{_SOMEHOW})\))?")


def _held_back(decision: str | None) -> dict[str, str]:
    """Return the fields that are withheld, and how."""
    if decision is None or not decision.startswith(_WITHOUT):
        return {}
    parts = map(_FIELD.fullmatch, decision.removeprefix(_WITHOUT).split(", "))
    return {part["name"]: part["how"] or _LEFT_OUT for part in parts if part is not None}


def _opens(before: str, now: str | None) -> bool:
    """Whether a field is shown more than before; a way that is not known is no change."""
    if now is not None and _SOMEHOW in (before, now):
        return False
    return _SHOWN.get(before, 0) < _SHOWN[now]


def _is_the_same(old: str | None, new: str | None) -> bool:
    """Whether two decisions differ at most in that one does not say how fields are withheld."""
    before, now = _held_back(old), _held_back(new)
    return (
        bool(before)
        and before.keys() == now.keys()
        and all(_SOMEHOW in (how, now[name]) or how == now[name] for name, how in before.items())
    )


def words_of(decided: Decided) -> str:
    """Return a decision on a line: ``denied (tool_error)``, ``filtered without email, phone``.

    A field that is not left out is named with what stands in its place: ``phone (masked)``.
    """
    if decided.access == "filtered":
        how = dict.fromkeys(decided.masked, f" ({_MASKED})")
        how |= dict.fromkeys(decided.partly, f" ({_PARTLY})")
        return _WITHOUT + ", ".join(f"{name}{how.get(name, '')}" for name in decided.fields)
    return (
        f"denied ({decided.shape})"
        if decided.access == "denied" and decided.shape
        else decided.access
    )
