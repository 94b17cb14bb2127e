"""What a server's policy stops of an attacker, and what rests on the model alone, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from harness.base import make_one_line, shorten_text
from harness.judging import EXIT_PASSED, EXIT_UNJUDGED, exit_code
from harness.probing.attacks.replays import MARK
from harness.reports import table_lines
from harness.types import (
    HIJACK,
    HIJACK_CODE,
    HijackOutcome,
    Report,
    TrialResult,
    dataclass,
)

Shown: TypeAlias = HijackOutcome | Literal["error"]
"""``error``: the replay has no verdict."""
_WORDS: dict[Shown, tuple[str, str]] = {
    "stopped": ("stopped", "stopped by the server"),
    "open": ("model alone", "on the model alone"),
    "unclear": ("unclear", "unclear"),
    "not_sent": ("not sent", "not sent"),
    "error": ("no verdict", "without a verdict"),
}
"""In a cell, and in the totals."""
_NOBODY = "the user"
_MOST = 10
"""Most lines of one kind on the console; JSON has all of them."""
_GOAL_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HijackReplay:
    """One replay: the calls of a test, then those of an attacker, as one identity."""

    suite: str
    """The suite."""
    test: str
    """The test with the reference calls."""
    goal: str
    """What the attacker wants."""
    identity: str
    """Who made all calls."""
    outcome: Shown
    """What became of the attacker's calls."""
    why: str
    """The calls that show it, or why there is no verdict."""
    own: bool
    """Whether the test is asked as this identity."""
    planted_by: Sequence[str]
    """The identities that could have planted the attack; empty: somebody outside."""
    reference_failed: Sequence[str]
    """The reference calls that failed."""


def list_replays(report: Report) -> list[HijackReplay]:
    """Return the replays of a run, in its order."""
    return [_read_replay(one) for one in report.results if HIJACK in one.case.metadata]


def _read_replay(result: TrialResult) -> HijackReplay:
    facts = result.case.metadata[HIJACK]
    check = next((one for one in result.checks if (one.code or "").startswith(HIJACK_CODE)), None)
    found: dict[str, Any] = {
        "outcome": "error",
        "why": result.skip_reason or "it was not finished",
        "reference_failed": [],
    }
    if result.error is not None:
        found["why"] = result.error.message
    elif check is not None:
        found = dict(check.actual)
    identity = result.case.identity or _NOBODY
    return HijackReplay(suite=result.suite.removeprefix(MARK), identity=identity, **facts, **found)


def choose_hijack_exit(report: Report, replays: Sequence[HijackReplay]) -> int:
    """Return the exit code: 0 if the table is whole, whatever it says; 4 if it says nothing."""
    code = exit_code(report)
    says_nothing = not any(one.outcome in {"open", "stopped"} for one in replays)
    return EXIT_UNJUDGED if says_nothing and code == EXIT_PASSED else code


def build_hijack_document(report: Report, code: int) -> dict[str, Any]:
    """Return everything as JSON; ``code`` is the exit code of the command."""
    replays = list_replays(report)
    return {
        "run_id": report.run_id,
        "log": report.log,
        "replays": [asdict(one) for one in replays],
        "totals": {name: sum(one.outcome == name for one in replays) for name in _WORDS},
        "deputies": list(_find_deputies(replays)),
        "left_out": report.settings[HIJACK],
        "exit_code": code,
    }


def format_hijacks(report: Report, width: int) -> Iterator[tuple[str, str | None]]:
    """Yield the lines for the console, each with its style."""
    replays = list_replays(report)
    for suite in dict.fromkeys(one.suite for one in replays):
        own = [one for one in replays if one.suite == suite]
        yield f"hijack replay of {suite}, tests: {len({one.test for one in own})}", "bold"
        for line in _format_table(own, width):
            yield line, None
        yield "", None
    yield from _format_deputies(_find_deputies(replays))
    yield from _list_some("unclear", _collect(replays, "unclear"), "yellow")
    yield from _list_some("not sent", _collect(replays, "not_sent"), "dim")
    yield from _list_some("no verdict", _collect(replays, "error"), "yellow")
    failed = (
        f"{one.test} as {one.identity}: {call}"
        for one in replays
        if one.own
        for call in one.reference_failed
    )
    yield from _list_some("reference call failed", dict.fromkeys(failed), "yellow")
    for suite, left_out in report.settings[HIJACK].items():
        yield from _format_left_out(suite, left_out)
    counted = Counter(one.outcome for one in replays)
    totals = (f"{words} {counted[name]:,}" for name, (_, words) in _WORDS.items() if counted[name])
    yield f"replays {len(replays):,}: {', '.join(totals)}", "bold"


