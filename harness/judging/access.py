"""Access in reports: checks of leaks and identity, and the matrix of tests and identities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from harness.base import make_one_line
from harness.judging.policy import summarise_access
from harness.types import (
    NOT_SEARCHED,
    STDERR,
    AccessCell,
    AccessReport,
    AccessRow,
    CaseResult,
    CheckResult,
    Decision,
    Leak,
    Location,
    TrialResult,
)

NO_LEAK = "no_leak"
"""Kind of the check that an identity does not get a value that is withheld from it elsewhere."""
LEAK_NOTE = "leak_note"
"""Kind of the warning about a possible problem that is no leak."""
IDENTITY_OBSERVED = "identity_observed"
"""Kind of the check that the server answers different identities differently."""


@dataclass(slots=True)
class AccessFacts:
    """The findings of comparing the views of a run's trials."""

    decisions: dict[str, tuple[Decision, ...]] = field(default_factory=dict)
    """`Trial.key` → the decisions on its tools."""
    leaks: dict[str, list[Leak]] = field(default_factory=dict)
    """`Trial.key` → its leaks."""
    notes: dict[str, list[Leak]] = field(default_factory=dict)
    """`Trial.key` → possible problems that fail nothing (`Leak.is_note`)."""
    unobserved: dict[str, str] = field(default_factory=dict)
    """Suite → why no identity was observed."""
    not_read: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Suite → what is listed and was not read, a line for each reason."""


_MOST_TOLD = 5
# So the place of a leak begins that no call shows (`harness.judging.policy.leaks`).
_ONLY_ANSWERED = "the answer"


def leak_check(leaks: Sequence[Leak], others: Sequence[str], at: Location | None) -> CheckResult:
    """Return the result of the leak check of one trial, compared with the identities ``others``."""
    passed = CheckResult(
        kind=NO_LEAK,
        label=NO_LEAK,
        verdict="passed",
        expected={"held_against": list(others)},
        at=at,
        line_crossed=False,
    )
    if not leaks:
        return passed
    told = leaks[:_MOST_TOLD]
    # One leak in a result is enough to lay it to the server.
    answered = all(leak.place.startswith(_ONLY_ANSWERED) for leak in leaks)
    crossed = f"Line crossed: {'what the user saw' if answered else 'what the server allowed'}."
    return replace(
        passed,
        label=f"{NO_LEAK} {_list_fields(told)}",
        verdict="failed",
        actual=[asdict(leak) for leak in told],
        explanation="\n".join(
            [*(line for leak in told for line in leak_lines(leak)), *_count_more(leaks), crossed]
        ),
        hint=_ANSWERED_HINT if answered else _SERVER_HINT,
        line_crossed=True,
    )


def _list_fields(leaks: Iterable[Leak]) -> str:
    # The name of a field is the server's: it must not break the line.
    return ", ".join(dict.fromkeys(make_one_line(leak.field) for leak in leaks))


def _count_more(leaks: Sequence[Leak]) -> list[str]:
    more = len(leaks) - _MOST_TOLD
    return [f"… and {more} more fields"] if more > 0 else []


def note_check(notes: Sequence[Leak], at: Location | None) -> CheckResult:
    """Return a warning about possible problems that are no leaks."""
    lines = [
        f"Searched only in part: {leak.field}"
        if leak.kept == NOT_SEARCHED
        else f"{leak.field} ({leak.shown}), which is {leak.kept} for {leak.identity}, is in "
        f"{_encoded_place(leak)}"
        for leak in notes[:_MOST_TOLD]
    ]
    return CheckResult(
        kind=LEAK_NOTE,
        label=f"{LEAK_NOTE} {_list_fields(notes)}",
        verdict="failed",
        severity="warn",
        actual=[asdict(leak) for leak in notes[:_MOST_TOLD]],
        explanation="\n".join([*map(make_one_line, lines), *_count_more(notes)]),
        hint=_OPERATOR_HINT if any(STDERR in leak.place for leak in notes) else _ROUNDED_HINT,
        at=at,
    )


_OPERATOR_HINT = (
    "The identity does not see the server's stderr, but whoever operates the server does, and logs "
    "are kept: do not write withheld values there."
)
_ROUNDED_HINT = "A rounded number reveals the approximate value. If that is too much, leave it out."
_SERVER_HINT = (
    "Apply one policy to every form of every result: text and structured content, errors, and each "
    "tool that returns the field. If the identity may see it there, write leaks: ignore."
)
_ANSWERED_HINT = (
    "No call of this identity returned it. Check what else the model was given (system prompt, "
    "shared memory, caches), or whether the answer derives it from what this identity may know. "
    "If so, write leaks: ignore."
)


def leak_lines(leak: Leak) -> list[str]:
    """Return a leak in words: the value, the identity, how it is withheld, and its place."""
    # A whole call that is open to anybody: no single value of it is withheld.
    if not leak.allowed_to:
        whose = f"{leak.identity} (a caller without attributes)"
        lines = [f"Leak: {leak.tool} gives {whose} data that is {leak.kept}"]
        return [*map(make_one_line, [*lines, f"It is in {leak.place}"])]
    count = f" and {leak.values - 1} more" if leak.values > 1 else ""
    kept = {
        "left out": f"left out of {leak.tool}",
        "masked": f"masked in {leak.tool}",
        "refused": f"refused by {leak.tool}",
        "the tool is hidden": f"behind {leak.tool}, which is hidden",
    }[leak.kept]
    value, who = f"{leak.field} ({leak.shown}{count})", " and ".join(leak.allowed_to)
    lines = [
        f"Leak: {value}, which {who} may see, is {kept} for {leak.identity}",
        _describe_place(leak),
    ]
    if not leak.place.startswith(_ONLY_ANSWERED):
        lines.append(
            "The answer repeats it: the user saw it."
            if leak.in_answer
            else "The answer does not repeat it: the user did not see it, but the model has."
        )
    return [*map(make_one_line, lines)]


def group_by_value(leaks: Iterable[Leak]) -> list[tuple[Leak, int]]:
    """Return one leak for each value and identity, with all places, and the number of leaks.

    Leaks without a `Leak.value` (of calls that are open to everybody) are not joined.
    """
    found: dict[tuple[str, ...], list[Leak]] = {}
    for leak in leaks:
        whole_call = (leak.suite, leak.case, leak.tool, leak.field, leak.place)
        same = (leak.suite, leak.identity, leak.value) if leak.value else whole_call
        found.setdefault(same, []).append(leak)
    return [(_merge_places(all_of_it), len(all_of_it)) for all_of_it in found.values()]


def _merge_places(leaks: Sequence[Leak]) -> Leak:
    others = (place for leak in leaks[1:] for place in (_encoded_place(leak), *leak.places))
    return replace(leaks[0], places=tuple(dict.fromkeys((*leaks[0].places, *others))))


def _encoded_place(leak: Leak) -> str:
    return f"{leak.place} ({', '.join(leak.decoded)})" if leak.decoded else leak.place


def _describe_place(leak: Leak) -> str:
    """Return the place of a value, its encoding there, and some of its other places."""
    encoded = f", {', '.join(leak.decoded)}: {leak.source}" if leak.decoded else ""
    further = [place for place in leak.places if place != leak.place]
    others = "; ".join(further[:_MOST_TOLD])
    also = f"; also in {others}" if others else ""
    left = len(leak.places) - _MOST_TOLD
    rest = f"; and in {left} more places" if left > 0 else ""
    return f"It is in {leak.place}{encoded}{also}{rest}"


def is_leaking(result: TrialResult) -> bool:
    """Whether a trial leaked a value that its identity must not see, which fails its case."""
    return any(check.kind == NO_LEAK and check.verdict == "failed" for check in result.checks)


def identity_check(reason: str, at: Location | None) -> CheckResult:
    """Return the failed check of a suite with ``require_identity``."""
    return CheckResult(
        kind=IDENTITY_OBSERVED,
        label=IDENTITY_OBSERVED,
        verdict="failed",
        explanation=f"Identity was not observed: {reason}.",
        hint=UNOBSERVED_HINT,
        at=at,
    )


UNOBSERVED_HINT = (
    "Check how the server gets the caller's identity (identity: of its entry), and add a question "
    "that it answers differently for two of the identities."
)


def judge_by_comparison(check: CheckResult, decisions: Sequence[Decision]) -> CheckResult:
    """Return ``check``, if it passed on a decision, judged by the results of other identities.

    If another identity got more fields from the same call, the decision is ``filtered``, not
    ``allowed``.
    """
    if (
        "decides_access" not in check.traits
        or check.verdict != "passed"
        or not isinstance(check.expected, Mapping)
        # Only an answer may turn out to be filtered; a refusal is one whatever others get.
        or (check.actual or {}).get("is") != "allowed"
    ):
        return check
    wanted = check.expected.get("is", ())
    about = [
        decision
        for decision in decisions
        # A tool that was not called in this trial decided nothing in it.
        if check.expected.get("tool") in (None, decision.tool) and decision.calls
    ]
    kept = list(dict.fromkeys(path for one in about for path in (*one.missing, *one.masked)))
    if kept:
        check = replace(check, actual={**check.actual, "is": "filtered", "fields": kept})
        if "allowed" not in wanted or "filtered" in wanted:
            return check
        return replace(
            check,
            verdict="failed",
            explanation="Decision is filtered, expected allowed: others get "
            f"{make_one_line(', '.join(kept))[:300]} from the same call",
            hint="If this is intended, expect filtered; otherwise look at the server's policy.",
        )
    if "filtered" not in wanted or "allowed" in wanted or "without" in check.expected:
        return check
    # Without an answer to compare with, it is a want of evidence and no line crossed.
    if not any(one.compared for one in about):
        return replace(
            check,
            verdict="failed",
            explanation="No evidence that the decision is filtered: no other identity got an "
            "answer to the same call",
            line_crossed=False,
            hint="Name the fields that must be absent: {decision: filtered, without: […]}.",
        )
    return replace(
        check,
        verdict="failed",
        explanation="Decision is allowed, expected filtered: others get the same result from the "
        "same call\nLine crossed: what the server allowed.",
        line_crossed=True,
        hint="The server's policy must leave a field out of the result, or mask it.",
    )


def access_report(facts: AccessFacts, cases: Iterable[CaseResult]) -> AccessReport:
    """Return ``facts`` as a matrix of tests and identities."""
    rows: dict[tuple[str, str, str], AccessRow] = {}
    for case in cases:
        test, identity = case.trials[0].case.group, case.trials[0].case.identity
        if test is not None and identity is not None:
            row = AccessRow(
                suite=case.suite, group=test, model=case.model, axes=case.axes, cells=()
            )
            row = rows.get((case.suite, test, case.entrant), row)
            cells = (*row.cells, _build_cell(case, identity, facts))
            rows[case.suite, test, case.entrant] = replace(row, cells=cells)
    return AccessReport(
        rows=tuple(rows.values()), unobserved=facts.unobserved, not_read=facts.not_read
    )


def _build_cell(case: CaseResult, identity: str, facts: AccessFacts) -> AccessCell:
    asked = [
        check.actual["is"]
        for run in case.trials
        for check in run.checks
        if "decides_access" in check.traits
        and isinstance(check.actual, Mapping)
        and "is" in (check.expected or ())
    ]
    decisions = [decision for run in case.trials for decision in facts.decisions.get(run.key, ())]
    # A tool that is hidden and was not called is irrelevant to this test.
    telling = asked or [
        one.access for one in decisions if one.calls or one.access not in {"hidden", "denied"}
    ]
    access = summarise_access(telling or [decision.access for decision in decisions])
    unique = {(one.tool, one.access, one.shape, one.missing, one.masked): one for one in decisions}
    return AccessCell(
        identity=identity,
        case=case.case,
        # Without a view, nothing is known of what the server did.
        access=access if any(run.key in facts.decisions for run in case.trials) else "error",
        status=case.status,
        decisions=tuple(unique.values()),
        leaks=tuple(leak for run in case.trials for leak in facts.leaks.get(run.key, ())),
    )
