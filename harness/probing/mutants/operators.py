"""The mutation operators: each plants one kind of fault into the recorded answers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from harness.judging import Result, differences
from harness.probing.mutants.recording import Answer, Cell, Recording
from harness.probing.mutants.rewriting import (
    most_telling,
    with_fields,
    with_row,
    with_value,
    withheld,
)
from harness.types import ToolCall, ToolList

_REFUSAL = "Access denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """The answers of a server with one fault."""

    operator: str
    """The kind of fault; a key of `OPERATORS`."""
    words: str
    """The fault on one line."""
    answers: tuple[Answer, ...]
    """The changed answers."""
    wrong: Cell
    """The caller and call where the server gives too much, or too little."""
    hides: str | None = None
    """The tool that the fault lists although it is hidden."""


Operator: TypeAlias = Callable[[Recording], Iterator[Mutant]]


def grant(recording: Recording) -> Iterator[Mutant]:
    """A refused caller gets the answer that somebody else got."""
    for answers in recording.of_call().values():
        full = _fullest(answers)
        for own in answers:
            if own.refused and full is not None and full.result is not None:
                words = f"{own.call} as {own.caller}: answered as for {full.caller}, not refused"
                yield _one("grant", words, own.answered(full.result.call))


def refuse(recording: Recording) -> Iterator[Mutant]:
    """A caller who got an answer is refused."""
    for own in recording.answers.values():
        if own.good is not None:
            words = f"{own.call} as {own.caller}: refused, not answered"
            yield _one("refuse", words, own.answered(_refusal(own, recording)))


def widen(recording: Recording) -> Iterator[Mutant]:
    """A field that is left out is included."""
    yield from _opened(recording, "widen", "left out", "is there, not left out")


def unmask(recording: Recording) -> Iterator[Mutant]:
    """A field that is masked can be read."""
    yield from _opened(recording, "unmask", "masked", "can be read, not masked")


def forget_record(recording: Recording) -> Iterator[Mutant]:
    """One record of a list is not filtered or not left out."""
    for own, result, full in _filtered(recording):
        paths = {path for path in withheld(result, full) if "[]" in path}
        if paths:
            words = f"{own.call} as {own.caller}: one record is not filtered"
            call = with_fields(result, full, paths, first_only=True)
            yield _one("forget_record", words, own.answered(call))
        words = f"{own.call} as {own.caller}: one record more"
        yield _one("forget_record", words, own.answered(with_row(result, full)))


def alias(recording: Recording) -> Iterator[Mutant]:
    """A withheld value is included under another name."""
    yield from _smuggled(recording, "alias", "remark", str)


def encode(recording: Recording) -> Iterator[Mutant]:
    """A withheld value is included in base64 under another name."""
    yield from _smuggled(
        recording, "encode", "cursor", lambda text: base64.b64encode(text.encode()).decode()
    )


def quote(recording: Recording) -> Iterator[Mutant]:
    """The text of a refusal contains the withheld value."""
    for answers in recording.of_call().values():
        full = _fullest(answers)
        for own in answers:
            if own.result is None or not own.refused or full is None or full.result is None:
                continue
            if (
                leaf := most_telling(full.result.leaves, recording.seen_by(own.caller))
            ) is not None:
                text = f"{own.result.call.text} ({leaf.value})"
                words = (
                    f"{own.call} as {own.caller}: the refusal quotes {leaf.path or 'the answer'}"
                )
                yield _one("quote", words, own.answered(replace(own.result.call, text=text)))


def cache(recording: Recording) -> Iterator[Mutant]:
    """Everybody gets the answer that was made for one caller."""
    for call, answers in recording.of_call().items():
        kinds = {answer.visible: answer for answer in answers}
        for first in kinds.values():
            changed = [own.as_of(first) for own in answers if _differ(own, first)]
            words = f"{call}: everybody gets the answer of {first.caller}"
            yield from _several("cache", words, changed, recording)


def previous(recording: Recording) -> Iterator[Mutant]:
    """Each caller gets the previous caller's answer."""
    for call, answers in recording.of_call().items():
        pairs = zip([*answers[-1:], *answers[:-1]], answers, strict=True)
        changed = [own.as_of(before) for before, own in pairs if _differ(own, before)]
        words = f"{call}: each caller gets the answer of the caller before"
        yield from _several("previous", words, changed, recording)


def swap(recording: Recording) -> Iterator[Mutant]:
    """Two callers are swapped in every call."""
    of_caller = recording.of_caller()
    for one, other in combinations(of_caller, 2):
        twins = [
            (own, recording.answers[other, own.call])
            for own in of_caller[one]
            if (other, own.call) in recording.answers
        ]
        changed = [
            mixed
            for own, twin in twins
            if _differ(own, twin)
            for mixed in (own.as_of(twin), twin.as_of(own))
        ]
        words = f"{one} and {other} are taken for one another"
        yield from _several("swap", words, changed, recording)


