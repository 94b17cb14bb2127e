"""Accepted proposals: none if words have no effect, and the helpful ones if they have."""

from __future__ import annotations

import random
from typing import cast

import pytest

from harness.base.stats.intervals import wilson_interval
from harness.descriptions.workbench.arms import CLEAN, Arm, iterate_tool_parts, remove_part
from harness.descriptions.workbench.improving.acceptance import (
    case_names,
    questions_for_gain,
    split_intents,
)
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.improving.report import write_headline
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.judging import wanted_tool
from harness.types import Case, Variant
from tests.descriptions.workbench.improving.simulated import (
    TOOLS,
    Chance,
    Simulated,
    improved,
    made_up_words,
    on_bench,
)

RATES = (0.3, 0.5, 0.7, 0.9)


def words_change_nothing(rate: float, spread: float) -> Chance:
    """Each case has a chance of its own around ``rate``, whatever the model is shown."""

    def chance(case: Case, _variant: Variant | None) -> float:
        drawn = random.Random(f"{case.name} {rate}").uniform(-spread, spread)
        return min(1.0, max(0.0, rate + drawn))

    return chance


def helps(variant: Variant | None, tool: str) -> bool:
    """Whether the model is shown an enum for the state of ``tool``."""
    edit = None if variant is None else variant.tools.get(tool)
    change = None if edit is None else edit.parameters.get("state")
    return change is not None and bool(change.enum)


@pytest.mark.slow
def test_of_twenty_suites_in_which_words_change_nothing_at_most_one_is_improved() -> None:
    kept = [
        improved(100, words_change_nothing(RATES[seed % 4], 0.2), seed).accepted_result is not None
        for seed in range(20)
    ]
    assert sum(kept) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("trials", "spread"), [(1, 0.0), (1, 0.3), (3, 0.3)])
def test_false_improvements_stay_within_the_error_that_was_allowed(
    trials: int, spread: float
) -> None:
    studies = 400
    kept = sum(
        improved(
            100, words_change_nothing(RATES[seed % 4], spread), seed, trials, margin=1.0
        ).accepted_result
        is not None
        for seed in range(studies)
    )
    interval = wilson_interval(kept, studies)
    assert interval is not None
    assert interval[1] <= 0.05, f"{kept} of {studies}"


def planted(seed: int = 0) -> Chance:
    """Questions for two of the four tools: six in ten need an enum; all others always pass."""

    def chance(case: Case, variant: Variant | None) -> float:
        needs = random.Random(f"{case.name} {seed}").random() < 0.6
        tool = wanted_tool(case) or ""
        hinted = variant is not None and case.name in variant.prompts
        two = {"list_invoices", "list_parcels"}
        return float(tool not in two or not needs or hinted or helps(variant, tool))

    return chance


@pytest.mark.slow
def test_a_planted_improvement_is_found_in_four_of_five_suites_of_the_planned_size() -> None:
    studies, cases = 200, questions_for_gain(0.3)
    found = [
        improved(cases, planted(seed), seed, margin=0.3).accepted_result for seed in range(studies)
    ]
    kept = [look for look in found if look is not None]
    assert len(kept) >= 0.8 * studies, f"{len(kept)} of {studies}"
    assert all(helps(look.proposal.variant, "list_invoices") for look in kept)


def test_a_gain_that_costs_another_tool_is_not_kept() -> None:
    def chance(case: Case, variant: Variant | None) -> float:
        tool = wanted_tool(case) or ""
        if tool != "list_refunds":
            return float(variant is not None and (bool(variant.prompts) or helps(variant, tool)))
        return float(variant is None or not any(helps(variant, one) for one in variant.tools))

    found = improved(160, chance, 1)
    [look] = [one for one in found.held_out_results if one.proposal.name == "choices as enum"]
    assert look.gain.is_significant
    assert look.refused is not None
    assert "list_refunds" in look.refused
    assert found.accepted_result is None


def test_a_suite_of_twenty_cases_takes_no_look_and_says_how_many_it_takes() -> None:
    found = improved(20, planted(), 3)
    assert found.mendable_held_out < 8
    assert not found.can_be_proven
    assert found.held_out_results == ()
    assert found.accepted_result is None


def test_failures_that_a_hint_does_not_mend_are_never_worked_on() -> None:
    def chance(case: Case, _variant: Variant | None) -> float:
        return float(wanted_tool(case) != "list_invoices")

    found = improved(60, chance, 1)
    assert {one.cause for one in found.known_failures} <= {"model", "server or check"}
    assert len(found.known_failures) == 15
    assert found.proposer_input.failures == ()
    assert found.proposals == ()


@pytest.mark.parametrize("seed", range(5))
def test_proposals_never_say_a_word_of_a_held_out_question(seed: int) -> None:
    found = improved(80, planted(), seed)
    held_out = {name for intent in found.split.held_out for name in intent.cases}
    words = made_up_words(3 * 80)
    theirs = {
        word for name in held_out for word in words[3 * int(name[5:]) : 3 * int(name[5:]) + 3]
    }
    said = repr([one.tools for one in found.all_proposals])
    assert found.all_proposals
    assert any(word in said for word in words), "a proposal uses words of seen questions"
    assert not [word for word in theirs if word in said]


def test_weights_of_parts_are_those_of_the_seen_questions_alone() -> None:
    one = on_bench(80, seed=2)
    parts = split_intents(one.suite.cases, 2)
    held_out = case_names(parts.held_out)
    sentence = next(part for part in iterate_tool_parts(TOOLS) if part.kind == "sentence")
    blanked = remove_part(sentence, TOOLS)

    def only_held_out_questions_need_it(case: Case, variant: Variant | None) -> float:
        return float(variant is None or case.name not in held_out)

    drawn = Simulated(one, only_held_out_questions_need_it, 2)
    drawn.run(CLEAN)
    drawn.run(Arm(variant=blanked))
    assert drawn.count_trials(blanked) != drawn.count_trials()
    known = Improvement(one, cast("ModelMeasurements", drawn)).proposer_input
    assert known.effects == ((sentence, 0.0),)


def test_a_suite_of_which_nothing_was_judged_is_not_called_perfect() -> None:
    one = on_bench(10, seed=2)
    nothing = Simulated(one, planted(), 2)
    assert "10 cases have no verdict" in write_headline(
        Improvement(one, cast("ModelMeasurements", nothing))
    )
    nothing.run(Arm(variant=None))
    everything = Improvement(one, cast("ModelMeasurements", nothing))
    assert "verdict" not in write_headline(everything)
