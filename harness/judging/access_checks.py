"""Results of two checks that no suite writes: leaks between identities, and an identity that nothing shows to count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from harness.safe_text import one_line
from harness.types import CheckResult, Decision, Leak, Location, TrialResult

NO_LEAK = "no_leak"
"""Kind of the check that an identity was not given what is kept from it elsewhere."""
IDENTITY_OBSERVED = "identity_observed"
"""Kind of the check that something shows that the server knows who asks."""

_MOST_TOLD = 5
_ONLY_ANSWERED = "the answer"


def leak_check(leaks: Sequence[Leak], others: Sequence[str], at: Location | None) -> CheckResult:
    """Return the result of looking for leaks in one trial, held against those of ``others``."""
    if not leaks:
        return CheckResult(
            kind=NO_LEAK,
            label=NO_LEAK,
            verdict="passed",
            expected={"held_against": list(others)},
            at=at,
        )
    answered = all(leak.place.startswith(_ONLY_ANSWERED) for leak in leaks)
    more = [f"… and {len(leaks) - _MOST_TOLD} more fields"] if len(leaks) > _MOST_TOLD else []
    fields = ", ".join(dict.fromkeys(one_line(leak.field) for leak in leaks[:_MOST_TOLD]))
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
    )


_SERVER_HINT = (
    "The server has to hold every form of every result to one policy: text and structured content, "
    "errors, each tool "
    "that returns the field. If it is meant to be seen there, write leaks: ignore."
)
_ANSWERED_HINT = (
    "No call of this identity returned it: see what the model was told besides (system prompt, "
    "shared memory, caches), "
    "or whether the answer works it out from what it may know. If so, write leaks: ignore."
)


def leak_lines(leak: Leak) -> list[str]:
    """Return a leak in words: what, whom it is kept from and how, and where it stood."""
    if not leak.allowed_to:
        return [
            one_line(
                f"Leak: {leak.tool} gives {leak.identity}, who is nobody in particular, what is "
                f"{leak.kept}"
            ),
            one_line(f"It stands in {leak.place}"),
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
        f"It stands in {leak.place}",
    ]
    if not leak.place.startswith(_ONLY_ANSWERED):
        lines.append(
            "The answer repeats it: the user saw it."
            if leak.in_answer
            else "The answer does not repeat it: the user did not see it, but the model has."
        )
    return [one_line(line) for line in lines]


def is_leaking(run: TrialResult) -> bool:
    """Whether a trial gave away what its identity must not see: that fails its case, whatever other trials did."""
    return any(check.kind == NO_LEAK and check.verdict == "failed" for check in run.checks)


def identity_check(reason: str, at: Location | None) -> CheckResult:
    """Return the failure of a suite that requires what nothing in it shows."""
    return CheckResult(
        kind=IDENTITY_OBSERVED,
        label=IDENTITY_OBSERVED,
        verdict="failed",
        explanation=f"Identity was not observed: {reason}.",
        hint=UNOBSERVED_HINT,
        at=at,
    )


UNOBSERVED_HINT = (
    "See how the server is told who asks (identity: of its entry), and ask at least one thing that "
    "it answers "
    "differently to two of them."
)


def with_comparison(check: CheckResult, decisions: Sequence[Decision]) -> CheckResult:
    """Return a ``decision`` that passed by itself as the other identities show it: ``allowed`` or ``filtered``."""
    if (
        check.kind != "decision"
        or check.verdict != "passed"
        or not isinstance(check.expected, Mapping)
    ):
        return check
    wanted = check.expected.get("is", ())
    found = (check.actual or {}).get("is")
    about = [
        one for one in decisions if check.expected.get("tool") in (None, one.tool) and one.calls
    ]
    kept = [path for one in about for path in (*one.missing, *one.masked)]
    if found != "allowed":
        return check
    if kept:
        check = replace(
            check, actual={**check.actual, "is": "filtered", "fields": list(dict.fromkeys(kept))}
        )
    if kept and "allowed" in wanted and "filtered" not in wanted:
        names = one_line(", ".join(dict.fromkeys(kept)))[:300]
        return replace(
            check,
            verdict="failed",
            explanation=f"Decision is filtered, expected allowed: others are given {names} for the "
            f"same call",
            hint="If that is as it should be, expect filtered; if not, look at the server's "
            "policy.",
        )
    if (
        "filtered" in wanted
        and "allowed" not in wanted
        and not kept
        and "without" not in check.expected
    ):
        compared = any(one.compared for one in about)
        first = (
            (
                "Decision is allowed, expected filtered: the result is the same as others get for "
                "the "
                "same call"
            )
            if compared
            else (
                "Decision is not shown to be filtered: no other identity was answered the same call"
            )
        )
        return replace(
            check,
            verdict="failed",
            explanation=first + ("\nLine crossed: what the server allowed." if compared else ""),
            hint="The server's policy has to leave something out, or mask it."
            if compared
            else "Name the fields that must not be there: {decision: filtered, without: […]}.",
        )
    return check