def show_hidden(recording: Recording) -> Iterator[Mutant]:
    """A hidden tool is listed."""
    for caller, answers in recording.of_caller().items():
        offered = {tool.name for tool in answers[0].tools.tools}
        if not offered:
            continue  # who was refused a session has no list
        for name, tool in recording.tools.items():
            if name not in offered:
                longer = ToolList(tools=(*answers[0].tools.tools, tool))
                yield Mutant(
                    operator="show_hidden",
                    words=f"{name} is in the list of {caller}, not hidden",
                    answers=tuple(answer.shown(longer) for answer in answers),
                    wrong=answers[0].cell,
                    hides=name,
                )


OPERATORS: Mapping[str, Operator] = {
    operator.__name__: operator
    for operator in (
        grant,
        refuse,
        widen,
        unmask,
        forget_record,
        alias,
        encode,
        quote,
        cache,
        previous,
        swap,
        show_hidden,
    )
}
"""Every operator, by its name."""


def mutants(recording: Recording) -> Iterator[Mutant]:
    """Yield every mutant that differs from the recorded answers and from earlier mutants."""
    known: set[object] = set()
    for operator in OPERATORS.values():
        for mutant in operator(recording):
            changed = tuple(
                answer
                for answer in mutant.answers
                if answer.visible != recording.answers[answer.cell].visible
            )
            behaviour = frozenset((answer.cell, answer.visible) for answer in changed)
            if changed and behaviour not in known:
                known.add(behaviour)
                yield replace(mutant, answers=changed)


# ── Parts ────────────────────────────────────────────────────────────────────────────────────


def _one(operator: str, words: str, answer: Answer) -> Mutant:
    return Mutant(operator=operator, words=words, answers=(answer,), wrong=answer.cell)


def _several(
    operator: str, words: str, changed: list[Answer], recording: Recording
) -> Iterator[Mutant]:
    """Yield one mutant; its `wrong` cell is one that gives more than before, if there is one."""
    if changed:
        gains = [
            answer for answer in changed if _size(answer) > _size(recording.answers[answer.cell])
        ]
        wrong = (gains or changed)[0].cell
        yield Mutant(operator=operator, words=words, answers=tuple(changed), wrong=wrong)


def _size(answer: Answer) -> int:
    return 0 if answer.good is None else 1 + len(answer.good.leaves)


def _fullest(answers: Iterable[Answer]) -> Answer | None:
    good = [answer for answer in answers if answer.good is not None]
    return max(good, key=_size, default=None)


def _differ(own: Answer, other: Answer) -> bool:
    """Whether the answers to two callers differ."""
    if own.result is None or other.result is None:
        return own.result is not other.result
    mine, theirs = own.result.call, other.result.call
    return (mine.outcome, mine.text) != (theirs.outcome, theirs.text) or (
        mine.structured != theirs.structured
    )


def _refusal(own: Answer, recording: Recording) -> ToolCall:
    """Return a refusal of ``own``'s call, worded like a recorded refusal if there is one."""
    assert own.result is not None
    refused = [
        answer.result.call
        for answer in recording.answers.values()
        if answer.result is not None and answer.result.call.outcome == "denied"
    ]
    same = [call for call in refused if call.tool == own.tool]
    words = (same or refused)[:1]
    call = replace(own.result.call, outcome="denied", structured=None, beside=())
    if words:
        text, code, shape = words[0].text, words[0].error_code, words[0].refusal
        return replace(call, text=text, error_code=code, refusal=shape)
    return replace(call, text=_REFUSAL, refusal="tool_error")


def _filtered(recording: Recording) -> Iterator[tuple[Answer, Result, Result]]:
    """Yield successful answers, each with the most complete answer to the same call."""
    for answers in recording.of_call().values():
        full = _fullest(answers)
        for own in answers:
            if full is None or full.good is None or own.good is None:
                continue
            if _differ(own, full):
                yield own, own.good, full.good


def _opened(recording: Recording, operator: str, how: str, words: str) -> Iterator[Mutant]:
    for own, result, full in _filtered(recording):
        of_name: dict[str, set[str]] = {}
        for path, kept in withheld(result, full).items():
            if kept == how:
                of_name.setdefault(path.rpartition(".")[2], set()).add(path)
        for name, paths in of_name.items():
            fault = f"{own.call} as {own.caller}: {name} {words}"
            yield _one(operator, fault, own.answered(with_fields(result, full, paths)))


def _smuggled(
    recording: Recording, operator: str, name: str, written: Callable[[str], str]
) -> Iterator[Mutant]:
    for own, result, full in _filtered(recording):
        kept_back = [difference.leaf for difference in differences(full, result)]
        if (leaf := most_telling(kept_back, recording.seen_by(own.caller))) is not None:
            call = with_value(result, name, written(str(leaf.value)))
            words = f"{own.call} as {own.caller}: the value of {leaf.path} stands under {name!r}"
            if operator == "encode":
                words += " in base64"
            yield _one(operator, words, own.answered(call))
