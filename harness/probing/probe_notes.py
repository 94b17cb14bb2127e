"""What a probe's log says beside its findings: notes, lost calls, echoed tokens.

A note is also due to a record that a list shows to an identity, and that does not exist when it
asks for it. Where a record is hidden from somebody, its own tool often answers *not found*, which
is no refusal and says nothing of the policy. A list that shows the record to the same identity
contradicts that: one of the two forgets a rule. Which one is for the operator to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.base import make_one_line
from harness.judging import (
    LEAK_NOTE,
    JsonRecord,
    Result,
    echo_words,
    is_same_value,
    same_kind,
    to_comparable,
)
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    get_caller_name,
    get_facts,
    get_label,
)
from harness.reports import ProbeFinding
from harness.types import PUBLIC, TrialResult


def iterate_notes(runs: Iterable[TrialResult]) -> Iterator[str]:
    """Yield notes: possible problems that fail nothing."""
    for run in runs:
        for check in run.checks:
            if check.kind == LEAK_NOTE:
                yield from map(make_one_line, check.explanation.splitlines())


def iterate_lost_calls(runs: Iterable[TrialResult]) -> Iterator[str]:
    """Yield the reason of each call without an answer."""
    for run in runs:
        if run.error is not None:
            yield make_one_line(f"{run.case.identity}: {run.error.message}")


def find_public_caches(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each list or resource that is declared public and differs between identities."""
    content: dict[str, dict[str, str]] = {}
    for run in probed.own:
        view = probed.views.get(run.key)
        for aside in view.beside if view is not None else ():
            if aside.place.startswith(PUBLIC) and aside.unread is None:
                content.setdefault(aside.place, {}).setdefault(get_caller_name(run), aside.text)
    for place, by_caller in content.items():
        first = next(iter(by_caller.values()))
        others = [name for name, digest in by_caller.items() if digest != first]
        if others:
            what, one = place.removeprefix(PUBLIC), next(iter(by_caller))
            words = (
                f"{what} is declared public (cacheScope), and {others[0]} gets another than {one}"
            )
            words = make_one_line(f"{words}: a shared cache mixes them up")
            yield ProbeFinding(problem="public_cache", words=words, callers=tuple(others))


def find_echoed_tokens(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each call whose answer contains the caller's token, once for all callers."""
    reported: set[str] = set()
    for run in probed.runs:
        result = probed.get_result(run)
        # Once for all callers, since the refusals of their sessions would say the same.
        name, call = get_caller_name(run), get_label(run)
        if get_facts(run).get("echoed") and "" not in reported:
            reported.add("")
            words = "Token was sent back: the refusal of a session contains the caller's token"
            yield build_finding("token_echoed", f"{words}, as {name}", name)
        if result is not None and result.call.echoed_token and call not in reported:
            reported.add(call)
            words = f"{echo_words(result.call)}: {call} as {name}"
            yield build_finding("token_echoed", words, name, call, is_judged=True)


def find_contradictions(probed: ProbedTrials) -> Iterator[str]:
    """Yield a note for each identity and record that is in its lists and not found for it."""
    answers: dict[str, list[tuple[str, Result]]] = {}
    for run in probed.own:
        if (result := probed.get_result(run)) is not None:
            answers.setdefault(get_caller_name(run), []).append((get_label(run), result))
    every = ((name, one) for name, own in answers.items() for _, one in own)
    given = {(name, one.key): one for name, one in every if one.call.outcome == "ok"}
    for name, own in answers.items():
        # An error is neither a refusal nor for want of a right argument.
        failed = ((label, one.key) for label, one in own if one.call.outcome == "tool_error")
        for label, key in dict.fromkeys(failed):
            giver = next((other for other, asked in given if asked == key and other != name), None)
            # Found at another time, a record is no contradiction but a change.
            if giver is None or (name, key) in given:
                continue
            wanted = _extract_record(given[giver, key])
            shown = next((call for call, one in own if wanted and _has_row(one, wanted)), None)
            if shown is not None:
                yield make_one_line(
                    f"{shown} shows {name} a record that {label} does not find for them; "
                    f"{giver} gets it: one of the two forgets a rule"
                )


def _extract_record(result: Result) -> JsonRecord | None:
    """Return the record that a call with one of its ids gives; ``None`` if it gives none."""
    values = map(to_comparable, result.requested_record.fields.values())
    asked = [value for value in values if value is not None]
    for leaf in result.leaves:
        if any(is_same_value(one, value) for one in leaf.record.ids.values() for value in asked):
            return leaf.record
    return None


def _has_row(result: Result, wanted: JsonRecord) -> bool:
    """Whether a list has a row of the same kind with the record's ids and a value beside them."""
    if result.call.outcome != "ok":
        return False
    rows = {id(leaf.record): leaf.record for leaf in result.leaves if "[]" in leaf.path}
    return any(_is_the_record(row, wanted) for row in rows.values())


def _is_the_record(row: JsonRecord, wanted: JsonRecord) -> bool:
    shared = row.ids.keys() & wanted.ids.keys()
    if not shared or not same_kind(row, wanted):
        return False
    # Equal ids alone may belong to two tables that are numbered alike.
    beside = (row.names & wanted.names) - shared
    return all(is_same_value(row.ids[key], wanted.ids[key]) for key in shared) and any(
        row.fields[key] == wanted.fields[key] for key in beside
    )
