"""The result of the study improve: as sentences, as JSON, as changes, and as a file of variants."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.base import format_money
from harness.descriptions.drafting.render import dump_yaml
from harness.descriptions.workbench.analysis.effects import count_of
from harness.descriptions.workbench.arms import parameter_schemas
from harness.descriptions.workbench.improving.acceptance import (
    LEVEL,
    LOOKS,
    MOST_PROPOSALS,
    Gain,
    fewest_gains,
    questions_for_gain,
    questions_for_margin,
)
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.improving.proposal import Proposal
from harness.descriptions.workbench.study import Finding, StudyContext
from harness.runner import split_sentences
from harness.types import JsonObject, ParameterEdit, Tool, ToolEdit, dataclass


@dataclass(frozen=True, slots=True)
class TextChange:
    """One changed part of a tool's words; values of an enum and the like are JSON."""

    tool: str
    """The server's name of the tool."""
    parameter: str | None
    """The parameter, if the change is in one."""
    part: str
    """``name``, ``title``, ``description``, ``enum``, ``examples`` or ``default``."""
    before: str
    """The server's text; empty if there is none."""
    after: str
    """The new text; empty if there is none."""

    @property
    def part_name(self) -> str:
        """The location: ``search_orders, description of status``."""
        of = "" if self.parameter is None else f" of {self.parameter}"
        return f"{self.tool}, {self.part}{of}"


def iterate_changes(proposal: Proposal, tools: Sequence[Tool]) -> Iterator[TextChange]:
    """Yield every part that ``proposal`` changes, in the order of the list."""
    for tool in tools:
        edit = proposal.tools.get(tool.name)
        if edit is not None:
            yield from _tool_changes(tool, edit)


def format_diff(change: TextChange) -> Iterator[str]:
    """Yield the lines of a readable diff: removals and additions."""
    yield change.part_name
    if change.part != "description":
        yield f"  - {change.before or '(nothing)'}"
        yield f"  + {change.after or '(nothing)'}"
        return
    before, after = split_sentences(change.before), split_sentences(change.after)
    # If only the order has changed, leaving out equal sentences would leave nothing.
    moved = set(before) == set(after)
    yield from (f"  - {text}" for text in before if moved or text not in after)
    yield from (f"  + {text}" for text in after if moved or text not in before)


def variants_yaml(named: Mapping[str, Proposal]) -> str:
    """Return the text of a file of variants: name of the variant → its proposal."""
    variants = {
        name: {"description": one.why, "tools": tools_json(one)} for name, one in named.items()
    }
    return dump_yaml({"variants": variants})


def tools_json(proposal: Proposal) -> JsonObject:
    """Return the changes of ``proposal`` in the form of a file of variants."""
    return {tool: _edit_json(edit) for tool, edit in proposal.tools.items()}


def _edit_json(edit: ToolEdit) -> JsonObject:
    parameters = {
        name: None if change is None else _parameter_json(change)
        for name, change in edit.parameters.items()
    }
    written = {
        "name": edit.name,
        "title": edit.title,
        "description": edit.description,
        "without_sentences": list(edit.without_sentences) or None,
        "parameters": parameters or None,
    }
    return {key: value for key, value in written.items() if value is not None}


def _parameter_json(change: ParameterEdit) -> JsonObject:
    written = {
        name: list(value) if isinstance(value, tuple) else value
        for name in ("name", "description", "enum", "examples")
        if (value := getattr(change, name)) is not None
    }
    # In a tuple, since null is a default as well.
    if change.default is not None:
        written["default"] = change.default[0] if change.default else None
    return written


def _tool_changes(tool: Tool, edit: ToolEdit) -> Iterator[TextChange]:
    own = {"name": tool.name, "title": tool.title or "", "description": tool.description}
    changes: list[tuple[str | None, str, Any, Any]] = [
        (None, part, before, after)
        for part, before in own.items()
        if (after := getattr(edit, part)) is not None
    ]
    for name, change in edit.parameters.items():
        schema = parameter_schemas(tool).get(name)
        if change is not None and isinstance(schema, Mapping):
            known = {**schema, "name": name}
            changes += [
                (name, part, known.get(part), after)
                for part, after in _parameter_json(change).items()
            ]
    for parameter, part, before, after in changes:
        if after != before:
            texts = _format_value(before), _format_value(after)
            yield TextChange(tool.name, parameter, part, *texts)


