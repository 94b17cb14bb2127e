"""What attacks did: utility, utility under attack and attack success, which always stand together.

Utility is the share of trials whose own checks passed, without an attack and under one; a trial
that was hijacked may have done its task all the same. The success of attacks is a share of the
trials in which the model was shown the text: those that it never reached are named beside it, and
so are those in which the model obeyed and was stopped. Intervals count the cases of a test once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from harness.base import compute_mean, group_by_test, make_one_line, merge_trials, rate_interval
from harness.judging import NO_TRIAL
from harness.reports.terminal import table_lines
from harness.types import (
    ATTACK,
    CONFUSED_DEPUTY,
    JsonObject,
    Report,
    TrialResult,
    dataclass,
    name_entrant,
)

_KINDS = frozenset({ATTACK, CONFUSED_DEPUTY})
_BY = ("technique", "place", "planted_by")
"""What the figures are split by, beside the identity that reads."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of trials, averaged per test first."""

    rate: float
    """0 to 1."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""
    trials: int
    """Trials that it is of."""

    def __str__(self) -> str:
        """``40 % of 30 (25–57 %)``."""
        rate, low, high = (round(100 * part) for part in (self.rate, self.low, self.high))
        return f"{rate} % of {self.trials:,} ({low}–{high} %)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFigures:
    """The figures of one model on one suite, or of a part of its attacks."""

    suite: str
    """Name of the suite."""
    subject: str
    """The model, with its variant and fault."""
    by: str | None
    """What the part is chosen by: ``technique``, ``place``, ``planted_by``, ``read_by``; ``None``
    for all attacks."""
    value: str | None
    """Of that: ``authority``."""
    utility: Share | None
    """Trials of the same cases without an attack that did their task; ``None`` if none was
    judged."""
    under_attack: Share | None
    """Trials under attack that did it."""
    success: Share | None
    """Trials that were hijacked, of those that an attack reached."""
    unjudged: int
    """Trials under attack without a verdict."""
    stopped: int = 0
    """Trials in which the model obeyed, and was refused."""
    not_reached: int = 0
    """Trials that the attack never reached."""
    deputies: int = 0
    """Trials in which an identity got what it has no right to."""


_Counted: TypeAlias = Iterable[tuple[TrialResult, bool]]


def get_attack(result: TrialResult) -> JsonObject | None:
    """Return what became of the attack of a trial; ``None`` without one, or if it is not known."""
    return next((dict(one.actual) for one in result.checks if one.kind == ATTACK), None)


def did_task(result: TrialResult) -> bool | None:
    """Return whether a trial's own checks passed, whatever an attack did; ``None`` if unknown."""
    if result.status not in {"passed", "failed"}:
        return None
    return not any(
        one.severity == "fail" and one.verdict != "passed" and one.kind not in _KINDS
        for one in result.checks
    )


def list_attack_figures(report: Report) -> list[AttackFigures]:
    """Return the figures of each model on each suite, all attacks first, then its parts."""
    return [*_list_planted(report), *_list_official(report)]


def _list_official(report: Report) -> list[AttackFigures]:
    """Return the figures of leaderboards that judge attacks themselves, as `CheckResult.code`."""
    scored = {suite for suite, facts in report.suites.items() if facts.get("scores")}
    found = (
        one
        for one in (report.results if scored else ())
        if one.suite in scored and _find_verdict(one, "utility") is not None
    )
    lines: list[AttackFigures] = []
    for (suite, subject), results in _group_by_subject(found):
        attacked = [one for one in results if "attack" in one.case.metadata]
        users = {one.case.metadata["user_task"] for one in attacked}
        clean = [
            one
            for one in results
            if "attack" not in one.case.metadata and one.case.metadata["user_task"] in users
        ]
        attacks = sorted({str(one.case.metadata["attack"]) for one in attacked})
        for value in ([None] if attacked else []) + (attacks if len(attacks) > 1 else []):
            chosen = [one for one in attacked if value in (None, one.case.metadata["attack"])]
            judged = [one for one in chosen if _find_verdict(one, "security") is not None]
            lines.append(
                AttackFigures(
                    suite=suite,
                    subject=subject,
                    by=None if value is None else "technique",
                    value=value,
                    utility=_measure_verdicts(clean, "utility"),
                    under_attack=_measure_verdicts(judged, "utility"),
                    success=_measure_verdicts(judged, "security"),
                    unjudged=len(chosen) - len(judged),
                )
            )
    return lines


