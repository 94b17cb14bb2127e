"""Checks that contradict each other: no conversation passes both, so one of them is a mistake.

Every kind of check says what it claims of the calls and texts
(`harness.judging.checks.kind.CheckKind.claims`). Two claims contradict each other only if that is
certain whatever the model does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base import Problem
from harness.judging.checks.claims import CallsClaim, Claim, EitherClaim, TextClaim, are_disjoint
from harness.judging.checks.registry import check_traits, get_kind
from harness.judging.checks.witness.expectations import exclude_each_other
from harness.judging.matching.calls import described_calls, stated_arguments
from harness.judging.matching.matchers import describe_pattern
from harness.judging.matching.texts import contains_text
from harness.types import Case, Check, Location, dataclass


# Compared by identity: equal claims of two checks are two demands.
@dataclass(frozen=True, slots=True, eq=False)
class _CheckClaim:
    check: Check
    claim: Claim


def find_contradictions(case: Case) -> Iterator[Problem]:
    """Yield the checks of ``case`` that cannot hold together, each at its place."""
    for check in case.every_check:
        for part in check.walk():
            for why in _find_impossible(part):
                meant = "Correct the matchers: no value has all that they ask for."
                yield _case_problem(case, check.at, why, meant)
    shares = [check for check in case.checks if "counts_turns" in check_traits(check)]
    if shares and not any(turn.checks for turn in case.turns):
        why = f"{shares[0].kind!r} cannot hold: no turn has checks."
        yield _case_problem(case, shares[0].at, why, "Write 'assertions:' under the turns.")
    before: list[_CheckClaim] = []
    for number, turn in enumerate(case.turns, start=1):
        # Where a share of the turns suffices, the checks of a single turn need not hold.
        ended = number == len(case.turns) and not shares
        yield from _find_among(case, (*turn.checks, *(case.checks if ended else ())), before)
        if not shares:
            # The calls of earlier turns count in later ones; their answers do not.
            made = _collect_claims(turn.checks)
            before += [
                one
                for one in made
                if all(isinstance(part, CallsClaim) for part in _list_options(one.claim))
            ]
    if not case.turns or shares:
        yield from _find_among(case, case.checks, before)


def _find_impossible(check: Check) -> Iterator[str]:
    """Yield what no value whatever matches."""
    patterns = [args for _, args in described_calls(check.params)]
    if "path" in check.params:
        patterns.append({"value": check.params["value"]})
    for pattern in patterns:
        # Plain values can always be matched, by themselves.
        if stated_arguments(pattern) is None and exclude_each_other(pattern):
            parts = (f"{name!r} {describe_pattern(part)}" for name, part in pattern.items())
            yield f"{check.kind!r} can never match anything: {' and '.join(parts)}."


def _collect_claims(checks: Sequence[Check]) -> list[_CheckClaim]:
    """Return what must hold if all ``checks`` do."""
    made: list[_CheckClaim] = []
    for check in checks:
        kind = get_kind(check)
        if kind.group == "none":
            (inner,) = check.options
            claims = _collect_claims(inner)
            # Of several that must not all hold, any one may fail.
            if len(inner) == len(claims) == 1:
                # Only a claim that decides its check: any other may hold although it fails.
                options = _list_options(claims[0].claim)
                made += [_CheckClaim(check, _negate(part)) for part in options if part.enough]
        elif len(check.options) == 1 or kind.group == "all":
            made += [claim for option in check.options for claim in _collect_claims(option)]
        elif not check.options:
            made += [_CheckClaim(check, claim) for claim in kind.claims(check.params)]
    return made


def _find_among(
    case: Case,
    checks: Sequence[Check],
    before: Sequence[_CheckClaim] = (),
    around: Sequence[_CheckClaim] = (),
) -> Iterator[Problem]:
    """Yield contradictions of ``checks`` with each other and with claims of others.

    Args:
        case: Whose checks they are.
        checks: What must hold together.
        before: What earlier turns require; what they forbid may be done later.
        around: What must hold as well.
    """
    own = _collect_claims(checks)
    every = [*own, *before, *around]
    for limit in (*own, *around):
        for demands, why in _find_violations(limit.claim, every):
            # What the others contradict among themselves is told where they stand.
            if any(one in own for one in (limit, *demands)):
                yield _build_problem(case, [limit, *demands], why)
    for one in every:
        options = one.claim.options if isinstance(one.claim, EitherClaim) else ()
        # What stands against each of the options, if anything does.
        against = [
            _find_opponents(_CheckClaim(one.check, option), (*own, *around), every)
            for option in options
        ]
        among = [one, *(limit for limits in against for limit in limits)]
        if against and all(against) and any(each in own for each in among):
            yield _build_problem(case, among, "nothing of what it asks for can be")
    for check in checks:
        group = get_kind(check).group
        for option in check.options:
            alternative = group == "any" and len(check.options) > 1
            if alternative or group == "none":
                beside = [one for one in own if one.check is not check]
                yield from _find_among(case, option, (), (*beside, *around) if alternative else ())


def _build_problem(case: Case, among: Sequence[_CheckClaim], why: str) -> Problem:
    # The later one in the file is what was added to the others.
    *_, later = sorted((one.check for one in among), key=_file_position)
    others = [one.check for one in among if one.check is not later] or [among[0].check]
    named = dict.fromkeys(
        f"{check.kind!r} in line {line}" if (line := _file_position(check)[0]) else repr(check.kind)
        for check in others
    )
    message = f"{later.kind!r} and {' and '.join(named)} cannot both hold: {why}."
    return _case_problem(case, later.at, message, "Keep what is meant.")


def _find_opponents(
    wanted: _CheckClaim, limits: Sequence[_CheckClaim], every: Sequence[_CheckClaim]
) -> list[_CheckClaim]:
    """Return the claims because of which ``wanted`` cannot hold together with ``every``."""
    for limit in limits:
        for demands, _ in _find_violations(limit.claim, [*every, wanted]):
            if wanted in demands:
                return [limit, *(demand for demand in demands if demand is not wanted)]
    return []


def _find_violations(
    limit: Claim, made: Sequence[_CheckClaim]
) -> Iterator[tuple[list[_CheckClaim], str]]:
    if isinstance(limit, CallsClaim) and limit.most is not None:
        needed, least = _find_demands(limit, made)
        if least > limit.most:
            calls = f"{least} call{'' if least == 1 else 's'}"
            which = "other tools" if limit.other_than else limit.tool or "any tool"
            ended = {"ok": " that succeed", "error": " that fail", None: ""}[limit.outcome]
            yield needed, f"{calls} of {which}{ended} must be made, and {limit.most} may be"
    elif isinstance(limit, TextClaim):
        for one in made:
            if isinstance(one.claim, TextClaim) and (why := _explain_clash(limit, one.claim)):
                yield [one], why


def _find_demands(limit: CallsClaim, made: Sequence[_CheckClaim]) -> tuple[list[_CheckClaim], int]:
    """Return demands for different calls within a limit, and how many calls they need at least."""
    demands = [
        (one.claim, one)
        for one in made
        if isinstance(one.claim, CallsClaim) and one.claim.least and limit.includes(one.claim)
    ]
    chosen: list[tuple[CallsClaim, _CheckClaim]] = []
    # The largest first: of demands that the same calls may meet, only one can be counted.
    for claim, one in sorted(demands, key=lambda pair: -pair[0].least):
        if all(are_disjoint(other.tool, other.args, claim) for other, _ in chosen):
            chosen.append((claim, one))
    return [one for _, one in chosen], sum(claim.least for claim, _ in chosen)


def _explain_clash(limit: TextClaim, other: TextClaim) -> str:
    """Return why a text cannot be as both say, or nothing."""
    if limit.of != other.of or limit.tool not in (None, other.tool) or not other.has:
        return ""
    # Spaces around a text stand for the ends of a word, which another text may not have.
    certain = other.whole or limit.lacks == limit.lacks.strip()
    if limit.lacks and certain and contains_text(limit.lacks, other.has):
        return f"{limit.lacks!r} is in {other.has!r}"
    if limit.whole and not contains_text(other.has, limit.has):
        return f"{other.has!r} is not in {limit.has!r}"
    return ""


def _list_options(claim: Claim) -> Sequence[CallsClaim | TextClaim]:
    return claim.options if isinstance(claim, EitherClaim) else [claim]


def _negate(claim: CallsClaim | TextClaim) -> Claim:
    if isinstance(claim, TextClaim):
        return TextClaim(of=claim.of, tool=claim.tool, has=claim.lacks, lacks=claim.has)
    few = claim.least and claim.most is None
    return CallsClaim(
        tool=claim.tool,
        args=claim.args,
        outcome=claim.outcome,
        least=0 if claim.least or claim.most is None else claim.most + 1,
        most=claim.least - 1 if few else None,
    )


def _file_position(check: Check) -> tuple[int, int]:
    return (0, 0) if check.at is None else (check.at.line or 0, check.at.column or 0)


def _case_problem(case: Case, at: Location | None, message: str, meant: str) -> Problem:
    return Problem(
        at=at or case.at or Location(file="?"),
        message=f"test {case.name!r}: {message}",
        meant=meant,
    )
