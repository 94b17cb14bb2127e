"""The mutation operators: each plants one kind of fault into the recorded answers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from operator import attrgetter
from typing import TypeAlias

from harness.judging import Result, compare_results
from harness.probing.mutants.recording import (
    AnswerRecording,
    CallAnswer,
    Cell,
    add_fields,
    add_row,
    add_value,
    find_most_distinctive,
    find_withheld,
)
from harness.types import ToolCall, ToolList, dataclass

# For a server that never refuses, so that no answer shows how it says so.
_REFUSAL = "Access denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerMutant:
    """The answers of a server with one fault."""

    operator: str
    """The kind of fault; a key of `OPERATORS`."""
    words: str
    """The fault on one line."""
    answers: tuple[CallAnswer, ...]
    """The changed answers."""
    wrong: Cell
    """The caller and call where the server gives too much, or too little."""
    hides: str | None = None
    """The tool that the fault lists although it is hidden."""


Operator: TypeAlias = Callable[[AnswerRecording], Iterator[ServerMutant]]


def grant_access(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A refused caller gets the answer that somebody else got."""
    for own, full, result in _pair_with_fullest(recording):
        if own.is_refused:
            words = f"{own.call} as {own.caller}: answered as for {full.caller}, not refused"
            yield _build_mutant("grant", words, own.replace_result(result.call))