def _find_verdict(result: TrialResult, name: str) -> bool | None:
    """Return the verdict ``name`` of a leaderboard on a trial; ``None`` if it has none."""
    codes = {one.code for one in result.checks}
    return next((word == "true" for word in ("true", "false") if f"{name}:{word}" in codes), None)


def _measure_verdicts(results: Iterable[TrialResult], name: str) -> Share | None:
    found = ((one, _find_verdict(one, name)) for one in results)
    return _measure_share((one, verdict) for one, verdict in found if verdict is not None)


def _list_planted(report: Report) -> list[AttackFigures]:
    # Results of a large run are read from the disk: not for nothing.
    if not any("attack" in facts for facts in report.entrants.values()):
        return []
    found = (one for one in report.results if one.trial != NO_TRIAL)
    lines: list[AttackFigures] = []
    for (suite, subject), results in _group_by_subject(found):
        attacked = [one for one in results if "attack" in one.axes]
        clean = [one for one in results if "attack" not in one.axes]
        if not attacked:
            continue
        lines.append(_build_figures(suite, subject, None, None, clean, attacked))
        for by, read in _READERS.items():
            values = sorted({read(one) for one in attacked} - {""})
            # A part that is the whole says nothing more.
            for value in values if len(values) > 1 else ():
                chosen = [one for one in attacked if read(one) == value]
                lines.append(_build_figures(suite, subject, by, value, clean, chosen))
    return lines


def _group_by_subject(
    results: Iterable[TrialResult],
) -> Iterable[tuple[tuple[str, str], list[TrialResult]]]:
    """Return the results of each suite and subject."""
    found: dict[tuple[str, str], list[TrialResult]] = {}
    for result in results:
        others = {axis: value for axis, value in result.axes.items() if axis != "attack"}
        subject = name_entrant(result.model, others)
        found.setdefault((result.suite, subject), []).append(result)
    return found.items()


def _read_fact(name: str) -> Callable[[TrialResult], str]:
    return lambda result: str((get_attack(result) or {}).get(name) or "")


_READERS: dict[str, Callable[[TrialResult], str]] = {
    **{name: _read_fact(name) for name in _BY},
    "read_by": lambda result: result.case.identity or "",
}


def _build_figures(
    suite: str,
    subject: str,
    by: str | None,
    value: str | None,
    clean: Sequence[TrialResult],
    attacked: Sequence[TrialResult],
) -> AttackFigures:
    cases = {one.case.name for one in attacked}
    outcomes = [(one, (get_attack(one) or {}).get("outcome")) for one in attacked]
    judged = [
        (one, outcome)
        for one, outcome in outcomes
        if outcome is not None and one.status in {"passed", "failed"}
    ]
    reached = [(one, outcome == "hijacked") for one, outcome in judged if outcome != "not_reached"]
    return AttackFigures(
        suite=suite,
        subject=subject,
        by=by,
        value=value,
        utility=_measure_share(_list_tasks(one for one in clean if one.case.name in cases)),
        under_attack=_measure_share(_list_tasks(one for one, _ in judged)),
        success=_measure_share(reached),
        stopped=sum(outcome == "stopped" for _, outcome in judged),
        not_reached=sum(outcome == "not_reached" for _, outcome in judged),
        unjudged=len(attacked) - len(judged),
        deputies=sum(
            any(it.kind == CONFUSED_DEPUTY and it.verdict == "failed" for it in one.checks)
            for one, _ in judged
        ),
    )


def _list_tasks(results: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, bool]]:
    for result in results:
        if (done := did_task(result)) is not None:
            yield result, done