def _format_value(value: Any) -> str:
    if value is None or value == []:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


VARIANTS_FILE = "improved.yml"
"""Name of the file with the better descriptions."""
PROVEN, UNPROVEN = "improved", "unproven"
"""Names of the returned variants."""


def collect_variants(found: Improvement) -> dict[str, Proposal]:
    """Return the variants by name: the proven one, else the best unproven one."""
    if found.accepted_result is not None:
        return {PROVEN: found.accepted_result.proposal}
    # A proposal that was tried and not proven is not a draft.
    if found.held_out_results or not found.finalists:
        return {}
    first = found.finalists[0]
    why = f"Not proven: it was tried only on the questions that it was made from. {first.why}"
    return {UNPROVEN: replace(first, why=why)}


def write_headline(found: Improvement) -> str:
    """Return the answer in a sentence."""
    accepted = found.accepted_result
    if accepted is not None:
        return (
            f"Better words were found: {_format_points(accepted.gain)} on {accepted.gain.intents} "
            "questions that the proposals were not made from."
        )
    no_failure = "Every question passes on the server's own list: nothing to improve."
    if found.unjudged_count:
        no_failure = f"No failure is known: {found.unjudged_count} cases have no verdict."
    # The first step that came to nothing is the reason.
    why = (
        (found.known_failures, no_failure),
        (found.mendable, "No failure is due to descriptions: no rewrite is proposed."),
        (found.proposals, "There is no proposal of other words for the questions that fail."),
        (found.screened_proposals, "The proposals were not tried."),
        (found.can_be_proven, "The suite is too small to prove that other words are better."),
        (found.held_out_results, "No proposal helped the questions that it was made from."),
    )
    return next((text for given, text in why if not given), "No proposal is proven to be better.")


def format_lines(found: Improvement, bench: StudyContext) -> Iterator[str]:
    """Yield the details for a terminal."""
    for failure in found.known_failures:
        if not failure.may_be_words:
            yield f"{failure.case}: no problem of a description. {failure.text}"
    for look in found.all_results:
        gained = f"{_format_points(look.gain)} on {look.gain.intents} held-out questions"
        kept = "kept" if look.is_kept else "not kept"
        yield f"{kept}: {look.proposal.name}: {look.refused or gained}"
    looked = {look.proposal.name for look in found.all_results}
    tried = "others did better" if found.held_out_results else "not tried on the held-out questions"
    for proposal, gain in found.screened_proposals:
        if proposal.name not in looked:
            why = f"; {tried}" if gain.difference > 0 else ""
            yield (
                f"not kept: {proposal.name}: {_format_points(gain)} on the {gain.intents} "
                f"questions that it was made from{why}"
            )
    for name, proposal in collect_variants(found).items():
        yield f"The variant {name} ({proposal.name}):"
        for change in iterate_changes(proposal, bench.tools):
            yield from (f"  {line}" for line in format_diff(change))
    if found.known_failures and found.accepted_result is None:
        yield from format_requirements(found, bench.options.margin)


def build_findings(found: Improvement) -> Iterator[Finding]:
    """Yield the main findings."""
    accepted = found.accepted_result
    if accepted is not None:
        yield Finding(
            text=f"Other words are better by {_format_points(accepted.gain)}, on questions that "
            f"their author never saw: {accepted.proposal.why}",
            weight=100 * accepted.gain.difference,
        )
    for name, draft in collect_variants(found).items():
        gain = found.screening_gain(draft)
        if name == UNPROVEN and gain is not None:
            yield Finding(
                text=f"Other words may be better ({draft.name}: {_format_points(gain)} on the "
                "questions that they were made from); this suite is too small to prove it.",
                weight=100 * gain.difference,
                certain=False,
            )
    elsewhere = [failure.case for failure in found.known_failures if not failure.may_be_words]
    if elsewhere:
        yield Finding(
            text=f"{count_of(len(elsewhere), 'case')} no description will mend: "
            f"{', '.join(elsewhere[:5])}{' …' if len(elsewhere) > 5 else ''}.",  # noqa: PLR2004
            weight=100 * len(elsewhere) / found.split.size,
            certain=False,
        )


