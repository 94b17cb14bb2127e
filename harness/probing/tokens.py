"""What the server does with flawed tokens, how long with expired ones, and with swapped ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.judging import Result
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    find_extra_fields,
    get_bases,
    get_caller_name,
    get_facts,
    get_label,
    is_flawed,
)
from harness.probing.callers import ANONYMOUS, Unsent
from harness.probing.report import LATELY_MIN, LONGEST_MIN, SENSIBLE_MIN, Leeway, TokenFate
from harness.reports import ProbeFinding
from harness.types import FLAWS, Credential, TrialResult

_TELLING: tuple[TokenFate, ...] = ("unclear", "refused", "as_nobody")
"""If calls with one token have different outcomes, the last of these in this order counts."""

_NO_CALL = (
    "no call works with a valid token and is refused both without one and with an expired one"
)
_NO_CALL_OF_IT = "no call of its tools works with a valid token and is refused without one"
_NO_KEY = "its tokens come from its token_command, so none can be made that is expired"


def find_accepted_tokens(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each flawed token that was accepted, unless the standards allow it."""
    for result, what, call in _find_accepted(probed):
        if FLAWS[get_facts(result)["credential"]].left_open is None:
            words = f"{get_facts(result)['damage']} of {get_bases(result)[0]} was accepted: {what}"
            yield build_finding("token_accepted", words, get_caller_name(result), call)


def _find_accepted(probed: ProbedTrials) -> Iterator[tuple[TrialResult, str, str | None]]:
    """Yield calls that work with a flawed token but not without one, and tools that it lists.

    Each comes with the evidence in words, and the call.
    """
    lists = probed.collect_tool_lists()
    reported: set[str] = set()
    for run in filter(is_flawed, probed.runs):
        call, result = get_label(run), probed.get_result(run)
        asked = (ANONYMOUS, call) in probed.first_answers
        if asked and accepts_token(result, probed.find_answer(ANONYMOUS, call)):
            reported.add(get_caller_name(run))
            yield run, f"{call} works with it", call
    # Where a call has shown that the token is accepted, the list is no news.
    for run in {get_caller_name(run): run for run in filter(is_flawed, probed.runs)}.values():
        if get_caller_name(run) in reported or ANONYMOUS not in lists:
            continue
        if shown := lists.get(get_caller_name(run), frozenset()) - lists[ANONYMOUS]:
            what = f"{', '.join(sorted(shown))} is in the list with it, and hidden from"
            yield run, f"{what} {ANONYMOUS}", None


def determine_fates(probed: ProbedTrials) -> dict[str, TokenFate]:
    """Return the outcome of each flawed token, by caller."""
    found: dict[str, TokenFate] = {}
    for result in filter(is_flawed, probed.runs):
        name, fate = get_caller_name(result), _determine_fate(result, probed)
        found[name] = max(fate, found.get(name, fate), key=_TELLING.index)
    accepted = {get_caller_name(result) for result, _, _ in _find_accepted(probed)}
    return {name: "accepted" if name in accepted else fate for name, fate in found.items()}


def _determine_fate(trial: TrialResult, probed: ProbedTrials) -> TokenFate:
    """Return the outcome of a flawed token, compared with a valid one and with none."""
    result, call = probed.get_result(trial), get_label(trial)
    # An HTTP status comes from the verifier, before any policy.
    if probed.is_refused(trial) or (result is not None and result.call.refusal == "http_status"):
        return "refused"
    own = probed.find_answer(get_bases(trial)[0], call)
    if result is None or own is None or own.call.outcome != "ok":
        return "unclear"  # a call that the owner is refused as well says nothing about the token
    # What is refused to the token, and not to its owner, is refused because of the token.
    if result.call.outcome in ("denied", "unknown_tool"):
        return "refused"
    is_asked = (ANONYMOUS, call) in probed.first_answers
    return "as_nobody" if result.call.outcome == "ok" and is_asked else "unclear"


def accepts_token(
    result: Result | None, nobody: Result | None, *, refused: bool = False
) -> bool | None:
    """Whether the token of a call is accepted, if its answer shows that.

    ``nobody`` is the answer to the call without a token. ``refused``: no session was opened.
    """
    if refused or (result is not None and result.call.refusal == "http_status"):
        return False
    if result is None or result.call.outcome not in ("ok", "denied", "unknown_tool"):
        return None
    gets_as_much = (
        nobody is not None and nobody.call.outcome == "ok" and not find_extra_fields(result, nobody)
    )
    return result.call.outcome == "ok" and not gets_as_much