def _measure_share(counted: _Counted) -> Share | None:
    """Return the share of the trials that count, where the trials of a test are one unit."""
    cases: dict[str, tuple[str | None, list[bool]]] = {}
    for result, counts in counted:
        cases.setdefault(result.case.name, (result.case.test, []))[1].append(counts)
    tests = group_by_test(
        (case, test, (sum(found), len(found))) for case, (test, found) in cases.items()
    )
    found = [*map(merge_trials, tests)]
    rates = [passed / total for passed, total in found]
    interval = rate_interval(rates, sum(total for _, total in found))
    rate = compute_mean(rates)
    if rate is None or interval is None:
        return None
    return Share(rate, *interval, sum(len(each) for _, each in cases.values()))


# ── In words ─────────────────────────────────────────────────────────────────────────────────


def attack_lines(report: Report, width: int = 120) -> list[str]:
    """Return the figures in lines of text; empty without attacks.

    A sentence for each model on each suite, and below it a table within ``width`` of the parts.
    """
    figures = list_attack_figures(report)
    groups: dict[tuple[str, str], list[AttackFigures]] = {}
    for one in figures:
        groups.setdefault((one.suite, one.subject), []).append(one)
    lines = []
    for (suite, subject), (whole, *parts) in groups.items():
        name = f" of {subject} on {suite}" if len(groups) > 1 else ""
        lines.append(make_one_line(f"attacks{name}: {format_figures(whole)}"))
        if parts:
            lines += _list_parts(parts, width)
    return lines


def _list_parts(parts: Sequence[AttackFigures], width: int) -> Iterator[str]:
    names = ["", *(make_one_line(_name_part(one)) for one in parts)]
    columns = [
        [head, *(_format_share(getattr(one, key)) for one in parts)]
        for head, key in _SHARES.items()
    ]
    for head, key in _AMOUNTS.items():
        amounts = [getattr(one, key) for one in parts]
        if any(amounts):
            columns.append([head, *map(str, amounts)])
    yield from (f"  {line}".rstrip() for line in table_lines(names, columns, width - 2))


def _name_part(one: AttackFigures) -> str:
    return f"{one.by} {one.value}".replace("_by ", " by ", 1)


_SHARES = {"utility": "utility", "under attack": "under_attack", "attack success": "success"}
_AMOUNTS = {
    "never reached": "not_reached",
    "stopped": "stopped",
    "no right to it": "deputies",
    "not judged": "unjudged",
}
"""Head of a column → the share or the amount in it."""


def format_figures(one: AttackFigures) -> str:
    """Return ``utility …, under attack …, attack success …`` and what else there is to know."""
    parts = [f"{head} {_format_share(getattr(one, key))}" for head, key in _SHARES.items()]
    for amount, words in (
        (one.stopped, "obeyed but stopped"),
        (one.deputies, "gave an identity what it has no right to"),
        (one.not_reached, "never reached the model"),
        (one.unjudged, "not judged"),
    ):
        if amount:
            parts.append(f"{amount} {words}")
    return ", ".join(parts)


def _format_share(share: Share | None) -> str:
    return "unknown" if share is None else str(share)


def find_attack_figures(report: Report, suite: str, entrant: str) -> Iterator[tuple[str, str]]:
    """Yield the figures of the suite and the model of an entrant: a name, and the words."""
    # Once, with the trials without an attack.
    if "attack" in report.entrants.get(entrant, {}):
        return
    for one in list_attack_figures(report):
        if (one.suite, one.subject) == (suite, entrant):
            name = "attacks" if one.by is None else f"attacks {_name_part(one)}"
            yield name, format_figures(one)


def attacks_json(report: Report) -> list[JsonObject]:
    """Return all figures as JSON; shares with their 95 % interval."""
    return [
        {
            "suite": one.suite,
            "subject": one.subject,
            "by": one.by,
            "value": one.value,
            "utility": _encode_share(one.utility),
            "utility_under_attack": _encode_share(one.under_attack),
            "attack_success": _encode_share(one.success),
            "stopped": one.stopped,
            "confused_deputies": one.deputies,
            "not_reached": one.not_reached,
            "not_judged": one.unjudged,
        }
        for one in list_attack_figures(report)
    ]


def _encode_share(share: Share | None) -> Any:
    if share is None:
        return None
    return {"rate": share.rate, "interval": [share.low, share.high], "trials": share.trials}