def build_notes(found: Improvement, bench: StudyContext) -> Iterator[str]:
    """Yield what was left out, and limits of the results."""
    if (written := found.writer_proposals) is not None:
        yield from written.notes
        yield (
            f"{written.model} wrote {count_of(len(written.proposals), 'proposal')} for "
            f"{written.usage.tokens or 0:,} tokens ({format_money(written.usage.cost_usd)})."
        )
    if left_out := len(found.all_proposals) - len(found.proposals):
        yield f"{left_out} proposals were not tried: at most {MOST_PROPOSALS} are."
    if found.known_failures and found.unjudged_count:
        yield (
            f"{count_of(found.unjudged_count, 'case')} without a verdict on the server's own list."
        )
    cases = len(bench.suite.cases)
    if found.split.size < cases:
        yield (
            f"The {cases} cases ask {found.split.size} different questions; those that ask "
            "nearly the same count as one."
        )
    for look in found.all_results:
        if look.is_kept and look.others == 0:
            yield f"{look.proposal.name} changes every tool: no others could be held against it."


def format_requirements(found: Improvement, margin: float) -> Iterator[str]:
    """Yield the number of questions that a proof would need."""
    held_out = len(found.split.held_out)
    any_proof = found.questions_for_proof
    if not found.can_be_proven and any_proof is not None:
        yield (
            f"{held_out} of {found.split.size} questions are held out; "
            f"{found.mendable_held_out} of these fail in a way that words may mend. At least "
            f"{fewest_gains()} must get better, and none worse, to prove anything: with as many "
            f"failures as now that takes {any_proof} questions."
        )
    best = max((gain.difference for _, gain in found.screened_proposals), default=0.0)
    if best > 0:
        yield (
            f"To prove a gain of {100 * best:.0f} points, the best that was seen, in four of five "
            f"studies takes about {questions_for_gain(best)} questions; that other tools lose less "
            f"than {100 * margin:.0f} points, about {questions_for_margin(margin)} questions for "
            "these."
        )


def build_facts(found: Improvement, tools: Sequence[Tool]) -> JsonObject:
    """Return everything as JSON."""
    accepted, written = found.accepted_result, found.writer_proposals
    handed_back = collect_variants(found)
    return {
        "split": {
            "intents": found.split.size,
            "seen": len(found.split.seen),
            "held_out": len(found.split.held_out),
        },
        "failing": [
            {**asdict(failure), "may_be_words": failure.may_be_words}
            for failure in found.known_failures
        ],
        "proposals": [
            {
                "name": one.name,
                "why": one.why,
                "by": one.by,
                "changes": [asdict(change) for change in iterate_changes(one, tools)],
                "on_seen": _gain_json(found.screening_gain(one)),
            }
            for one in found.proposals
        ],
        "looks": [
            {
                "name": look.proposal.name,
                "by": look.proposal.by,
                "on_held_out": _gain_json(look.gain),
                "others": look.others,
                "others_interval": look.others_interval,
                "harmed": list(look.harmed),
                "kept": look.is_kept,
                "refused": look.refused,
            }
            for look in found.all_results
        ],
        "looks_allowed": LOOKS,
        "level": LEVEL,
        "accepted": None if accepted is None else accepted.proposal.name,
        "variants": {name: tools_json(one) for name, one in handed_back.items()},
        "rewrite": [
            {"variant": name, "proposal": one.name, **asdict(change)}
            for name, one in handed_back.items()
            for change in iterate_changes(one, tools)
        ],
        "needed": {
            "mendable": found.mendable,
            "mendable_held_out": found.mendable_held_out,
            "fewest_gains": fewest_gains(),
            "can_be_proven": found.can_be_proven,
            "questions_for_any_proof": found.questions_for_proof,
        },
        "writer": written and {"model": written.model, "usage": asdict(written.usage)},
    }


def _gain_json(gain: Gain | None) -> JsonObject | None:
    return None if gain is None else {**asdict(gain), "difference": gain.difference}


def _format_points(gain: Gain) -> str:
    low, high = gain.interval
    return (
        f"{100 * gain.difference:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f} at "
        f"{100 * (1 - gain.level):.4g} %)"
    )