def measure_leeway(probed: ProbedTrials) -> Leeway | None:
    """Return how long the server accepts an expired token; ``None`` if no flawed token was sent."""
    by_name = determine_fates(probed)
    if not by_name:
        return None
    if _accepts_flaw(by_name, "expired"):
        return Leeway(beyond=True)
    return _compute_leeway([get_facts(run)["expired"] for run in probed.apart["expired"]], _NO_CALL)


def measure_leeways(probed: ProbedTrials, unsent: Mapping[str, Unsent]) -> dict[str, Leeway]:
    """Return the same for each server that gets no flawed tokens otherwise, by its name."""
    by_server: dict[str, list[Mapping[str, Any]]] = {server: [] for server in unsent}
    for run in probed.apart["expired"]:
        fact = get_facts(run)["expired"]
        # The call without a token has no age.
        if fact.get("minutes") is not None and fact.get("server") in by_server:
            by_server[fact["server"]].append(fact)
    return {
        server: Leeway(unmeasured=_NO_KEY)
        if unsent[server] == "command"
        else _compute_leeway(made, _NO_CALL_OF_IT)
        for server, made in by_server.items()
    }


def _compute_leeway(made: Sequence[Mapping[str, Any]], without: str) -> Leeway:
    """Return the leeway by the facts of the calls that measured it.

    ``without`` says why there is none, if there are no calls.
    """
    if not made:
        return Leeway(unmeasured=without)
    if any(one["accepted"] and one["minutes"] > LONGEST_MIN for one in made):
        return Leeway(beyond=True, calls=len(made))
    last = min(made, key=lambda one: one["between"][1] - one["between"][0])
    accepted, refused = last["between"]
    if last["accepted"]:
        accepted = last["minutes"]
    else:
        refused = last["minutes"]
    if last["accepted"] is None or refused - accepted > 1:
        return Leeway(calls=len(made), unmeasured="an answer was unclear, late or lost")
    return Leeway(minutes=accepted, calls=len(made))


def list_leeway_notes(
    probed: ProbedTrials, leeway: Leeway | None, leeways: Mapping[str, Leeway]
) -> Iterator[str]:
    """Yield a note on each long leeway that is no finding."""
    if leeway is not None and not _accepts_flaw(determine_fates(probed), "expired_lately"):
        yield from _format_note("", leeway)
    for server, one in leeways.items():
        # A longer one is a finding (`find_aged_tokens`).
        if one.minutes is not None and one.minutes <= LATELY_MIN:
            yield from _format_note(f"{server}: ", one)


def _format_note(server: str, leeway: Leeway) -> Iterator[str]:
    if leeway.minutes is not None and leeway.minutes > SENSIBLE_MIN:
        yield (
            f"{server}{leeway.description}; RFC 7519 (4.1.4) lets clocks differ, usually by no "
            "more than a few minutes"
        )


def find_aged_tokens(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield the oldest token that each joined server accepted, if clocks do not differ so much."""
    oldest: dict[str, TrialResult] = {}
    for run in probed.apart["expired"]:
        fact = get_facts(run)["expired"]
        server, minutes = fact.get("server"), fact["minutes"]
        if server is None or minutes is None or minutes <= LATELY_MIN or not fact["accepted"]:
            continue
        known = oldest.get(server)
        if known is None or get_facts(known)["expired"]["minutes"] < minutes:
            oldest[server] = run
    for server, run in oldest.items():
        what, call = f"{get_facts(run)['damage']} of {get_bases(run)[0]}", get_label(run)
        words = f"{what} was accepted by {server}: {call} works with it"
        yield build_finding("token_accepted", words, get_caller_name(run), call)


def _accepts_flaw(by_name: Mapping[str, TokenFate], credential: Credential) -> bool:
    """Whether the token with this flaw was accepted of anybody."""
    words = f": {FLAWS[credential].words}"
    return any(fate == "accepted" and name.endswith(words) for name, fate in by_name.items())


def find_swap_gains(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each call that works in another caller's session, but not in an own session."""
    for run in probed.apart["opener"]:
        facts, result, name = get_facts(run), probed.get_result(run), get_caller_name(run)
        own = probed.first_answers.get((name, facts["of"]))
        if result is None or result.call.outcome != "ok" or own is None:
            continue
        if not probed.gets_as_much(own, result):
            what = f"{facts['of']} works {facts['words']}"
            words = f"{what}, and in a session of their own it is refused to {name}"
            yield build_finding("token_swapped", words, name, get_label(run))
