"""The result of the study improve, as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.base import money
from harness.descriptions.workbench.improving.acceptance import (
    LEVEL,
    LOOKS,
    MOST_PROPOSALS,
    Gain,
    Look,
    fewest_gains,
)
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.improving.needed import (
    questions_for_any_proof,
    questions_for_gain,
    questions_for_margin,
)
from harness.descriptions.workbench.improving.proposal import Proposal
from harness.descriptions.workbench.improving.rewrite import changes, edit_as_json, in_words
from harness.descriptions.workbench.study import Bench, Finding
from harness.types import JsonObject, Tool

VARIANTS_FILE = "improved.yml"
"""Name of the file with the better descriptions."""
PROVEN, UNPROVEN = "improved", "unproven"
"""Names of the returned variants."""


def variants(found: Improvement) -> dict[str, Proposal]:
    """Return the variants by name: the proven one, else the best unproven one."""
    if found.accepted is not None:
        return {PROVEN: found.accepted.proposal}
    draft = _draft(found)
    return {} if draft is None else {UNPROVEN: draft}


def headline(found: Improvement) -> str:
    """Return the answer in a sentence."""
    accepted = found.accepted
    if accepted is not None:
        return (
            f"Better words were found: {_points(accepted.gain)} on {accepted.gain.intents} "
            "questions that the proposals were not made from."
        )
    why = (
        (found.failing, _nothing_fails(found)),
        (found.mendable, "No failure is due to descriptions: no rewrite is proposed."),
        (found.proposals, "There is no proposal of other words for the questions that fail."),
        (found.screened, "The proposals were not tried."),
        (found.can_be_proven, "The suite is too small to prove that other words are better."),
        (found.looks, "No proposal helped the questions that it was made from."),
    )
    return next((text for given, text in why if not given), "No proposal is proven to be better.")


def lines(found: Improvement, bench: Bench) -> Iterator[str]:
    """Yield the details for a terminal."""
    for one in found.failing:
        if not one.may_be_words:
            yield f"{one.case}: no problem of a description. {one.text}"
    for look in _looks(found):
        yield f"{'kept' if look.is_kept else 'not kept'}: {_look(look)}"
    looked = {look.proposal.name for look in _looks(found)}
    for proposal, gain in found.screened:
        if proposal.name not in looked:
            yield (
                f"not kept: {proposal.name}: {_points(gain)} on the {gain.intents} questions that "
                f"it was made from{_why_not(found, gain)}"
            )
    for name, proposal in variants(found).items():
        yield f"The variant {name} ({proposal.name}):"
        for change in changes(proposal, bench.tools):
            yield from (f"  {line}" for line in in_words(change))
    if found.failing and found.accepted is None:
        yield from needed(found, bench.options.margin)


def findings(found: Improvement) -> Iterator[Finding]:
    """Yield the main findings."""
    accepted = found.accepted
    if accepted is not None:
        yield Finding(
            text=f"Other words are better by {_points(accepted.gain)}, on questions that their "
            f"author never saw: {accepted.proposal.why}",
            weight=100 * accepted.gain.difference,
        )
    for name, draft in variants(found).items():
        gain = found.screening_of(draft)
        if name == UNPROVEN and gain is not None:
            yield Finding(
                text=f"Other words may be better ({draft.name}: {_points(gain)} on the questions "
                f"that they were made from); this suite is too small to prove it.",
                weight=100 * gain.difference,
                certain=False,
            )
    elsewhere = [one.case for one in found.failing if not one.may_be_words]
    if elsewhere:
        yield Finding(
            text=f"{_count(len(elsewhere), 'case')} no description will mend: "
            f"{', '.join(elsewhere[:5])}{' …' if len(elsewhere) > 5 else ''}.",  # noqa: PLR2004
            weight=100 * len(elsewhere) / _intents(found),
            certain=False,
        )


def notes(found: Improvement, bench: Bench) -> Iterator[str]:
    """Yield what was left out, and limits of the results."""
    if found.written is not None:
        yield from found.written.notes
        used = found.written.usage
        yield (
            f"{found.written.model} wrote {_count(len(found.written.proposals), 'proposal')} for "
            f"{used.tokens or 0:,} tokens ({money(used.cost_usd)})."
        )
    left_out = len(found.all_proposals) - len(found.proposals)
    if left_out:
        yield f"{left_out} proposals were not tried: at most {MOST_PROPOSALS} are."
    if found.failing and found.not_judged:
        yield f"{_count(found.not_judged, 'case')} without a verdict on the server's own list."
    cases = len(bench.suite.cases)
    if _intents(found) < cases:
        yield (
            f"The {cases} cases ask {_intents(found)} different questions; those that ask nearly "
            "the same count as one."
        )
    for look in _looks(found):
        if look.is_kept and look.others == 0:
            yield f"{look.proposal.name} changes every tool: no others could be held against it."


def needed(found: Improvement, margin: float) -> Iterator[str]:
    """Yield the number of questions that a proof would need."""
    held_out = len(found.split.held_out)
    least, any_proof = fewest_gains(), questions_for_any_proof(found)
    if not found.can_be_proven and any_proof is not None:
        yield (
            f"{held_out} of {_intents(found)} questions are held out; {found.mendable_held_out} of "
            f"these fail in a way that words may mend. At least {least} must get better, and "
            f"none worse, to prove anything: with as many failures as now that takes {any_proof} "
            "questions."
        )
    best = max((gain.difference for _, gain in found.screened), default=0.0)
    if best > 0:
        yield (
            f"To prove a gain of {100 * best:.0f} points, the best that was seen, in four of five "
            f"studies takes about {questions_for_gain(best)} questions; that other tools lose less "
            f"than {100 * margin:.0f} points, about {questions_for_margin(margin)} questions for "
            "these."
        )


def facts(found: Improvement, tools: Sequence[Tool]) -> JsonObject:
    """Return everything as JSON."""
    accepted = found.accepted
    handed_back = variants(found)
    return {
        "split": {
            "intents": _intents(found),
            "seen": len(found.split.seen),
            "held_out": len(found.split.held_out),
        },
        "failing": [{**asdict(one), "may_be_words": one.may_be_words} for one in found.failing],
        "proposals": [_proposal(found, one, tools) for one in found.proposals],
        "looks": [_look_as_json(look) for look in _looks(found)],
        "looks_allowed": LOOKS,
        "level": LEVEL,
        "accepted": None if accepted is None else accepted.proposal.name,
        "variants": {
            name: {tool: edit_as_json(edit) for tool, edit in one.tools.items()}
            for name, one in handed_back.items()
        },
        "rewrite": [
            {"variant": name, "proposal": one.name, **asdict(change)}
            for name, one in handed_back.items()
            for change in changes(one, tools)
        ],
        "needed": {
            "mendable": found.mendable,
            "mendable_held_out": found.mendable_held_out,
            "fewest_gains": fewest_gains(),
            "can_be_proven": found.can_be_proven,
            "questions_for_any_proof": questions_for_any_proof(found),
        },
        "writer": None
        if found.written is None
        else {"model": found.written.model, "usage": asdict(found.written.usage)},
    }


def _nothing_fails(found: Improvement) -> str:
    if not found.not_judged:
        return "Every question passes on the server's own list: nothing to improve."
    return f"No failure is known: {found.not_judged} cases have no verdict."


def _draft(found: Improvement) -> Proposal | None:
    """Return the best proposal with an unproven gain on the seen questions."""
    if found.looks or not found.finalists:
        return None  # a proposal that was tried and not proven is not a draft
    first = found.finalists[0]
    return Proposal(
        name=first.name,
        why=f"Not proven: it was tried only on the questions that it was made from. {first.why}",
        tools=first.tools,
        by=first.by,
    )


def _looks(found: Improvement) -> list[Look]:
    return [*found.looks, *([] if found.last_look is None else [found.last_look])]


def _proposal(found: Improvement, proposal: Proposal, tools: Sequence[Tool]) -> JsonObject:
    gain = found.screening_of(proposal)
    return {
        "name": proposal.name,
        "why": proposal.why,
        "by": proposal.by,
        "changes": [asdict(change) for change in changes(proposal, tools)],
        "on_seen": None if gain is None else _gain_as_json(gain),
    }


def _look_as_json(look: Look) -> JsonObject:
    return {
        "name": look.proposal.name,
        "by": look.proposal.by,
        "on_held_out": _gain_as_json(look.gain),
        "others": look.others,
        "others_interval": look.others_interval,
        "harmed": list(look.harmed),
        "kept": look.is_kept,
        "refused": look.refused,
    }


def _gain_as_json(gain: Gain) -> JsonObject:
    return {**asdict(gain), "difference": gain.difference}


def _look(look: Look) -> str:
    told = f"{look.proposal.name}: {_points(look.gain)} on {look.gain.intents} held-out questions"
    return told if look.refused is None else f"{look.proposal.name}: {look.refused}"


def _why_not(found: Improvement, gain: Gain) -> str:
    if gain.difference <= 0:
        return ""
    return "; others did better" if found.looks else "; not tried on the held-out questions"


def _points(gain: Gain) -> str:
    low, high = gain.interval
    return (
        f"{100 * gain.difference:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f} at "
        f"{100 * (1 - gain.level):.4g} %)"
    )


def _intents(found: Improvement) -> int:
    return len(found.split.seen) + len(found.split.held_out)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