def refuse_access(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A caller who got an answer is refused."""
    for own in recording.answers.values():
        if own.successful_result is not None:
            words = f"{own.call} as {own.caller}: refused, not answered"
            yield _build_mutant("refuse", words, own.replace_result(_build_refusal(own, recording)))


def widen_fields(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A field that is left out is included."""
    yield from _open_fields(recording, "widen", "left out", "is there, not left out")


def unmask_fields(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A field that is masked can be read."""
    yield from _open_fields(recording, "unmask", "masked", "can be read, not masked")


def forget_record(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """One record of a list is not filtered or not left out."""
    for own, result, full in _iterate_filtered(recording):
        paths = {path for path in find_withheld(result, full) if "[]" in path}
        if paths:
            words = f"{own.call} as {own.caller}: one record is not filtered"
            call = add_fields(result, full, paths, first_only=True)
            yield _build_mutant("forget_record", words, own.replace_result(call))
        words = f"{own.call} as {own.caller}: one record more"
        yield _build_mutant("forget_record", words, own.replace_result(add_row(result, full)))


def alias_values(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A withheld value is included under another name."""
    yield from _smuggle_values(recording, "alias", "remark", str)


def encode_values(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A withheld value is included in base64 under another name."""
    yield from _smuggle_values(
        recording, "encode", "cursor", lambda text: base64.b64encode(text.encode()).decode()
    )


def quote_values(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """The text of a refusal contains the withheld value."""
    for own, _, full in _pair_with_fullest(recording):
        if own.result is None or not own.is_refused:
            continue
        known = recording.collect_seen_values(own.caller)
        if (leaf := find_most_distinctive(full.leaves, known)) is not None:
            what = leaf.path or "the answer"
            words = f"{own.call} as {own.caller}: the refusal quotes {what}"
            call = replace(own.result.call, text=f"{own.result.call.text} ({leaf.value})")
            yield _build_mutant("quote", words, own.replace_result(call))


def cache_answers(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """Everybody gets the answer that was made for one caller."""
    for call, answers in recording.group_by_call().items():
        # Callers with equal answers would make equal mutants.
        kinds = {answer.visible_content: answer for answer in answers}
        for first in kinds.values():
            changed = [own.impersonate(first) for own in answers if _answers_differ(own, first)]
            words = f"{call}: everybody gets the answer of {first.caller}"
            yield from _build_joint_mutant("cache", words, changed, recording)


def return_previous(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """Each caller gets the previous caller's answer."""
    for call, answers in recording.group_by_call().items():
        pairs = zip([*answers[-1:], *answers[:-1]], answers, strict=True)
        changed = [own.impersonate(before) for before, own in pairs if _answers_differ(own, before)]
        words = f"{call}: each caller gets the answer of the caller before"
        yield from _build_joint_mutant("previous", words, changed, recording)


def swap_callers(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """Two callers are swapped in every call."""
    of_caller = recording.group_by_caller()
    for one, other in combinations(of_caller, 2):
        twins = [
            (own, recording.answers[other, own.call])
            for own in of_caller[one]
            if (other, own.call) in recording.answers
        ]
        changed = [
            mixed
            for own, twin in twins
            if _answers_differ(own, twin)
            for mixed in (own.impersonate(twin), twin.impersonate(own))
        ]
        words = f"{one} and {other} are taken for one another"
        yield from _build_joint_mutant("swap", words, changed, recording)


def show_hidden(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """A hidden tool is listed."""
    for caller, answers in recording.group_by_caller().items():
        offered = {tool.name for tool in answers[0].tools.tools}
        if not offered:
            continue  # who was refused a session has no list
        for name, tool in recording.tools.items():
            if name not in offered:
                longer = ToolList(tools=(*answers[0].tools.tools, tool))
                yield ServerMutant(
                    operator="show_hidden",
                    words=f"{name} is in the list of {caller}, not hidden",
                    answers=tuple(answer.replace_tools(longer) for answer in answers),
                    wrong=answers[0].cell,
                    hides=name,
                )


OPERATORS: Mapping[str, Operator] = {
    operator.__name__: operator
    for operator in (
        grant_access,
        refuse_access,
        widen_fields,
        unmask_fields,
        forget_record,
        alias_values,
        encode_values,
        quote_values,
        cache_answers,
        return_previous,
        swap_callers,
        show_hidden,
    )
}
"""Every operator, by its name."""


def generate_mutants(recording: AnswerRecording) -> Iterator[ServerMutant]:
    """Yield every mutant that differs from the recorded answers and from earlier mutants."""
    known: set[object] = set()
    for operator in OPERATORS.values():
        for mutant in operator(recording):
            changed = tuple(
                one
                for one in mutant.answers
                if one.visible_content != recording.answers[one.cell].visible_content
            )
            behaviour = frozenset((one.cell, one.visible_content) for one in changed)
            if changed and behaviour not in known:
                known.add(behaviour)
                yield replace(mutant, answers=changed)


# ── Parts ────────────────────────────────────────────────────────────────────────────────────


def _build_mutant(operator: str, words: str, answer: CallAnswer) -> ServerMutant:
    return ServerMutant(operator=operator, words=words, answers=(answer,), wrong=answer.cell)


def _build_joint_mutant(
    operator: str, words: str, changed: list[CallAnswer], recording: AnswerRecording
) -> Iterator[ServerMutant]:
    """Yield one mutant; its `wrong` cell is one that gives more than before, if there is one."""
    # A gain is what a suite should notice, so the missing line is looked for there.
    if changed:
        before = recording.answers
        gains = [one for one in changed if _measure_size(one) > _measure_size(before[one.cell])]
        wrong = (gains or changed)[0].cell
        yield ServerMutant(operator=operator, words=words, answers=tuple(changed), wrong=wrong)


def _measure_size(answer: CallAnswer) -> int:
    # An empty answer is still more than a refusal.
    return 0 if answer.successful_result is None else 1 + len(answer.successful_result.leaves)


def _pair_with_fullest(
    recording: AnswerRecording,
) -> Iterator[tuple[CallAnswer, CallAnswer, Result]]:
    """Yield each answer, the most complete one to the same call, and the result of that."""
    for answers in recording.group_by_call().values():
        full = max(answers, key=_measure_size)
        if full.successful_result is not None:
            yield from ((own, full, full.successful_result) for own in answers)


def _answers_differ(own: CallAnswer, other: CallAnswer) -> bool:
    """Whether the answers to two callers differ."""
    if own.result is None or other.result is None:
        # Both are missing if both sessions were refused.
        return own.result is not other.result
    mine, theirs = own.result.call, other.result.call
    told = attrgetter("outcome", "text", "structured")
    return bool(told(mine) != told(theirs))


def _build_refusal(own: CallAnswer, recording: AnswerRecording) -> ToolCall:
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


def _iterate_filtered(recording: AnswerRecording) -> Iterator[tuple[CallAnswer, Result, Result]]:
    """Yield successful answers, each with the most complete answer to the same call."""
    for own, full, result in _pair_with_fullest(recording):
        if own.successful_result is not None and _answers_differ(own, full):
            yield own, own.successful_result, result


def _open_fields(
    recording: AnswerRecording, operator: str, how: str, words: str
) -> Iterator[ServerMutant]:
    for own, result, full in _iterate_filtered(recording):
        of_name: dict[str, set[str]] = {}
        for path, kept in find_withheld(result, full).items():
            if kept == how:
                of_name.setdefault(path.rpartition(".")[2], set()).add(path)
        # One fault for each name, since a rule is about a field wherever it stands.
        for name, paths in of_name.items():
            fault = f"{own.call} as {own.caller}: {name} {words}"
            call = add_fields(result, full, paths)
            yield _build_mutant(operator, fault, own.replace_result(call))


def _smuggle_values(
    recording: AnswerRecording, operator: str, name: str, written: Callable[[str], str]
) -> Iterator[ServerMutant]:
    for own, result, full in _iterate_filtered(recording):
        kept_back = [difference.leaf for difference in compare_results(full, result)]
        known = recording.collect_seen_values(own.caller)
        if (leaf := find_most_distinctive(kept_back, known)) is not None:
            call = add_value(result, name, written(str(leaf.value)))
            words = f"{own.call} as {own.caller}: the value of {leaf.path} stands under {name!r}"
            if operator == "encode":
                words += " in base64"
            yield _build_mutant(operator, words, own.replace_result(call))
