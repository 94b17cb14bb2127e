"""The results of two checks that apply without a suite's request: no leak, identity observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from harness.base import make_one_line
from harness.types import NOT_SEARCHED, STDERR, CheckResult, Decision, Leak, Location, TrialResult

NO_LEAK = "no_leak"
"""Kind of the check that an identity does not get a value that is withheld from it elsewhere."""
LEAK_NOTE = "leak_note"
"""Kind of the warning about a possible problem that is no leak."""
IDENTITY_OBSERVED = "identity_observed"
"""Kind of the check that the server answers different identities differently."""

_MOST_TOLD = 5
# So the place of a leak begins that no call shows (`harness.judging.policy.leaks`).
_ONLY_ANSWERED = "the answer"


def leak_check(leaks: Sequence[Leak], others: Sequence[str], at: Location | None) -> CheckResult:
    """Return the result of the leak check of one trial, compared with the identities ``others``."""
    if not leaks:
        return CheckResult(
            kind=NO_LEAK,
            label=NO_LEAK,
            verdict="passed",
            expected={"held_against": list(others)},
            at=at,
            line_crossed=False,
        )
    # One leak in a result is enough to lay it to the server.
    answered = all(leak.place.startswith(_ONLY_ANSWERED) for leak in leaks)
    more = [f"… and {len(leaks) - _MOST_TOLD} more fields"] if len(leaks) > _MOST_TOLD else []
    # The name of a field is the server's: it must not break the line.
    fields = ", ".join(dict.fromkeys(make_one_line(leak.field) for leak in leaks[:_MOST_TOLD]))
    return CheckResult(
        kind=NO_LEAK,
        label=f"{NO_LEAK} {fields}",
        verdict="failed",
        expected={"held_against": list(others)},
        actual=[asdict(leak) for leak in leaks[:_MOST_TOLD]],
        explanation="\n".join(
            [
                *(line for leak in leaks[:_MOST_TOLD] for line in leak_lines(leak)),
                *more,
                f"Line crossed: {'what the user saw' if answered else 'what the server allowed'}.",
            ]
        ),
        hint=_ANSWERED_HINT if answered else _SERVER_HINT,
        at=at,
        line_crossed=True,
    )


def note_check(notes: Sequence[Leak], at: Location | None) -> CheckResult:
    """Return a warning about possible problems that are no leaks."""
    lines = [
        f"Searched only in part: {leak.field}"
        if leak.kept == NOT_SEARCHED
        else f"{leak.field} ({leak.shown}), which is {leak.kept} for {leak.identity}, is in "
        f"{_encoded_place(leak)}"
        for leak in notes[:_MOST_TOLD]
    ]
    more = len(notes) - _MOST_TOLD
    return CheckResult(
        kind=LEAK_NOTE,
        label=f"{LEAK_NOTE} "
        f"{', '.join(dict.fromkeys(make_one_line(leak.field) for leak in notes))}",
        verdict="failed",
        severity="warn",
        actual=[asdict(leak) for leak in notes[:_MOST_TOLD]],
        explanation="\n".join(
            [*map(make_one_line, lines), *([f"… and {more} more fields"] if more > 0 else [])]
        ),
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
        return [
            make_one_line(
                f"Leak: {leak.tool} gives {leak.identity} (a caller without attributes) data that "
                f"is {leak.kept}"
            ),
            make_one_line(f"It is in {leak.place}"),
        ]
    count = f" and {leak.values - 1} more" if leak.values > 1 else ""
    may = " and ".join(leak.allowed_to)
    kept = {
        "left out": f"left out of {leak.tool}",
        "masked": f"masked in {leak.tool}",
        "refused": f"refused by {leak.tool}",
        "the tool is hidden": f"behind {leak.tool}, which is hidden",
    }[leak.kept]
    lines = [
        (
            f"Leak: {leak.field} ({leak.shown}{count}), which {may} may see, is {kept} for "
            f"{leak.identity}"
        ),
        _describe_place(leak),
    ]
    if not leak.place.startswith(_ONLY_ANSWERED):
        lines.append(
            "The answer repeats it: the user saw it."
            if leak.in_answer
            else "The answer does not repeat it: the user did not see it, but the model has."
        )
    return [make_one_line(line) for line in lines]


def group_by_value(leaks: Iterable[Leak]) -> list[tuple[Leak, int]]:
    """Return one leak for each value and identity, with all places, and the number of leaks.

    Leaks without a `Leak.value` (of calls that are open to everybody) are not joined.
    """
    found: dict[tuple[str, ...], list[Leak]] = {}
    for leak in leaks:
        same: tuple[str, ...] = (leak.suite, leak.identity, leak.value)
        if not leak.value:
            same = (leak.suite, leak.case, leak.tool, leak.field, leak.place)
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
    ):
        return check
    wanted = check.expected.get("is", ())
    found = (check.actual or {}).get("is")
    about = [
        decision
        for decision in decisions
        # A tool that was not called in this trial decided nothing in it.
        if check.expected.get("tool") in (None, decision.tool) and decision.calls
    ]
    kept = [path for one in about for path in (*one.missing, *one.masked)]
    # Only an answer may turn out to be filtered; a refusal is one whatever others get.
    if found != "allowed":
        return check
    if kept:
        check = replace(
            check, actual={**check.actual, "is": "filtered", "fields": list(dict.fromkeys(kept))}
        )
    if kept and "allowed" in wanted and "filtered" not in wanted:
        names = make_one_line(", ".join(dict.fromkeys(kept)))[:300]
        return replace(
            check,
            verdict="failed",
            explanation=f"Decision is filtered, expected allowed: others get {names} from the same "
            "call",
            hint="If this is intended, expect filtered; otherwise look at the server's policy.",
        )
    if (
        "filtered" in wanted
        and "allowed" not in wanted
        and not kept
        and "without" not in check.expected
    ):
        # Without an answer to compare with, it is a want of evidence and no line crossed.
        compared = any(one.compared for one in about)
        first = (
            "Decision is allowed, expected filtered: others get the same result from the same call"
            if compared
            else "No evidence that the decision is filtered: no other identity got an answer to "
            "the same call"
        )
        return replace(
            check,
            verdict="failed",
            explanation=first + ("\nLine crossed: what the server allowed." if compared else ""),
            line_crossed=compared,
            hint="The server's policy must leave a field out of the result, or mask it."
            if compared
            else "Name the fields that must be absent: {decision: filtered, without: […]}.",
        )
    return check