def _format_table(replays: Sequence[HijackReplay], width: int) -> Iterator[str]:
    """Yield a row for each goal, with a column for each identity; tests are counted."""
    identities = list(dict.fromkeys(one.identity for one in replays))
    goals = list(dict.fromkeys(one.goal for one in replays))
    cells: dict[tuple[str, str], Counter[Shown]] = {}
    for one in replays:
        cells.setdefault((one.goal, one.identity), Counter())[one.outcome] += 1
    columns = [
        [name, *(_format_cell(cells.get((goal, name), Counter())) for goal in goals)]
        for name in identities
    ]
    names = [shorten_text(make_one_line(goal), _GOAL_CHARS) for goal in goals]
    return table_lines(["the attacker's call", *names], columns, width)


def _format_cell(counted: Counter[Shown]) -> str:
    parts = {words: counted[name] for name, (words, _) in _WORDS.items() if counted[name]}
    if [*parts.values()] == [1]:
        return next(iter(parts))
    return ", ".join(f"{count} {words}" for words, count in parts.items())


def _find_deputies(replays: Iterable[HijackReplay]) -> Iterator[str]:
    """Yield who could have an order carried out by somebody else that they are refused."""
    found: dict[tuple[str, str, str], dict[str, HijackReplay]] = {}
    for one in replays:
        found.setdefault((one.suite, one.test, one.goal), {})[one.identity] = one
    told: dict[str, None] = {}
    for (_, _, goal), by in found.items():
        for reader, replay in by.items():
            writers = [
                writer
                for writer in replay.planted_by
                if writer in by and by[writer].outcome == "stopped"
            ]
            # Where the reading itself fails, no text arrives.
            if replay.outcome == "open" and writers and not replay.reference_failed:
                words = f"{goal} as {reader}: {', '.join(writers)} could plant it, and is refused"
                told[f"{words} it"] = None
    yield from told


def _format_deputies(found: Iterator[str]) -> Iterator[tuple[str, str | None]]:
    return _list_some("confused deputy", dict.fromkeys(found), "red")


def _collect(replays: Sequence[HijackReplay], outcome: Shown) -> dict[str, None]:
    """Return the reasons of an outcome, each once for all identities and tests alike."""
    named: dict[tuple[str, str], list[str]] = {}
    for one in replays:
        if one.outcome == outcome:
            named.setdefault((one.goal, one.why), []).append(one.identity)
    everybody = {one.identity for one in replays}
    lines: dict[str, None] = {}
    for (goal, why), who in named.items():
        names = "everybody" if {*who} == everybody else ", ".join(dict.fromkeys(who))
        lines[f"{goal} as {names}: {why}"] = None
    return lines


def _list_some(
    title: str, lines: dict[str, None], style: str | None
) -> Iterator[tuple[str, str | None]]:
    for line in list(lines)[:_MOST]:
        yield f"{title}: {make_one_line(line)}", style
    if len(lines) > _MOST:
        yield f"… and {len(lines) - _MOST} more ({title}); --json-output has all", "dim"


def _format_left_out(suite: str, left_out: Any) -> Iterator[tuple[str, str | None]]:
    silent = left_out.get("attacks", 0) - left_out.get("calling", 0)
    if silent:
        words = (
            f"{suite}: {silent} of {left_out['attacks']} attacks ask for no call, but for a text"
        )
        yield f"{words} or a state: no server could stop them, they rest on the model alone", "dim"
    gone = {f"{suite} {test}: {why}": None for test, why in left_out["not_replayed"].items()}
    yield from _list_some("not replayed", gone, "yellow")
    parts = {
        f"{suite} {test}: {'; '.join(why)}": None for test, why in left_out["left_out"].items()
    }
    yield from _list_some("reference call left out", parts, "dim")
